"""Drivers of storage: CSI drivers and nodes, capacities, attachments and attribute classes.

From `pkg/apis/storage/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.name_checks import dns_name, driver_name, lower_case, qualified_name
from gen.rules.quantities import not_negative, quantity
from gen.rules.rule import server
from gen.rules.selectors import selector
from gen.rules.value_checks import at_least, between, both, not_empty, one_of

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_GROUP = "storage.k8s.io"
_MAX_ID = 192
_MAX_PARAMETERS, _MAX_LENGTH = 512, 256 << 10


def _each_once(value: Any) -> Fault | None:
    return Fault((), "duplicate entry", "list each once") if len(set(value)) < len(value) else None


def _node_id(value: Any) -> Fault | None:
    if len(value) > _MAX_ID:
        return Fault((), f"longer than {_MAX_ID} characters", "shorten it")
    return not_empty(value)


_TABLES = {
    "CSIDriver": FieldChecks(
        {
            "metadata.name": driver_name,
            "spec.fsGroupPolicy": one_of("ReadWriteOnceWithFSType", "File", "None"),
            "spec.volumeLifecycleModes.*": one_of("Persistent", "Ephemeral"),
            "spec.tokenRequests.*.expirationSeconds": between(600, 1 << 32),
        }
    ),
    "CSINode": FieldChecks(
        {
            "spec.drivers.*.name": driver_name,
            "spec.drivers.*.nodeID": _node_id,
            "spec.drivers.*.allocatable.count": at_least(0),
            "spec.drivers.*.topologyKeys.*": qualified_name,
            "spec.drivers.*.topologyKeys": _each_once,
        }
    ),
    "CSIStorageCapacity": FieldChecks(
        {"storageClassName": dns_name, "capacity": not_negative, "maximumVolumeSize": quantity}
    ),
    "VolumeAttachment": FieldChecks(
        {
            "spec.attacher": driver_name,
            "spec.nodeName": both(not_empty, dns_name),
            "spec.source.persistentVolumeName": dns_name,
        }
    ),
    "VolumeAttributesClass": FieldChecks({"driverName": both(not_empty, lower_case(qualified_name))}),
}


@server(
    "storage-drivers",
    *(f"{_GROUP}/{kind}" for kind in _TABLES),
    remedy="Use the name of the driver, and values that the finding lists.",
)
def storage_drivers(view: ObjectView) -> Faults:
    """A driver of storage, its capacity or one of its attachments has an invalid name or setting."""
    yield from _TABLES[view.kind].faults(view.body, ())
    if view.kind == "CSIDriver":
        requests = [{"audience": "", **one} for one in view.spec.get("tokenRequests") or ()]
        for at, (name,) in duplicates(requests, ("spec", "tokenRequests"), "audience"):
            yield Fault((*at, "audience"), f"duplicate audience `{name}`", "remove one of the two")
    elif view.kind == "CSINode":
        for at, (name,) in duplicates(view.spec.get("drivers") or [], ("spec", "drivers"), "name"):
            yield Fault((*at, "name"), f"duplicate driver `{name}`", "remove one of the two")
    elif view.kind == "CSIStorageCapacity":
        yield from selector(view.body.get("nodeTopology"), ("nodeTopology",))
    elif view.kind == "VolumeAttributesClass":
        yield from _parameters(view.body)
    else:
        source = view.spec.get("source") or {}
        if ("persistentVolumeName" in source) == ("inlineVolumeSpec" in source):
            hint = "set `persistentVolumeName`"
            yield Fault(("spec", "source"), "exactly one source is required", hint)


def _parameters(body: Body) -> Faults:
    found = body.get("parameters") or {}
    size = sum(len(key) + len(value) for key, value in found.items())
    if not found:
        yield Fault(("parameters",), "at least one parameter is required", "add the parameters of the driver")
    if "" in found:
        yield Fault(("parameters", ""), "a parameter has an empty name", "rename it, or remove it")
    if len(found) > _MAX_PARAMETERS or size > _MAX_LENGTH:
        message = f"more than {_MAX_PARAMETERS} parameters or {_MAX_LENGTH} characters"
        yield Fault(("parameters",), message, "remove parameters, or shorten their values")
