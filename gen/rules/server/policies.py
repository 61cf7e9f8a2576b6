"""`podFailurePolicy` and `successPolicy` of batch jobs.

From `validatePodFailurePolicy`, `validateSuccessPolicy` and `validateIndexesFormat` of
`pkg/apis/batch/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.regex import regex
from gen.rules.fault import Fault, unknown_name
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import qualified_name
from gen.rules.object_view import containers
from gen.rules.rule import server
from gen.rules.server.jobs import job_specs
from gen.rules.value_checks import at_least, if_set, one_of

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

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


@server(
    "policies",
    "batch/Job",
    "batch/CronJob",
    remedy="Name an existing container, and sort exit codes and indices.",
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
            count = len(policy.get("rules") or ())
            if count > _MAX_RULES:
                hint = f"remove {count - _MAX_RULES} of them"
                yield Fault((*at, "rules"), f"more than {_MAX_RULES} rules", hint)
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
