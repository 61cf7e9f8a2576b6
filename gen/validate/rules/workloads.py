"""Deployments, replica sets, daemon sets and stateful sets: how pods are chosen and replaced.

From the `Validate…Spec` functions and `ValidatePodTemplateSpecForReplicaSet` of
`pkg/apis/apps/validation/validation.go`, and `pkg/apis/apps/v1/defaults.go`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gen.validate.forms import LARGEST_ID, at_least, between, dns_name, given, one_of
from gen.validate.rule import server
from gen.validate.rules.pods import restart_policy
from gen.validate.selectors import selector, selects
from gen.validate.tables import Table

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.tables import Faults
    from gen.validate.view import View

_PERCENT = re.compile("[0-9]+%")
_DEADLINE_S = 600
_ALL = 100


def number_or_percent(value: Any) -> str | None:
    if isinstance(value, str):
        return None if _PERCENT.fullmatch(value) else f"`{value}` is no number and no percentage, such as `25%`"
    return between(0, LARGEST_ID)(value)


_UPDATE = {
    "rollingUpdate.maxSurge": number_or_percent,
    "rollingUpdate.maxUnavailable": number_or_percent,
    "rollingUpdate.partition": at_least(0),
}
_COUNTS = dict.fromkeys(("replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"), at_least(0))


def _table(field: str, *types: str) -> Table:
    strategy = {f"{field}.{name}": check for name, check in _UPDATE.items()}
    return Table({**_COUNTS, **strategy, f"{field}.type": given(one_of(*types))})


_TABLES = {
    "Deployment": _table("strategy", "Recreate", "RollingUpdate"),
    "ReplicaSet": Table(_COUNTS),
    "DaemonSet": _table("updateStrategy", "RollingUpdate", "OnDelete"),
    "StatefulSet": Table(
        {
            **_COUNTS,
            **{f"updateStrategy.{name}": check for name, check in _UPDATE.items()},
            "updateStrategy.type": given(one_of("RollingUpdate", "OnDelete")),
            "podManagementPolicy": given(one_of("OrderedReady", "Parallel")),
            "serviceName": given(dns_name),
            "ordinals.start": at_least(0),
            "persistentVolumeClaimRetentionPolicy.whenDeleted": one_of("Retain", "Delete"),
            "persistentVolumeClaimRetentionPolicy.whenScaled": one_of("Retain", "Delete"),
        }
    ),
}


@server(
    "workloads",
    "apps/Deployment",
    "apps/ReplicaSet",
    "apps/DaemonSet",
    "apps/StatefulSet",
    remedy="Repeat the labels of the template in the selector.",
)
def workloads(view: View) -> Faults:
    """Deployments and their like select the pods of their template, always restart them, and can replace them."""
    if view.kind not in _TABLES or view.is_custom:
        return
    spec, route = view.spec, ("spec",)
    yield from _TABLES[view.kind].faults(spec, route)
    if view.kind == "Deployment" and spec.get("progressDeadlineSeconds", _DEADLINE_S) <= spec.get("minReadySeconds", 0):
        field = "progressDeadlineSeconds" if "progressDeadlineSeconds" in spec else "minReadySeconds"
        yield (*route, field), "the deadline must be longer than `minReadySeconds`"
    for field in ("strategy", "updateStrategy"):
        yield from _strategy(spec.get(field) or {}, (*route, field), view.kind)
    if not view.templates:
        yield (*route, "template"), "has no containers"
        return
    yield from _selection(spec, (*route, "selector"))
    pod, at = spec["template"]["spec"], (*route, "template", "spec")
    if restart_policy(pod) != "Always":
        yield (*at, "restartPolicy"), f"the restart policy of these pods is `Always`, not `{restart_policy(pod)}`"
    if "activeDeadlineSeconds" in pod:
        yield (*at, "activeDeadlineSeconds"), "pods that are kept running have no deadline"


def _selection(spec: Body, route: Route) -> Faults:
    found = spec["selector"]
    malformed = list(selector(found, route))
    yield from malformed
    if not found.get("matchLabels") and not found.get("matchExpressions"):
        yield route, "selects nothing in particular"
    elif not malformed and not selects(found, (spec["template"].get("metadata") or {}).get("labels") or {}):
        yield route, "does not select the pods of the template"


def _strategy(strategy: Body, route: Route, kind: str) -> Faults:
    rolling = strategy.get("rollingUpdate")
    if rolling is None:
        return
    if strategy.get("type", "RollingUpdate") not in {"", "RollingUpdate"} and kind != "DaemonSet":
        yield (*route, "rollingUpdate"), f"is not for the strategy `{strategy['type']}`"
        return
    if kind == "StatefulSet":
        if _is_zero(rolling.get("maxUnavailable", 1)):
            yield (*route, "rollingUpdate", "maxUnavailable"), "cannot be 0"
    elif kind == "DaemonSet":
        yield from _one_at_least(rolling, route, 1, 0)
        if not any(_is_zero(rolling.get(field, other)) for field, other in (("maxUnavailable", 1), ("maxSurge", 0))):
            yield (*route, "rollingUpdate"), "`maxSurge` and `maxUnavailable` cannot both be more than 0"
    else:
        yield from _one_at_least(rolling, route, "25%", "25%")
    missing = rolling.get("maxUnavailable", "25%")
    if isinstance(missing, str) and _PERCENT.fullmatch(missing) and int(missing[:-1]) > _ALL:
        yield (*route, "rollingUpdate", "maxUnavailable"), f"`{missing}` is more than all"


def _one_at_least(rolling: Body, route: Route, missing: int | str, surge: int | str) -> Faults:
    if _is_zero(rolling.get("maxUnavailable", missing)) and _is_zero(rolling.get("maxSurge", surge)):
        yield (*route, "rollingUpdate"), "`maxSurge` and `maxUnavailable` cannot both be 0"


def _is_zero(value: Any) -> bool:
    return str(value).rstrip("%").strip("0") == ""
