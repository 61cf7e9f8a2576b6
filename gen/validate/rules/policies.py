"""What a batch job makes of pods that fail or succeed: `podFailurePolicy` and `successPolicy`.

From `validatePodFailurePolicy`, `validateSuccessPolicy` and `validateIndexesFormat` of
`pkg/apis/batch/validation/validation.go`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gen.validate.forms import at_least, given, one_of, qualified_name
from gen.validate.rule import server
from gen.validate.rules.jobs import job_specs
from gen.validate.tables import Table
from gen.validate.view import containers

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.tables import Faults
    from gen.validate.view import View

_FAILURE = Table(
    {
        "rules.*.action": one_of("Ignore", "Count", "FailIndex", "FailJob"),
        "rules.*.onExitCodes.operator": one_of("In", "NotIn"),
        "rules.*.onPodConditions.*.type": qualified_name,
        "rules.*.onPodConditions.*.status": given(one_of("True", "False", "Unknown")),
    }
)
_SUCCESS = Table({"rules.*.succeededCount": at_least(0)})
_MOST_RULES, _MOST_CONDITIONS, _MOST_CODES = 20, 20, 255
_LONGEST_INDICES = 64 << 10
_INTERVAL = re.compile(r"([+-]?[0-9]{1,18})(?:-([0-9]{1,18}))?")


@server(
    "policies",
    "batch/Job",
    "batch/CronJob",
    remedy="Name a container that is there, and order exit codes and indices.",
)
def policies(view: View) -> Faults:
    """What a batch job makes of failed and succeeded pods refers to its containers, exit codes and indices."""
    for route, spec in job_specs(view) if view.templates else ():
        for field, table, rules in (("podFailurePolicy", _FAILURE, _failures), ("successPolicy", _SUCCESS, _successes)):
            policy, at = spec.get(field), (*route, field)
            if policy is None or (field == "successPolicy" and spec.get("completionMode") != "Indexed"):
                continue
            yield from table.faults(policy, at)
            if len(policy["rules"]) > _MOST_RULES:
                yield (*at, "rules"), f"there are more than {_MOST_RULES} rules"
            yield from rules(policy, spec, (*at, "rules"))


def _failures(policy: Body, spec: Body, route: Route) -> Faults:
    names = {container["name"] for _, container in containers(spec["template"]["spec"], ())}
    for index, rule in enumerate(policy["rules"]):
        at = (*route, index)
        if rule["action"] == "FailIndex" and "backoffLimitPerIndex" not in spec:
            yield (*at, "action"), "`FailIndex` needs `backoffLimitPerIndex`"
        conditions = rule.get("onPodConditions") or []
        if ("onExitCodes" in rule) == bool(conditions):
            yield at, "needs either `onExitCodes` or `onPodConditions`"
        if len(conditions) > _MOST_CONDITIONS:
            yield (*at, "onPodConditions"), f"there are more than {_MOST_CONDITIONS} conditions"
        if "onExitCodes" in rule:
            yield from _exit_codes(rule["onExitCodes"], names, (*at, "onExitCodes"))


def _exit_codes(found: Body, names: set[str], route: Route) -> Faults:
    if "containerName" in found and found["containerName"] not in names:
        yield (*route, "containerName"), f"no container is called `{found['containerName']}`"
    codes = found["values"]
    if not 0 < len(codes) <= _MOST_CODES:
        yield (*route, "values"), f"needs 1 to {_MOST_CODES} values"
    if codes != sorted(set(codes)):
        yield (*route, "values"), "must be in order, and each only once"
    if found["operator"] == "In" and 0 in codes:
        yield (*route, "values", codes.index(0)), "0 is no failure"


def _successes(policy: Body, spec: Body, route: Route) -> Faults:
    completions = spec.get("completions", 1)
    if not policy["rules"]:
        yield route, "needs at least one rule"
    for index, rule in enumerate(policy["rules"]):
        at = (*route, index)
        most, indices = completions, rule.get("succeededIndexes")
        if indices is not None:
            count = _count(indices, completions)
            if count is None:
                here = (*at, "succeededIndexes")
                yield here, f"`{indices[:40]}` is no list of indices below {completions}, such as `0,2-3`"
            else:
                most = min(most, count)
        elif "succeededCount" not in rule:
            yield at, "needs `succeededCount` or `succeededIndexes`"
        if rule.get("succeededCount", 0) > most:
            yield (*at, "succeededCount"), f"{rule['succeededCount']} is more than {most}"


def _count(indices: str, completions: int) -> int | None:
    """How many indices a list names; None when it is none."""
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
    return count if len(indices) <= _LONGEST_INDICES else None
