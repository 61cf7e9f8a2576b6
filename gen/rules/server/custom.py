"""Training resources, which the API server holds against the definition (CRD) that the operator installs.

What is inside their pod templates it sees twice: here, and when the operator makes a pod. The definitions differ from
Kubernetes' own schema in how strict they are with nulls, quantities, metadata and lists whose entries have a key.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.quantities import no_quantity
from gen.rules.rule import server
from gen.rules.value_checks import at_least

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_QUANTITY = re.compile(rf"[+-]?{_NUMBER}(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?{_NUMBER})?")


@lru_cache(maxsize=4096, typed=True)
def _quantity(value: Any) -> Fault | None:
    if isinstance(value, float) or (isinstance(value, int) and not -(2**63) <= value < 2**63):
        return Fault((), f"{value} needs quotes", f'write `"{value}"`')
    if isinstance(value, int) or _QUANTITY.fullmatch(value):
        return None
    return no_quantity(value)


_RESOURCE = FieldChecks(
    {
        "spec.*.*.replicas": at_least(0),
        **{f"spec.*.metrics.*.*.target.{field}": _quantity for field in ("value", "averageValue")},
        "spec.runPolicy.schedulingPolicy.minResources.*": _quantity,
    }
)
_CONTAINERS = ("containers", "initContainers")
_POD = FieldChecks(
    {
        **{f"{kind}.*.resources.{field}.*": _quantity for kind in _CONTAINERS for field in ("limits", "requests")},
        **{f"{kind}.*.env.*.valueFrom.resourceFieldRef.divisor": _quantity for kind in _CONTAINERS},
        **{f"resources.{field}.*": _quantity for field in ("limits", "requests")},
        "overhead.*": _quantity,
        "volumes.*.emptyDir.sizeLimit": _quantity,
    }
)

_KEYED_OF_PODS: Final[dict[str, tuple[str, ...]]] = {"imagePullSecrets": ("name",), "hostAliases": ("ip",)}
_KEYED: Final[dict[str, tuple[str, ...]]] = {"env": ("name",), "ports": ("containerPort", "protocol")}
_KEYED_RESOURCES: Final[dict[str, tuple[str, ...]]] = {"claims": ("name",)}
"""Lists that take an entry of each key once, as far as no other rule says so."""

_DEFAULTS = {"protocol": "TCP", "name": ""}
_METADATA = {"annotations", "finalizers", "labels", "name", "namespace"}


@server(
    "custom",
    reason="The server holds training resources against the definitions that their operators install.",
    remedy="Quote the quantity, or remove the second entry.",
)
def custom(view: ObjectView) -> Faults:
    """Training resources keep what their definitions say beyond our schemas: plain quantities, lists without
    double entries.
    """
    if not view.is_custom or view.defined:
        return
    yield from _RESOURCE.faults(view.body, ())
    for route, template in view.templates:
        for field in (template.get("metadata") or {}).keys() - _METADATA:
            message = f"a pod template of a training resource has no `{field}`"
            yield Fault((*route, "metadata", field), message, f"remove `{field}`")
    for route, pod in view.pods:
        yield from _POD.faults(pod, route)
        yield from _twice(pod, route, _KEYED_OF_PODS)
    for route, container in view.containers:
        yield from _twice(container, route, _KEYED)
        if "resources" in container:
            yield from _twice(container["resources"], (*route, "resources"), _KEYED_RESOURCES)


def _twice(holder: Body, route: Route, lists: dict[str, tuple[str, ...]]) -> Faults:
    for field, keys in lists.items():
        entries = holder.get(field) or ()
        if len({entry.get(keys[0], _DEFAULTS.get(keys[0])) for entry in entries}) < len(entries):
            filled = [{**_DEFAULTS, **entry} for entry in entries]
            for here, names in duplicates(filled, (*route, field), *keys):
                yield Fault(here, f"`{names[0]}` is there twice", "remove one of the two")
