"""Batch jobs: how many pods, which of them belong to the job, and what a template may say.

From `ValidateJob` and `validateJobSpec` of `pkg/apis/batch/validation/validation.go`, `pkg/apis/batch/v1/defaults.go`,
and `generateSelector` of `pkg/registry/batch/job/strategy.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.validate.forms import at_least, between, dns_label, domain_path, one_of
from gen.validate.rule import server
from gen.validate.rules.pods import restart_policy
from gen.validate.selectors import selector, selects
from gen.validate.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.tables import Faults
    from gen.validate.view import View

_JOB = Table(
    {
        **dict.fromkeys(("parallelism", "completions", "backoffLimit", "backoffLimitPerIndex"), at_least(0)),
        **dict.fromkeys(("maxFailedIndexes", "activeDeadlineSeconds", "ttlSecondsAfterFinished"), at_least(0)),
        "completionMode": one_of("NonIndexed", "Indexed"),
        "podReplacementPolicy": one_of("TerminatingOrFailed", "Failed"),
        "managedBy": domain_path,
    }
)
_MOST_INDICES = 100_000
_MOST_OF_MANY = 10_000
"""Pods at once, and failed indices, of a job with more completions than that and a limit per index."""

_NAME_LABELS = ("batch.kubernetes.io/job-name", "job-name")
_UID_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
_UID = "\0"
"""Stands for what the server will give the job."""


def job_specs(view: View) -> Iterator[tuple[Route, Body]]:
    """The `spec` of a job, or of the one that a cron job makes."""
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
    remedy="Set `restartPolicy` to `Never` or `OnFailure`; fields per index need `completionMode: Indexed`.",
)
def jobs(view: View) -> Faults:
    """Completions, indices, restart policies and selectors of batch jobs go together."""
    for route, spec in job_specs(view):
        if not view.templates:
            yield (*route, "template"), "has no containers"
            return
        yield from _JOB.faults(spec, route)
        yield from _indices(spec, route)
        yield from _template(spec, route)
        if view.kind == "Job":
            name = view.metadata.get("name", "")
            yield from _selection(spec, name, route)
            completions = spec.get("completions") or 0
            if name and spec.get("completionMode") == "Indexed" and completions > 0:
                fault = dns_label(f"{name}-{completions - 1}")
                if fault is not None:
                    yield (*route, "completions"), f"the name of the last pod: {fault}"


def _indices(spec: Body, route: Route) -> Faults:
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        yield (*route, "maxFailedIndexes"), "needs `backoffLimitPerIndex` beside it"
    completions = spec.get("completions", None if "parallelism" in spec else 1)
    if spec.get("completionMode") != "Indexed":
        for field in ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"):
            if field in spec:
                yield (*route, field), "needs `completionMode: Indexed`"
    elif completions is None:
        yield (*route, "completionMode"), "`Indexed` needs `completions`"
    else:
        many = completions > _MOST_INDICES and "backoffLimitPerIndex" in spec
        most = _MOST_OF_MANY if many else _MOST_INDICES
        limits = {"parallelism": most, "maxFailedIndexes": min(completions, most)}
        yield from Table({field: between(0, limit) for field, limit in limits.items()}).faults(spec, route)
        if many and "maxFailedIndexes" not in spec:
            yield (*route, "backoffLimitPerIndex"), f"with over {_MOST_INDICES} completions needs `maxFailedIndexes`"


def _template(spec: Body, route: Route) -> Faults:
    policy = restart_policy(spec["template"]["spec"])
    allowed = ("Never",) if "podFailurePolicy" in spec else ("Never", "OnFailure")
    if policy not in allowed:
        words = " or ".join(f"`{word}`" for word in allowed)
        reason = " with a `podFailurePolicy`" if "podFailurePolicy" in spec else ""
        at = (*route, "template", "spec", "restartPolicy")
        yield at, f"the restart policy of a job{reason} is {words}, not `{policy}`"
    if "podFailurePolicy" in spec and spec.get("podReplacementPolicy", "Failed") != "Failed":
        yield (*route, "podReplacementPolicy"), "with a `podFailurePolicy` it is `Failed`"


def _selection(spec: Body, name: str, route: Route) -> Faults:
    at = (*route, "selector")
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    here = (*route, "template", "metadata", "labels")
    found = spec.get("selector")
    malformed = list(selector(found, at))
    yield from malformed
    if spec.get("manualSelector"):
        if found is None:
            yield (*route, "manualSelector"), "needs a `selector`"
        elif not malformed and not selects(found, labels):
            yield at, "does not select the pods of the template"
        return
    own = {**dict.fromkeys(_NAME_LABELS, name), **dict.fromkeys(_UID_LABELS, _UID)}
    for key, value in own.items():
        if labels.get(key, value) != value:
            yield (*here, key), "is set by the server"
    if found is not None and not malformed and not (selects(found, own) and selects(found, {**labels, **own})):
        yield at, "is made by the server; another one needs `manualSelector: true`"
