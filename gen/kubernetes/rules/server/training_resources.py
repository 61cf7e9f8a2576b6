"""Training resources, which the API server validates against the definitions (CRDs) of their operators.

Pod templates inside are validated twice: here, and when the operator creates a pod. Definitions are stricter or looser
than Kubernetes' own schemas about nulls, quantities, metadata and keyed lists.
"""

from __future__ import annotations

from typing import Any, Final

from gen.base import Route, regex
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults, ObjectView, server_rule
from gen.kubernetes.rules.field_checks import FieldChecks, duplicates
from gen.kubernetes.rules.value_checks import at_least, invalid_quantity

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_QUANTITY = regex(rf"[+-]?{_NUMBER}(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?{_NUMBER})?")


def _quantity(value: Any) -> Fault | None:
    if isinstance(value, float) or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        return Fault((), f"{value} is not in quotes", f'write `"{value}"`')
    if isinstance(value, int) or _QUANTITY.fullmatch(value):
        return None
    return invalid_quantity(value)


def _with(field: str) -> Check:
    fault = Fault((field,), f"`{field}` is missing", f"add `{field}`")
    return lambda value: None if field in value else fault


_RESOURCE = FieldChecks(
    {
        "spec.*.*.replicas": at_least(0),
        **{f"spec.*.metrics.*.*.target.{field}": _quantity for field in ("value", "averageValue")},
        "spec.runPolicy.schedulingPolicy.minResources.*": _quantity,
    }
)
_POD = FieldChecks(
    {
        **{f"resources.{field}.*": _quantity for field in ("limits", "requests")},
        "overhead.*": _quantity,
        "securityContext.sysctls.*": _with("value"),
        "volumes.*.emptyDir.sizeLimit": _quantity,
        "volumes.*.iscsi": _with("lun"),
        "volumes.*.scaleIO": _with("secretRef"),
        "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.*": _with("preference"),
    }
)
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("lifecycle.postStart", "lifecycle.preStop")
_CONTAINER = FieldChecks(
    {
        **{f"resources.{field}.*": _quantity for field in ("limits", "requests")},
        "env.*.valueFrom.resourceFieldRef.divisor": _quantity,
        **{f"{at}.httpGet.httpHeaders.*": _with("value") for at in (*_PROBES, *_HOOKS)},
        **{f"{hook}.sleep": _with("seconds") for hook in _HOOKS},
    }
)
"""Also fields that definitions require and Kubernetes does not (`gen/kubernetes/schemas/kubernetes.py`)."""

_KEYED_OF_PODS: Final[dict[str, tuple[str, ...]]] = {"imagePullSecrets": ("name",), "hostAliases": ("ip",)}
_KEYED: Final[dict[str, tuple[str, ...]]] = {"env": ("name",), "ports": ("containerPort", "protocol")}
_KEYED_RESOURCES: Final[dict[str, tuple[str, ...]]] = {"claims": ("name",)}
"""Keyed lists that no other rule checks for duplicates."""

_DEFAULTS = {"protocol": "TCP", "name": ""}
_METADATA = {"annotations", "finalizers", "labels", "name", "namespace"}


@server_rule(
    "custom",
    reason="The API server validates training resources against the definitions of their operators.",
    remedy="Quote the quantity, or remove the second entry.",
)
def custom(view: ObjectView) -> Faults:
    """A training resource breaks its definition in a way that gen's schemas do not show: unquoted quantities, duplicate
    entries in keyed lists, unknown metadata.
    """
    if not view.is_custom or view.defined:
        return
    yield from _RESOURCE.faults(view.body, ())
    for route, template in view.templates:
        for field in (template.get("metadata") or {}).keys() - _METADATA:
            message = f"a pod template of a training resource cannot have `{field}`"
            yield Fault((*route, "metadata", field), message, f"remove `{field}` from the template")
    for route, pod in view.pods:
        yield from _POD.faults(pod, route)
    for route, container in view.containers:
        yield from _CONTAINER.faults(container, route)
    for route, pod in view.pods:
        yield from _twice(pod, route, _KEYED_OF_PODS)
    for route, container in view.containers:
        yield from _twice(container, route, _KEYED)
        if "claims" in (container.get("resources") or ()):
            yield from _twice(container["resources"], (*route, "resources"), _KEYED_RESOURCES)


def _twice(holder: Body, route: Route, lists: dict[str, tuple[str, ...]]) -> Faults:
    for field, keys in lists.items():
        entries = holder.get(field) or ()
        if len(entries) > 1 and len({entry.get(keys[0], _DEFAULTS.get(keys[0])) for entry in entries}) < len(entries):
            filled = [{**_DEFAULTS, **entry} for entry in entries]
            for here, names in duplicates(filled, (*route, field), *keys):
                yield Fault(here, f"duplicate entry `{names[0]}`", "remove one of the two")
