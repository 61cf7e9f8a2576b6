"""Deployments: how pods are chosen and replaced.

From `ValidateDeploymentSpec` and `ValidatePodTemplateSpecForReplicaSet` of `pkg/apis/apps/validation/validation.go`,
and `pkg/apis/apps/v1/defaults.go`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gen.validate.forms import LARGEST_ID, at_least, between, given, one_of
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


def _number_or_percent(value: Any) -> str | None:
    if isinstance(value, str):
        return None if _PERCENT.fullmatch(value) else f"`{value}` is no number and no percentage, such as `25%`"
    return between(0, LARGEST_ID)(value)


_DEPLOYMENT = Table(
    {
        **dict.fromkeys(("replicas", "minReadySeconds", "revisionHistoryLimit"), at_least(0)),
        "progressDeadlineSeconds": at_least(0),
        "strategy.type": given(one_of("Recreate", "RollingUpdate")),
        "strategy.rollingUpdate.maxSurge": _number_or_percent,
        "strategy.rollingUpdate.maxUnavailable": _number_or_percent,
    }
)


def deployments(view: View) -> Faults:
    """Faults of a deployment that are not its pods'."""
    if view.kind != "Deployment":
        return
    spec, route = view.spec, ("spec",)
    yield from _DEPLOYMENT.faults(spec, route)
    if spec.get("progressDeadlineSeconds", _DEADLINE_S) <= spec.get("minReadySeconds", 0):
        field = "progressDeadlineSeconds" if "progressDeadlineSeconds" in spec else "minReadySeconds"
        yield (*route, field), "the deadline must be longer than `minReadySeconds`"
    yield from _strategy(spec.get("strategy") or {}, (*route, "strategy"))
    if not view.templates:
        yield (*route, "template"), "has no containers"
        return
    yield from _selection(spec, (*route, "selector"))
    pod, at = spec["template"]["spec"], (*route, "template", "spec")
    if restart_policy(pod) != "Always":
        yield (*at, "restartPolicy"), f"the restart policy of a deployment is `Always`, not `{restart_policy(pod)}`"
    if "activeDeadlineSeconds" in pod:
        yield (*at, "activeDeadlineSeconds"), "pods of a deployment have no deadline"


def _selection(spec: Body, route: Route) -> Faults:
    found = spec["selector"]
    malformed = list(selector(found, route))
    yield from malformed
    if not found.get("matchLabels") and not found.get("matchExpressions"):
        yield route, "selects nothing in particular"
    elif not malformed and not selects(found, (spec["template"].get("metadata") or {}).get("labels") or {}):
        yield route, "does not select the pods of the template"


def _strategy(strategy: Body, route: Route) -> Faults:
    rolling = strategy.get("rollingUpdate")
    if rolling is None:
        return
    if strategy.get("type") == "Recreate":
        yield (*route, "rollingUpdate"), "is not for the strategy `Recreate`"
        return
    missing = rolling.get("maxUnavailable", "25%")
    if str(missing).rstrip("%").strip("0") == "" and str(rolling.get("maxSurge", "25%")).rstrip("%").strip("0") == "":
        yield (*route, "rollingUpdate"), "`maxSurge` and `maxUnavailable` cannot both be 0"
    if isinstance(missing, str) and _PERCENT.fullmatch(missing) and int(missing[:-1]) > _ALL:
        yield (*route, "rollingUpdate", "maxUnavailable"), f"`{missing}` is more than all"
