"""Volumes of pods and their sources.

From `validateVolumeSource`, `ValidateVolumes` and `validateDownwardAPIVolumeFile` of
`pkg/apis/core/validation/validation.go`. `SetDefaults_Volume` of `pkg/apis/core/v1/defaults.go` turns a volume without
a source into an `emptyDir`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.name_checks import dns_label, dns_name
from gen.rules.quantities import not_negative
from gen.rules.rule import server
from gen.rules.server.environment import field_reference, resource_reference
from gen.rules.value_checks import both, file_mode, file_name, if_set, not_empty, one_of
from gen.rules.volume_sources import SOURCE_CHECKS, named_secret, one_of_two, source_faults

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_FILES = ("configMap", "secret", "downwardAPI")
_VOLUME = FieldChecks(
    {
        **SOURCE_CHECKS,
        "name": dns_label,
        "emptyDir.sizeLimit": not_negative,
        "csi.nodePublishSecretRef": lambda secret: named_secret(secret) or dns_name(secret["name"]),
        **{f"{kind}.secretRef": named_secret for kind in ("cinder", "storageos")},
        **{f"{kind}.defaultMode": file_mode for kind in (*_FILES, "projected")},
        **{f"{kind}.items.*.mode": file_mode for kind in _FILES},
        **{f"{kind}.items.*.key": not_empty for kind in ("configMap", "secret")},
        **{f"{kind}.items.*.path": both(not_empty, file_name) for kind in _FILES},
    }
)
_IMAGE = FieldChecks({"image.pullPolicy": if_set(one_of("Always", "IfNotPresent", "Never"))})
_IMAGES_SINCE = 35
"""Earlier versions drop such volumes together with their mounts."""

_FIELDS = {"metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid"}


@server(
    "volumes",
    of_pods=True,
    remedy="Keep one source for each volume, and set its required fields.",
)
def volumes(view: ObjectView) -> Faults:
    """A volume has a duplicate name, several sources, or lacks a required field of its source."""
    for route, pod in view.pods:
        at = (*route, "volumes")
        found = pod.get("volumes") or []
        for here, (name,) in duplicates(found, at, "name"):
            yield Fault((*here, "name"), f"duplicate volume name `{name}`", "rename one of the two")
        for index, volume in enumerate(found):
            here = (*at, index)
            if "image" in volume:
                if view.minor >= _IMAGES_SINCE:
                    yield from _IMAGE.faults(volume, here)
                continue
            yield from source_faults(volume, here, fields=_VOLUME)
            if "downwardAPI" in volume:
                for number, file in enumerate(volume["downwardAPI"].get("items") or ()):
                    yield from reflected_file(file, (*here, "downwardAPI", "items", number))


def reflected_file(file: Body, route: Route) -> Faults:
    """Faults of a file with information about the pod."""
    if ("fieldRef" in file) == ("resourceFieldRef" in file):
        yield one_of_two("fieldRef", "resourceFieldRef", both="fieldRef" in file).at(route)
    if "fieldRef" in file:
        yield from field_reference(file["fieldRef"], (*route, "fieldRef"), _FIELDS)
    if "resourceFieldRef" in file:
        if not_empty(file["resourceFieldRef"].get("containerName")):
            hint = "set `containerName` to the name of a container of the pod"
            yield Fault((*route, "resourceFieldRef"), "`containerName` is missing", hint)
        yield from resource_reference(file["resourceFieldRef"], (*route, "resourceFieldRef"))
