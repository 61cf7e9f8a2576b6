"""Jobs: counts, `podFailurePolicy` and `successPolicy`.

From `validateJobSpec`, `validatePodFailurePolicy`, `validateSuccessPolicy` and `validateIndexesFormat` of
`pkg/apis/batch/validation/validation.go`, `pkg/apis/batch/v1/defaults.go`, and `generateSelector` of
`pkg/registry/batch/job/strategy.go`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gen.base import Route, regex
from gen.kubernetes.facts.builtin import JOB
from gen.kubernetes.facts.pods import longest_suffixes
from gen.kubernetes.objects import Body, selects
from gen.kubernetes.rules import Fault, Faults, ObjectView, containers, placed, server_rule, unknown_name
from gen.kubernetes.rules.field_checks import FieldChecks, selector, too_many
from gen.kubernetes.rules.server.pods import restart_policy
from gen.kubernetes.rules.server.workloads import NO_CONTAINERS, not_selected
from gen.kubernetes.rules.value_checks import at_least, between, dns_label, domain_path, if_set, one_of, qualified_name

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


@server_rule(
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
                yield from placed(_name_of_pod(f"{name}{suffix}"), (*route, "completions"))


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
        if not spec["template"]["spec"].get("restartPolicy"):
            message = f"`restartPolicy` is missing, and its default `{policy}` is not allowed for a job{reason}"
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


_FAILURE = FieldChecks(
    {
        "rules.*.action": one_of("Ignore", "Count", "FailIndex", "FailJob"),
        "rules.*.onExitCodes.operator": one_of("In", "NotIn"),
        "rules.*.onPodConditions.*.type": qualified_name,
        "rules.*.onPodConditions.*.status": if_set(one_of("True", "False", "Unknown")),
    }
)
_SUCCESS = FieldChecks({"rules.*.succeededCount": at_least(0)})
_MAX_RULES, _MAX_CONDITIONS, _MAX_CODES = 20, 20, 255
_MAX_SUGGESTED_CODES = 10
_MAX_INDICES_LENGTH = 64 << 10
_ANY_NUMBER = 10**18
_INTERVAL = regex(r"([+-]?[0-9]{1,18})(?:-([0-9]{1,18}))?")


@server_rule(
    "policies", "batch/Job", "batch/CronJob", remedy="Name an existing container, and sort exit codes and indices."
)
def policies(view: ObjectView) -> Faults:
    """A failure or success policy of a batch job refers to an unknown container, or has invalid exit codes, conditions
    or indices.
    """
    for route, spec in job_specs(view) if view.templates else ():
        for field, table, rules in (("podFailurePolicy", _FAILURE, _failures), ("successPolicy", _SUCCESS, _successes)):
            policy, at = spec.get(field), (*route, field)
            if policy is None or (field == "successPolicy" and spec.get("completionMode") != "Indexed"):
                continue
            yield from table.faults(policy, at)
            yield from too_many(policy.get("rules"), _MAX_RULES, (*at, "rules"), "rules")
            yield from rules(policy, spec, (*at, "rules"))


def _failures(policy: Body, spec: Body, route: Route) -> Faults:
    names = {container["name"] for _, container in containers(spec["template"]["spec"], ())}
    for index, rule in enumerate(policy.get("rules") or ()):
        at = (*route, index)
        if rule["action"] == "FailIndex" and "backoffLimitPerIndex" not in spec:
            hint = "use `FailJob`, or add `backoffLimitPerIndex` to the job"
            yield Fault((*at, "action"), "`FailIndex` requires `backoffLimitPerIndex`", hint)
        conditions = rule.get("onPodConditions") or []
        if ("onExitCodes" in rule) == bool(conditions):
            hint = "move one of the two to a separate rule" if conditions else "add one of the two"
            yield Fault(at, "exactly one of `onExitCodes` and `onPodConditions` is required", hint)
        if len(conditions) > _MAX_CONDITIONS:
            hint = f"move {len(conditions) - _MAX_CONDITIONS} of them to another rule with the same `action`"
            yield Fault((*at, "onPodConditions"), f"more than {_MAX_CONDITIONS} conditions", hint)
        if "onExitCodes" in rule:
            yield from _exit_codes(rule["onExitCodes"], names, (*at, "onExitCodes"))


def _exit_codes(found: Body, names: set[str], route: Route) -> Faults:
    name = found.get("containerName")
    if name is not None and name not in names:
        hint = "remove `containerName` to match all containers"
        yield unknown_name(f"no container is named `{name}`", name, names, hint).at((*route, "containerName"))
    codes = found["values"]
    if not 0 < len(codes) <= _MAX_CODES:
        hint = f"remove {len(codes) - _MAX_CODES} of them" if codes else "add an exit code"
        yield Fault((*route, "values"), f"expected 1 to {_MAX_CODES} values", hint)
    if codes != (ordered := sorted(set(codes))):
        hint = f"use `{ordered}`" if len(ordered) <= _MAX_SUGGESTED_CODES else "sort them, and remove duplicates"
        yield Fault((*route, "values"), "not sorted, or with duplicates", hint)
    if found["operator"] == "In" and 0 in codes:
        hint = "remove the 0" if any(codes) else "list exit codes of failures, or use `operator: NotIn`"
        yield Fault((*route, "values", codes.index(0)), "exit code 0 is not a failure", hint)


def _successes(policy: Body, spec: Body, route: Route) -> Faults:
    completions = spec.get("completions", 1)
    if not policy["rules"]:
        hint = "add a rule with `succeededIndexes` or `succeededCount`, or remove `successPolicy`"
        yield Fault(route, "at least one rule is required", hint)
    for index, rule in enumerate(policy["rules"]):
        at = (*route, index)
        most, indices = completions, rule.get("succeededIndexes")
        if indices is not None:
            count = _count(indices, completions)
            if count is None:
                yield _no_indices(indices, completions).at((*at, "succeededIndexes"))
            else:
                most = min(most, count)
        elif "succeededCount" not in rule:
            yield Fault(at, "`succeededCount` or `succeededIndexes` is required", "add one of the two, or both")
        if rule.get("succeededCount", 0) > most:
            hint = f"lower it to {most}, the number of " + ("`completions`" if most == completions else "these indices")
            yield Fault((*at, "succeededCount"), f"{rule['succeededCount']} is more than {most}", hint)


def _no_indices(indices: str, completions: int) -> Fault:
    if _count(indices, _ANY_NUMBER) is not None:
        hint = "raise `completions`" + (f", or remove indices above {completions - 1}" if completions > 0 else "")
    else:
        example = f"0-{completions - 1}" if completions > 1 else "0"
        hint = f"use increasing numbers and ranges, such as `{example}`"
    return Fault((), f"`{indices[:40]}` is not a valid list of indices below {completions}", hint)


def _count(indices: str, completions: int) -> int | None:
    """Number of indices in a list; None if the list is invalid."""
    last, count = None, 0
    for part in indices.split(",") if indices else ():
        match = _INTERVAL.fullmatch(part)
        if match is None:
            return None
        first, end = int(match[1]), int(match[2] or match[1])
        in_order = (last is None or last < first) and (match[2] is None or first < end)
        if end >= completions or not in_order:
            return None
        last, count = end, count + end - first + 1
    return count if len(indices) <= _MAX_INDICES_LENGTH else None
