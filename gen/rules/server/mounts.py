"""Volume mounts and block devices of containers.

From `ValidateVolumeMounts` and `ValidateVolumeDevices` of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.resources import resource_of
from gen.resources.pods import matches
from gen.rules.fault import Fault, unknown_name
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.object_view import containers
from gen.rules.rule import server
from gen.rules.value_checks import both, descending, if_set, no_step_back, not_empty, one_of

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_CONTAINER = FieldChecks(
    {
        "volumeMounts.*.mountPath": not_empty,
        "volumeMounts.*.subPath": if_set(descending),
        "volumeMounts.*.subPathExpr": if_set(descending),
        "volumeMounts.*.mountPropagation": one_of("Bidirectional", "HostToContainer", "None"),
        "volumeMounts.*.recursiveReadOnly": one_of("Disabled", "IfPossible", "Enabled"),
        "volumeDevices.*.devicePath": both(not_empty, no_step_back),
    }
)
_BLOCK = {"persistentVolumeClaim", "ephemeral"}
_INDEPENDENT = {"name", "mountPath", "readOnly", "subPath"}
"""Fields of a mount that are valid with each other."""


@server(
    "mounts",
    of_pods=True,
    remedy="Add the volume to the pod, or correct the name of the mount.",
)
def mounts(view: ObjectView) -> Faults:
    """A container mounts a volume that its pod does not define, or uses a mount path or device twice."""
    added = _added(view)
    for route, pod in view.pods:
        volumes = {**{volume["name"]: volume for volume in pod.get("volumes") or ()}, **added}
        for at, container in containers(pod, route):
            yield from _CONTAINER.faults(container, at)
            if "volumeMounts" in container:
                yield from _mounts(container, (*at, "volumeMounts"), volumes)
            if "volumeDevices" in container:
                yield from _devices(container, (*at, "volumeDevices"), volumes)


def _added(view: ObjectView) -> Body:
    """The volumes that a controller or an operator adds to the pods."""
    resource = resource_of(view.group, view.kind)
    if resource is None:
        return {}
    claims = {str(name) for pattern in resource.claims for _, name in matches(view.body, pattern)}
    return {name: {"persistentVolumeClaim": {}} for name in (*claims, *resource.added_volumes)}


def _mounts(container: Body, route: Route, volumes: Body) -> Faults:
    found = container["volumeMounts"]
    for at, (path,) in duplicates(found, route, "mountPath"):
        yield Fault((*at, "mountPath"), f"`{path}` is mounted twice", "change one of the two paths")
    for index, mount in enumerate(found):
        if mount["name"] not in volumes:
            yield _unknown(mount["name"], volumes).at((*route, index, "name"))
        if mount.keys() <= _INDEPENDENT:
            continue
        at = (*route, index)
        if mount.get("subPath") and mount.get("subPathExpr"):
            yield Fault(
                (*at, "subPathExpr"), "`subPath` and `subPathExpr` are mutually exclusive", "keep one of the two"
            )
        if mount.get("mountPropagation") == "Bidirectional" and not _is_privileged(container):
            hint = "use `HostToContainer`, or set `securityContext.privileged: true`"
            yield Fault((*at, "mountPropagation"), "`Bidirectional` requires a privileged container", hint)
        if mount.get("recursiveReadOnly") in {"Enabled", "IfPossible"}:
            yield from _recursive(mount, at)


def _unknown(name: str, volumes: Body) -> Fault:
    return unknown_name(f"the pod has no volume `{name}`", name, volumes, "add it to `volumes`")


def _is_privileged(container: Body) -> bool:
    return bool((container.get("securityContext") or {}).get("privileged"))


def _recursive(mount: Body, route: Route) -> Faults:
    if not mount.get("readOnly"):
        yield Fault(
            (*route, "recursiveReadOnly"), "`recursiveReadOnly` requires `readOnly: true`", "add `readOnly: true`"
        )
    if mount.get("mountPropagation", "None") != "None":
        hint = "remove `mountPropagation` or `recursiveReadOnly`"
        yield Fault(
            (*route, "recursiveReadOnly"), "`recursiveReadOnly` and `mountPropagation` are mutually exclusive", hint
        )


def _devices(container: Body, route: Route, volumes: Body) -> Faults:
    found = container["volumeDevices"]
    mounted = container.get("volumeMounts") or []
    for field in ("name", "devicePath"):
        for at, (value,) in duplicates(found, route, field):
            yield Fault((*at, field), f"duplicate device `{value}`", "remove one of the two")
    for index, device in enumerate(found):
        at = (*route, index)
        if device["name"] not in volumes:
            yield _unknown(device["name"], volumes).at((*at, "name"))
        elif not _BLOCK & volumes[device["name"]].keys():
            hint = "use a volume with `persistentVolumeClaim`, or mount it with `volumeMounts`"
            yield Fault((*at, "name"), f"`{device['name']}` is not a claim, so it cannot be a block device", hint)
        for mount in mounted:
            if device["name"] == mount["name"]:
                yield Fault((*at, "name"), f"`{device['name']}` is also mounted", "keep the device or the mount")
            if device["devicePath"] == mount["mountPath"]:
                yield Fault(
                    (*at, "devicePath"), f"`{device['devicePath']}` is also a mount path", "change one of the two paths"
                )
