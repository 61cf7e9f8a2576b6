"""Horizontal autoscalers: what is scaled, how far, and by which metrics.

From `validateHorizontalPodAutoscalerSpec` of `pkg/apis/autoscaling/validation/validation.go`, and the defaults of
`pkg/apis/autoscaling/v2/defaults.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.validate.amounts import positive, quantity
from gen.validate.forms import at_least, between, both, dns_label, not_empty, one_of
from gen.validate.rule import server
from gen.validate.selectors import selector
from gen.validate.tables import Table

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.tables import Faults
    from gen.validate.view import View

_SOURCES = {
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "External": "external",
}
_TARGETS = {"Utilization", "Value", "AverageValue"}


def path_segment(value: Any) -> str | None:
    """A name that stands in the path of a request."""
    if not value:
        return "must not be empty"
    fits = value not in {".", ".."} and "/" not in value and "%" not in value
    return None if fits else f"`{value}` cannot be part of a path"


_SCALER = Table(
    {
        "minReplicas": at_least(1),
        "maxReplicas": at_least(1),
        "scaleTargetRef.kind": path_segment,
        "scaleTargetRef.name": path_segment,
        **{
            f"behavior.{way}.{field}": check
            for way in ("scaleUp", "scaleDown")
            for field, check in {
                "stabilizationWindowSeconds": between(0, 3600),
                "selectPolicy": one_of("Max", "Min", "Disabled"),
                "policies": not_empty,
                "tolerance": quantity,
                "policies.*.type": one_of("Pods", "Percent"),
                "policies.*.value": at_least(1),
                "policies.*.periodSeconds": between(1, 1800),
            }.items()
        },
    }
)
_METRIC = Table(
    {
        "object.describedObject.kind": path_segment,
        "object.describedObject.name": path_segment,
        **{f"{kind}.metric.name": path_segment for kind in ("object", "pods", "external")},
        "resource.name": not_empty,
        "containerResource.name": not_empty,
        "containerResource.container": both(not_empty, dns_label),
    }
)
_TARGET = Table({"averageUtilization": at_least(1), "value": positive, "averageValue": positive})
_OF_TARGET = {
    "object": ("value", "averageValue"),
    "pods": ("averageValue",),
    "external": ("value", "averageValue"),
    "resource": ("averageUtilization", "averageValue"),
    "containerResource": ("averageUtilization", "averageValue"),
}
"""The one field that a target of each source has, out of these."""


@server(
    "autoscaling",
    "autoscaling/HorizontalPodAutoscaler",
    remedy="Give each metric the source of its type with one target value.",
)
def autoscaling(view: View) -> Faults:
    """Targets, metrics and behaviour of an autoscaler are complete."""
    if view.kind != "HorizontalPodAutoscaler" or view.body["apiVersion"] != "autoscaling/v2":
        return
    spec, route = view.spec, ("spec",)
    if not spec:
        yield route, "says neither what to scale nor how far"
        return
    yield from _SCALER.faults(spec, route)
    if spec["maxReplicas"] < spec.get("minReplicas", 1):
        yield (*route, "maxReplicas"), f"{spec['maxReplicas']} is less than `minReplicas`"
    version = spec["scaleTargetRef"].get("apiVersion", "")
    if not version.rpartition("/")[0] and version != "v1":
        yield (*route, "scaleTargetRef", "apiVersion"), f"`{version}` has no group, such as `apps/v1`"
    for index, metric in enumerate(spec.get("metrics") or ()):
        yield from _metric(metric, (*route, "metrics", index))


def _metric(metric: Body, route: Route) -> Faults:
    wanted = _SOURCES.get(metric["type"])
    if wanted is None:
        yield (*route, "type"), one_of(*_SOURCES)(metric["type"]) or ""
    elif wanted not in metric:
        yield (*route, wanted), f"a metric of type `{metric['type']}` needs `{wanted}`"
    for source in _OF_TARGET.keys() & metric.keys():
        if wanted not in {None, source} and wanted in metric:
            yield (*route, source), f"the type is `{metric['type']}`"
        yield from _METRIC.faults({source: metric[source]}, route)
        found = (metric[source].get("metric") or {}).get("selector")
        yield from selector(found, (*route, source, "metric", "selector"))
        yield from _target(metric[source].get("target") or {}, source, (*route, source, "target"))


def _target(target: Body, source: str, route: Route) -> Faults:
    if target.get("type") not in _TARGETS:
        yield (*route, "type"), one_of(*sorted(_TARGETS))(target.get("type", "")) or ""
    yield from _TARGET.faults(target, route)
    fields = [field for field in _OF_TARGET[source] if field in target]
    both_given = len(fields) > 1 and source != "object"
    if not fields or both_given:
        yield route, "needs one of " + ", ".join(f"`{field}`" for field in _OF_TARGET[source])
