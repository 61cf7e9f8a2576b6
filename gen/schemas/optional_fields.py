"""Fields that the published schemas of Kubernetes require, and that API servers do not.

Go decodes a missing field as an empty value, and the validation of these types accepts that value; defaults fill in
some. Compared with a real API server (`tests/e2e/test_optional_fields.py`).
"""

from __future__ import annotations

from typing import Any, Final

_OPTIONAL: Final[dict[str, tuple[str, ...]]] = {
    "core.ConfigMapNodeConfigSource": ("namespace", "name", "kubeletConfigKey"),
    "core.Event": ("involvedObject",),
    "core.HTTPHeader": ("value",),
    "core.ISCSIVolumeSource": ("lun",),
    "core.ISCSIPersistentVolumeSource": ("lun",),
    "core.LimitRangeSpec": ("limits",),
    "core.PreferredSchedulingTerm": ("preference",),
    "core.ScaleIOVolumeSource": ("secretRef",),
    "core.ScaleIOPersistentVolumeSource": ("secretRef",),
    "core.SleepAction": ("seconds",),
    "core.Sysctl": ("value",),
    "core.TypedLocalObjectReference": ("kind", "name"),
    "core.TypedObjectReference": ("kind", "name"),
    "batch.PodFailurePolicy": ("rules",),
    "batch.PodFailurePolicyOnPodConditionsPattern": ("status",),
    "discovery.EndpointSlice": ("endpoints",),
    "rbac.RoleRef": ("apiGroup",),
    "apps.ControllerRevision": ("revision",),
    "resource.DeviceClass": ("spec",),
    "resource.ResourceClaim": ("spec",),
    "resource.ResourceClaimTemplate": ("spec",),
    "resource.ResourceClaimTemplateSpec": ("spec",),
    "scheduling.PriorityClass": ("value",),
    "storage.CSIDriver": ("spec",),
    "storage.CSINode": ("spec",),
    "storage.CSINodeSpec": ("drivers",),
    "storage.TokenRequest": ("audience",),
    "apiextensions.CustomResourceDefinitionVersion": ("served", "storage"),
}
"""By API group and type."""

_SINCE: Final[dict[str, int]] = {"core.SleepAction": 33, "core.TypedObjectReference": 26}
"""Minor versions since which a server accepts the empty value; all supported ones for other types."""

_OF_STATUS: Final = ("Condition", "Status", "NodeSystemInfo", "NodeAddress", "AttachedVolume", "DaemonEndpoint", "IP")
"""Ends of names of types that only occur in `status`, which a server drops from a new object."""


def drop_requirements(name: str, definition: dict[str, Any], minor: int) -> None:
    """Remove these fields from `required` of a definition of a minor version, in place."""
    required = definition.get("required")
    if not required:
        return
    *_, group, _, kind = name.split(".") if name.count(".") > 1 else ("", "", name)
    key = f"{group}.{kind}"
    fields = _OPTIONAL.get(key, ()) if _SINCE.get(key, 0) <= minor else ()
    of_status = kind.endswith(_OF_STATUS) and kind != "MatchCondition"
    left = [] if of_status else [one for one in required if one not in fields]
    if left:
        definition["required"] = left
    else:
        del definition["required"]  # draft 4 has no empty list
