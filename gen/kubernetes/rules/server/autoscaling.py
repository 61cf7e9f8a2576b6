"""Horizontal pod autoscalers: target, limits and metrics.

From `validateHorizontalPodAutoscalerSpec` of `pkg/apis/autoscaling/validation/validation.go`, and the defaults of
`pkg/apis/autoscaling/v2/defaults.go`.
"""

from __future__ import annotations

from gen.base import Route
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, not_one_of, server_rule
from gen.kubernetes.rules.field_checks import FieldChecks
from gen.kubernetes.rules.value_checks import (
    at_least,
    between,
    both,
    dns_label,
    not_empty,
    one_of,
    path_segment,
    positive,
    quantity,
)

_SOURCES = {
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "External": "external",
}
_TARGETS = {"AverageValue": "averageValue", "Utilization": "averageUtilization", "Value": "value"}
_OF_APPS = {"Deployment", "StatefulSet", "ReplicaSet"}
_VERSIONS = {"autoscaling/v1", "autoscaling/v2"}
"""Beta versions have other metrics."""


def _policies(value: object) -> Fault | None:
    return None if value else Fault((), "must not be empty", "add a policy, or remove `policies`")


def _api_version(value: str) -> Fault | None:
    if value.count("/") <= 1:
        return None
    return Fault((), f"`{value}` is not an API version", "write group and version, such as `apps/v1`")


_SCALER = FieldChecks(
    {
        "minReplicas": at_least(1),
        "maxReplicas": at_least(1),
        "targetCPUUtilizationPercentage": at_least(1),
        "scaleTargetRef.apiVersion": _api_version,
        "scaleTargetRef.kind": path_segment,
        "scaleTargetRef.name": path_segment,
        **{
            f"behavior.{way}.{field}": check
            for way in ("scaleUp", "scaleDown")
            for field, check in {
                "stabilizationWindowSeconds": between(0, 3600),
                "selectPolicy": one_of("Max", "Min", "Disabled"),
                "policies": _policies,
                "tolerance": quantity,
                "policies.*.type": one_of("Pods", "Percent"),
                "policies.*.value": at_least(1),
                "policies.*.periodSeconds": between(1, 1800),
            }.items()
        },
    }
)
_METRIC = FieldChecks(
    {
        "object.describedObject.apiVersion": _api_version,
        "object.describedObject.kind": path_segment,
        "object.describedObject.name": path_segment,
        **{f"{kind}.metric.name": path_segment for kind in ("object", "pods", "external")},
        "resource.name": not_empty,
        "containerResource.name": not_empty,
        "containerResource.container": both(not_empty, dns_label),
    }
)
_TARGET = FieldChecks({"averageUtilization": at_least(1), "value": positive, "averageValue": positive})
_OF_TARGET = {
    "object": ("value", "averageValue"),
    "pods": ("averageValue",),
    "external": ("value", "averageValue"),
    "resource": ("averageUtilization", "averageValue"),
    "containerResource": ("averageUtilization", "averageValue"),
}
"""Allowed fields of a target, by metric source; a target has one field."""


@server_rule(
    "autoscaling",
    "autoscaling/HorizontalPodAutoscaler",
    remedy="Give each metric the source of its type with one target value.",
)
def autoscaling(view: ObjectView) -> Faults:
    """An autoscaler has no target, a limit below its minimum, an invalid behavior or an incomplete metric."""
    if view.body["apiVersion"] not in _VERSIONS:
        return
    spec, route = view.spec, ("spec",)
    if not spec:
        hint = "add `scaleTargetRef` and `maxReplicas`"
        yield Fault(route, "`scaleTargetRef` and `maxReplicas` are missing", hint)
        return
    yield from _SCALER.faults(spec, route)
    least = spec.get("minReplicas", 1)
    if spec["maxReplicas"] < least:
        hint = f"use {least} or more, or lower `minReplicas`"
        yield Fault((*route, "maxReplicas"), f"{spec['maxReplicas']} is less than `minReplicas`", hint)
    version, kind = (spec["scaleTargetRef"].get(field, "") for field in ("apiVersion", "kind"))
    if not version.rpartition("/")[0] and kind != "ReplicationController":
        hint = "use `apps/v1`" if kind in _OF_APPS else f"set group and version of `{kind}`, such as `apps/v1`"
        yield Fault((*route, "scaleTargetRef", "apiVersion"), f"`{version}` has no API group", hint)
    for index, metric in enumerate(spec.get("metrics") or ()):
        yield from _metric(metric, (*route, "metrics", index))


def _metric(metric: Body, route: Route) -> Faults:
    wanted = _SOURCES.get(metric["type"])
    if wanted is None:
        yield not_one_of(metric["type"], _SOURCES).at((*route, "type"))
    elif wanted not in metric:
        yield _other_source(metric, wanted).at((*route, wanted))
    for source in _OF_TARGET.keys() & metric.keys():
        if wanted not in {None, source} and wanted in metric:
            yield Fault(
                (*route, source),
                f"`{source}` is set, but the type is `{metric['type']}`",
                f"move `{source}` to a separate metric",
            )
        yield from _METRIC.faults({source: metric[source]}, route)
        yield from _target(metric[source].get("target") or {}, source, (*route, source, "target"))


def _other_source(metric: Body, wanted: str) -> Fault:
    message = f"a metric of type `{metric['type']}` requires `{wanted}`"
    for kind, source in _SOURCES.items():
        if source in metric:
            return Fault((), message, f"set `type: {kind}`, or use `{wanted}` instead of `{source}`")
    return Fault((), message, f"add `{wanted}`")


def _target(target: Body, source: str, route: Route) -> Faults:
    if target.get("type") not in _TARGETS:
        yield not_one_of(target.get("type", ""), _TARGETS).at((*route, "type"))
    yield from _TARGET.faults(target, route)
    fields = [field for field in _OF_TARGET[source] if field in target]
    both_given = len(fields) > 1 and source != "object"
    if not fields or both_given:
        yield _one_value(target, _OF_TARGET[source], both=both_given).at(route)


def _one_value(target: Body, fields: tuple[str, ...], *, both: bool) -> Fault:
    named = [f"`{field}`" for field in fields]
    of_type = _TARGETS.get(target.get("type", ""))
    hint = f"add `{of_type}`" if of_type in fields else f"add {' or '.join(named)}"
    return Fault((), f"exactly one of {', '.join(named)} is required", "keep one of the two" if both else hint)
