"""Where containers see volumes: mounts and block devices.

From `ValidateVolumeMounts` and `ValidateVolumeDevices` of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.validate.forms import both, descending, given, no_step_back, not_empty, one_of
from gen.validate.rule import server
from gen.validate.tables import Table, doubled
from gen.validate.view import containers

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.tables import Faults
    from gen.validate.view import View

_CONTAINER = Table(
    {
        "volumeMounts.*.mountPath": not_empty,
        "volumeMounts.*.subPath": given(descending),
        "volumeMounts.*.subPathExpr": given(descending),
        "volumeMounts.*.mountPropagation": one_of("Bidirectional", "HostToContainer", "None"),
        "volumeMounts.*.recursiveReadOnly": one_of("Disabled", "IfPossible", "Enabled"),
        "volumeDevices.*.devicePath": both(not_empty, no_step_back),
    }
)
_BLOCK = {"persistentVolumeClaim", "ephemeral"}


@server(
    "mounts",
    of_pods=True,
    remedy="Add the volume to the pod, or correct the name of the mount.",
)
def mounts(view: View) -> Faults:
    """Every mount and device names a volume of its pod, and no path is taken twice."""
    for route, pod in view.pods:
        volumes = {**{volume["name"]: volume for volume in pod.get("volumes") or ()}, **_claimed(view)}
        for at, container in containers(pod, route):
            yield from _CONTAINER.faults(container, at)
            yield from _mounts(container, (*at, "volumeMounts"), volumes)
            yield from _devices(container, (*at, "volumeDevices"), volumes)


def _claimed(view: View) -> Body:
    """The volumes that a stateful set makes for its pods."""
    if view.kind != "StatefulSet" or view.is_custom:
        return {}
    claims = view.spec.get("volumeClaimTemplates") or ()
    return {(claim.get("metadata") or {}).get("name", ""): {"persistentVolumeClaim": {}} for claim in claims}


def _mounts(container: Body, route: Route, volumes: Body) -> Faults:
    found = container.get("volumeMounts") or []
    for at, (path,) in doubled(found, route, "mountPath"):
        yield (*at, "mountPath"), f"`{path}` is mounted twice"
    for index, mount in enumerate(found):
        at = (*route, index)
        if mount["name"] not in volumes:
            yield (*at, "name"), f"`{mount['name']}` is no volume of the pod"
        if mount.get("subPath") and mount.get("subPathExpr"):
            yield (*at, "subPathExpr"), "`subPath` and `subPathExpr` exclude each other"
        if mount.get("mountPropagation") == "Bidirectional" and not _is_privileged(container):
            yield (*at, "mountPropagation"), "`Bidirectional` is for privileged containers"
        if mount.get("recursiveReadOnly") in {"Enabled", "IfPossible"}:
            yield from _recursive(mount, at)


def _is_privileged(container: Body) -> bool:
    return bool((container.get("securityContext") or {}).get("privileged"))


def _recursive(mount: Body, route: Route) -> Faults:
    if not mount.get("readOnly"):
        yield (*route, "recursiveReadOnly"), "needs `readOnly: true`"
    if mount.get("mountPropagation", "None") != "None":
        yield (*route, "recursiveReadOnly"), "excludes `mountPropagation`"


def _devices(container: Body, route: Route, volumes: Body) -> Faults:
    found = container.get("volumeDevices") or []
    mounted = container.get("volumeMounts") or []
    for field in ("name", "devicePath"):
        for at, (value,) in doubled(found, route, field):
            yield (*at, field), f"`{value}` is a device twice"
    for index, device in enumerate(found):
        at = (*route, index)
        if device["name"] not in volumes:
            yield (*at, "name"), f"`{device['name']}` is no volume of the pod"
        elif not _BLOCK & volumes[device["name"]].keys():
            yield (*at, "name"), f"`{device['name']}` is no claim, so it has no block device"
        for mount in mounted:
            if device["name"] == mount["name"]:
                yield (*at, "name"), f"`{device['name']}` is mounted as well"
            if device["devicePath"] == mount["mountPath"]:
                yield (*at, "devicePath"), f"`{device['devicePath']}` is a mount as well"
