"""Volumes of pods, their projected sources, and mounts.

From `ValidateVolumes`, `validateDownwardAPIVolumeFile`, `validateProjectionSources`, `ValidateVolumeMounts` and
`ValidateVolumeDevices` of `pkg/apis/core/validation/validation.go`. `SetDefaults_Volume` of
`pkg/apis/core/v1/defaults.go` turns a volume without a source into an `emptyDir`. Sources with a disabled feature gate
are dropped.
"""

from __future__ import annotations

from gen.base import Route
from gen.kubernetes.facts import resource_of
from gen.kubernetes.facts.pods import matches
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, containers, placed, server_rule, unknown_name
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.field_checks import FieldChecks, duplicates, unique
from gen.kubernetes.rules.server.containers import field_reference, resource_reference
from gen.kubernetes.rules.volume_sources import SOURCE_CHECKS, named_secret, one_of_two, source_faults

_FILES = ("configMap", "secret", "downwardAPI")
_VOLUME = FieldChecks(
    {
        **SOURCE_CHECKS,
        "name": checks.dns_label,
        "emptyDir.sizeLimit": checks.not_negative,
        "csi.nodePublishSecretRef": lambda secret: named_secret(secret) or checks.dns_name(secret["name"]),
        **{f"{kind}.secretRef": named_secret for kind in ("cinder", "storageos")},
        **{f"{kind}.defaultMode": checks.file_mode for kind in (*_FILES, "projected")},
        **{f"{kind}.items.*.mode": checks.file_mode for kind in _FILES},
        **{f"{kind}.items.*.key": checks.not_empty for kind in ("configMap", "secret")},
        **{f"{kind}.items.*.path": checks.both(checks.not_empty, checks.file_name) for kind in _FILES},
    }
)
_IMAGE = FieldChecks({"image.pullPolicy": checks.if_set(checks.one_of("Always", "IfNotPresent", "Never"))})
_IMAGES_SINCE = 35
"""Earlier versions drop such volumes together with their mounts."""

_FIELDS = {"metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid"}


@server_rule("volumes", of_pods=True, remedy="Keep one source for each volume, and set its required fields.")
def volumes(view: ObjectView) -> Faults:
    """A volume has a duplicate name, several sources, or lacks a required field of its source."""
    for route, pod in view.pods:
        at = (*route, "volumes")
        found = pod.get("volumes") or []
        yield from unique(found, at, "name", "volume name")
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
        if checks.not_empty(file["resourceFieldRef"].get("containerName")):
            hint = "set `containerName` to the name of a container of the pod"
            yield Fault((*route, "resourceFieldRef"), "`containerName` is missing", hint)
        yield from resource_reference(file["resourceFieldRef"], (*route, "resourceFieldRef"))


_KINDS = ("secret", "configMap", "downwardAPI", "serviceAccountToken")
_LISTS = ("secret", "configMap", "downwardAPI")
_SOURCE = FieldChecks(
    {
        **{f"{kind}.items.*.mode": checks.file_mode for kind in _LISTS},
        **{f"{kind}.items.*.key": checks.not_empty for kind in ("secret", "configMap")},
        "serviceAccountToken.expirationSeconds": checks.between(600, 1 << 32),
    }
)


@server_rule("projected", of_pods=True, remedy="Give each file a unique path.")
def projected(view: ObjectView) -> Faults:
    """A projected volume has an entry with several sources, or two files with the same path."""
    for route, pod in view.pods:
        for index, volume in enumerate(pod.get("volumes") or ()):
            taken: set[str] = set()
            for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
                yield from _source(source, (*route, "volumes", index, "projected", "sources", number), taken)


def _source(source: Body, route: Route, taken: set[str]) -> Faults:
    found = [kind for kind in _KINDS if kind in source]
    for kind in found[1:]:
        message = f"an entry has only one source, and `{found[0]}` is already set"
        yield Fault((*route, kind), message, f"move `{kind}` to a separate entry")
    yield from _SOURCE.faults(source, route)
    for kind, what in (("secret", "secret"), ("configMap", "config map")):
        if kind in source and not source[kind].get("name"):
            yield Fault((*route, kind), "`name` is missing", f"set `name` to the name of a {what}")
    for kind in _LISTS:
        for index, file in enumerate((source.get(kind) or {}).get("items") or ()):
            at = (*route, kind, "items", index)
            yield from _path(file["path"], (*at, "path"))
            if file["path"] in taken:
                message = f"duplicate path `{file['path']}`"
                yield Fault((*at, "path"), message, "change one of the two paths")
            taken.add(file["path"])
            if kind == "downwardAPI":
                yield from reflected_file(file, at)
    if "serviceAccountToken" in source:
        yield from _path(source["serviceAccountToken"]["path"], (*route, "serviceAccountToken", "path"))


def _path(path: str, route: Route) -> Faults:
    yield from placed(checks.not_empty(path) or checks.file_name(path), route)


_CONTAINER = FieldChecks(
    {
        "volumeMounts.*.mountPath": checks.not_empty,
        "volumeMounts.*.subPath": checks.if_set(checks.descending),
        "volumeMounts.*.subPathExpr": checks.if_set(checks.descending),
        "volumeMounts.*.mountPropagation": checks.one_of("Bidirectional", "HostToContainer", "None"),
        "volumeMounts.*.recursiveReadOnly": checks.one_of("Disabled", "IfPossible", "Enabled"),
        "volumeDevices.*.devicePath": checks.both(checks.not_empty, checks.no_step_back),
    }
)
_BLOCK = {"persistentVolumeClaim", "ephemeral"}
_INDEPENDENT = {"name", "mountPath", "readOnly", "subPath"}
"""Fields of a mount that are valid with each other."""


@server_rule("mounts", of_pods=True, remedy="Add the volume to the pod, or correct the name of the mount.")
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
        privileged = (container.get("securityContext") or {}).get("privileged")
        if mount.get("mountPropagation") == "Bidirectional" and not privileged:
            hint = "use `HostToContainer`, or set `securityContext.privileged: true`"
            yield Fault((*at, "mountPropagation"), "`Bidirectional` requires a privileged container", hint)
        if mount.get("recursiveReadOnly") in {"Enabled", "IfPossible"}:
            yield from _recursive(mount, at)


def _unknown(name: str, volumes: Body) -> Fault:
    return unknown_name(f"the pod has no volume `{name}`", name, volumes, "add it to `volumes`")


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
