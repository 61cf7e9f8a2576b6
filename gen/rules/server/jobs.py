"""Batch jobs: counts of pods, selector and pod template.

From `ValidateJob` and `validateJobSpec` of `pkg/apis/batch/validation/validation.go`, `pkg/apis/batch/v1/defaults.go`,
and `generateSelector` of `pkg/registry/batch/job/strategy.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.resources.batch import JOB
from gen.resources.names import longest_suffixes
from gen.resources.selectors import selects
from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import dns_label, domain_path
from gen.rules.rule import server
from gen.rules.selectors import selector
from gen.rules.server.pods import restart_policy
from gen.rules.server.workloads import NO_CONTAINERS, not_selected
from gen.rules.value_checks import at_least, between, one_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_JOB = FieldChecks(
    {
        **dict.fromkeys(("parallelism", "completions", "backoffLimit", "backoffLimitPerIndex"), at_least(0)),
        **dict.fromkeys(("maxFailedIndexes", "activeDeadlineSeconds", "ttlSecondsAfterFinished"), at_least(0)),
        "completionMode": one_of("NonIndexed", "Indexed"),
        "podReplacementPolicy": one_of("TerminatingOrFailed", "Failed"),
        "managedBy": domain_path,
    }
)
_MAX_INDICES = 100_000
_MAX_INDICES_WITH_LIMIT_EACH = 10_000
"""Limit of parallel pods and failed indices for a job with more completions than that and a limit per index."""

_MAX_NAME_LENGTH = JOB.max_name or 0
_NAME_LABELS = ("batch.kubernetes.io/job-name", "job-name")
_UID_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
_UID = "\0"
"""Placeholder for the uid that the server sets."""


def job_specs(view: ObjectView) -> Iterator[tuple[Route, Body]]:
    """The `spec` of a job, or of the job template of a cron job."""
    if view.is_custom:
        return
    if view.kind == "Job":
        yield ("spec",), view.spec
    elif view.kind == "CronJob":
        yield ("spec", "jobTemplate", "spec"), (view.spec.get("jobTemplate") or {}).get("spec") or {}


@server(
    "jobs",
    "batch/Job",
    "batch/CronJob",
    remedy="Set `restartPolicy` to `Never` or `OnFailure`. Fields per index require `completionMode: Indexed`.",
)
def jobs(view: ObjectView) -> Faults:
    """A batch job has conflicting completions, index fields, restart policy, selector or labels."""
    for route, spec in job_specs(view):
        if not view.templates:
            yield NO_CONTAINERS.at((*route, "template"))
            return
        yield from _JOB.faults(spec, route)
        yield from _indices(spec, route, default=1 if view.kind == "Job" else None)
        yield from _template(spec, route)
        if view.kind == "Job":
            name = view.metadata.get("name", "")
            yield from _selection(spec, name, route)
            if len(name) > _MAX_NAME_LENGTH and not spec.get("manualSelector"):
                message = f"longer than {_MAX_NAME_LENGTH} characters, the limit of the label with the job name"
                yield Fault(("metadata", "name"), message, f"shorten it by {len(name) - _MAX_NAME_LENGTH}")
            for suffix in longest_suffixes(JOB, view.body) if name and spec.get("completionMode") == "Indexed" else ():
                fault = _name_of_pod(f"{name}{suffix}")
                if fault is not None:
                    yield fault.at((*route, "completions"))


def _name_of_pod(name: str) -> Fault | None:
    fault = dns_label(name)
    if fault is None:
        return None
    over = len(name) - _MAX_NAME_LENGTH
    hint = "use lower-case letters, digits and `-` in `metadata.name`, without `.`"
    hint = f"shorten `metadata.name` by {over}" if over > 0 else hint
    return Fault((), f"invalid name of the last pod: {fault.message}", hint)


def _indices(spec: Body, route: Route, default: int | None) -> Faults:
    """`default` is the number of completions that the server sets if there are no others."""
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        hint = "add `backoffLimitPerIndex`, or remove `maxFailedIndexes`"
        yield Fault((*route, "maxFailedIndexes"), "`maxFailedIndexes` requires `backoffLimitPerIndex`", hint)
    completions = spec.get("completions", None if "parallelism" in spec else default)
    if spec.get("completionMode") != "Indexed":
        for field in ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"):
            if field in spec:
                hint = f"set `completionMode: Indexed`, or remove `{field}`"
                yield Fault((*route, field), f"`{field}` requires `completionMode: Indexed`", hint)
    elif completions is None:
        hint = "add `completions` with the number of indices"
        yield Fault((*route, "completionMode"), "`Indexed` requires `completions`", hint)
    else:
        many = completions > _MAX_INDICES and "backoffLimitPerIndex" in spec
        most = _MAX_INDICES_WITH_LIMIT_EACH if many else _MAX_INDICES
        limits = {"parallelism": most, "maxFailedIndexes": min(completions, most)}
        yield from FieldChecks({field: between(0, limit) for field, limit in limits.items()}).faults(spec, route)
        if many and "maxFailedIndexes" not in spec:
            message = f"more than {_MAX_INDICES} completions require `maxFailedIndexes`"
            yield Fault((*route, "backoffLimitPerIndex"), message, f"add `maxFailedIndexes` of at most {most}")


def _template(spec: Body, route: Route) -> Faults:
    policy = restart_policy(spec["template"]["spec"])
    allowed = ("Never",) if "podFailurePolicy" in spec else ("Never", "OnFailure")
    if policy not in allowed:
        words = " or ".join(f"`{word}`" for word in allowed)
        reason = " with a `podFailurePolicy`" if "podFailurePolicy" in spec else ""
        message = f"`{policy}` is not allowed for a job{reason}; expected {words}"
        other = ", or remove `podFailurePolicy`" if policy == "OnFailure" else "" if reason else ", or `OnFailure`"
        yield Fault((*route, "template", "spec", "restartPolicy"), message, f"set `restartPolicy: Never`{other}")
    if "podFailurePolicy" in spec and spec.get("podReplacementPolicy", "Failed") != "Failed":
        hint = "set it to `Failed`, or remove `podReplacementPolicy`"
        yield Fault((*route, "podReplacementPolicy"), "must be `Failed` with a `podFailurePolicy`", hint)


def _selection(spec: Body, name: str, route: Route) -> Faults:
    at = (*route, "selector")
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    here = (*route, "template", "metadata", "labels")
    found = spec.get("selector")
    malformed = list(selector(found, at))
    yield from malformed
    if spec.get("manualSelector"):
        if found is None:
            hint = "remove `manualSelector`, or add a `selector` that matches the template's labels"
            yield Fault((*route, "manualSelector"), "`manualSelector` requires a `selector`", hint)
        elif not malformed and not selects(found, labels):
            yield not_selected(found, labels).at(at)
        return
    own = {**dict.fromkeys(_NAME_LABELS, name), **dict.fromkeys(_UID_LABELS, _UID)}
    for key, value in own.items():
        if labels.get(key, value) != value:
            yield Fault((*here, key), "this label is set by the API server", "remove the label")
    if found is not None and not malformed and not (selects(found, own) and selects(found, {**labels, **own})):
        hint = "remove `selector`, or add `manualSelector: true` to use your own labels"
        yield Fault(at, "the selector is generated by the API server", hint)
