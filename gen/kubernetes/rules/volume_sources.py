"""Required and valid fields of each volume source, for pods and for persistent volumes.

From the `validate…VolumeSource` functions of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from gen.base import Route, regex
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.field_checks import FieldChecks

NEEDED: Final[dict[str, tuple[str, ...]]] = {
    "emptyDir": (),
    "hostPath": ("path",),
    "gitRepo": ("repository",),
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
    "secret": ("secretName",),
    "nfs": ("server", "path"),
    "iscsi": ("targetPortal", "iqn"),
    "glusterfs": ("endpoints", "path"),
    "flocker": (),
    "persistentVolumeClaim": ("claimName",),
    "rbd": ("monitors", "image"),
    "cinder": ("volumeID",),
    "cephfs": ("monitors",),
    "quobyte": ("registry", "volume"),
    "downwardAPI": (),
    "fc": (),
    "flexVolume": ("driver",),
    "configMap": ("name",),
    "azureFile": ("secretName", "shareName"),
    "vsphereVolume": ("volumePath",),
    "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",),
    "azureDisk": ("diskName", "diskURI"),
    "storageos": ("volumeName",),
    "projected": (),
    "scaleIO": ("gateway", "system", "volumeName"),
    "csi": ("driver",),
    "ephemeral": ("volumeClaimTemplate",),
    "image": (),
    "local": ("path",),
}
"""Every volume source with its required fields, which must not be empty."""

_MEANT: Final = {
    "secretName": "the name of a secret",
    "claimName": "the name of a claim",
    "name": "the name of a config map",
    "driver": "the name of a driver",
    "server": "the name or address of a server",
    "monitors": "the addresses of the monitors",
}
"""Values that hints suggest for some required fields."""

_MAX_TENANT_LENGTH = 64

_DEVICE = checks.between(0, 255)
_ISCSI_NAME = regex(r"iqn\.\d{4}-\d{2}\.[-.a-zA-Z0-9]+(?::[^,;*&$|\s]+)|eui.[a-zA-Z0-9]{16}|naa.[a-zA-Z0-9]{32}")
_MAX_ISCSI_NAME_LENGTH = 1 << 10


def _iscsi_name(value: Any) -> Fault | None:
    if len(value) <= _MAX_ISCSI_NAME_LENGTH and _ISCSI_NAME.fullmatch(value):
        return None
    return Fault(
        (), f"`{value}` is not a valid iSCSI target name", "use a name such as `iqn.2001-04.com.example:disk1`"
    )


_PATH_TYPES = ("DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")

SOURCE_CHECKS: Final[dict[str, Check]] = {
    "hostPath.path": checks.no_step_back,
    "hostPath.type": checks.one_of("", *_PATH_TYPES),
    "local.path": checks.no_step_back,
    "gitRepo.directory": checks.descending,
    "nfs.path": checks.absolute,
    "gcePersistentDisk.partition": _DEVICE,
    "awsElasticBlockStore.partition": _DEVICE,
    "iscsi.lun": _DEVICE,
    "iscsi.iqn": checks.if_set(_iscsi_name),
    "iscsi.initiatorName": _iscsi_name,
    "fc.lun": _DEVICE,
    "azureDisk.cachingMode": checks.one_of("None", "ReadOnly", "ReadWrite"),
    "azureDisk.kind": checks.one_of("Shared", "Dedicated", "Managed"),
    "azureFile.secretNamespace": checks.not_empty,
    "csi.driver": checks.if_set(checks.driver_name),
    "storageos.volumeName": checks.if_set(checks.dns_label),
    "storageos.volumeNamespace": checks.if_set(checks.dns_label),
    "glusterfs.endpointsNamespace": checks.dns_label,
}
_SOURCE = FieldChecks(SOURCE_CHECKS)

_RESERVED = regex(r"(?:.*\.)?(?:kubernetes|k8s)\.io", re.IGNORECASE)


def sources(holder: Body) -> list[str]:
    """The volume sources that a volume has."""
    found = [kind for kind in holder if kind in NEEDED]
    return found if len(found) <= 1 else [kind for kind in NEEDED if kind in holder]


def source_faults(holder: Body, route: Route, *, fields: FieldChecks = _SOURCE, beside: str = "") -> Faults:
    """Faults of the source of a volume. `fields` has the `SOURCE_CHECKS` and checks of other fields.

    `beside` is a source that is allowed as a second one.
    """
    found = sources(holder)
    second = found[1:]
    for kind in second if second != [beside] else ():
        message = f"a volume has only one source, and `{found[0]}` is already set"
        yield Fault((*route, kind), message, f"remove `{kind}` or `{found[0]}`")
    for kind in found:
        for field in NEEDED[kind]:
            if not holder[kind].get(field):
                hint = f"set `{field}` to {_MEANT.get(field, 'a value')}"
                yield Fault((*route, kind, field), f"`{kind}` requires `{field}`", hint)
    yield from fields.faults(holder, route)
    for kind in found:
        if kind in _SPECIAL and (fault := _SPECIAL[kind](holder[kind])) is not None:
            yield fault.at((*route, kind))


def named_secret(reference: Any) -> Fault | None:
    """A check of a reference to a secret."""
    return None if reference.get("name") else Fault((), "`name` is missing", "set `name` to the name of a secret")


def one_of_two(first: str, second: str, *, both: bool) -> Fault:
    """The fault of a mapping that has both or neither of two exclusive fields."""
    return Fault(
        (),
        f"exactly one of `{first}` and `{second}` is required",
        f"{'remove' if both else 'add'} `{first}` or `{second}`",
    )


def _either(source: Body, first: str, second: str) -> Fault | None:
    both = bool(source.get(first))
    return one_of_two(first, second, both=both) if both == bool(source.get(second)) else None


def _fibre_channel(source: Body) -> Fault | None:
    if (fault := _either(source, "targetWWNs", "wwids")) is not None:
        return fault
    if source.get("targetWWNs") and "lun" not in source:
        return Fault((), "`targetWWNs` requires `lun`", "add `lun`, a number from 0 to 255")
    return None


def _flocker(source: Body) -> Fault | None:
    if (fault := _either(source, "datasetName", "datasetUUID")) is not None:
        return fault
    if "/" in source.get("datasetName", ""):
        return Fault((), "`datasetName` contains `/`", "use a name without `/`")
    return None


def _azure_disk(source: Body) -> Fault | None:
    uri, managed = source["diskURI"], source.get("kind", "Shared") == "Managed"
    start = "/subscriptions/" if managed else "https://"
    if uri.startswith(start):
        return None
    hint = "use the resource id of the disk" if managed else "use the URL of the blob"
    if not managed and uri.startswith("/subscriptions/"):
        hint = "set `kind: Managed`"
    return Fault((), f"`diskURI` does not begin with `{start}`", hint)


def _iscsi(source: Body) -> Fault | None:
    with_password = source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    if with_password and "secretRef" not in source:
        return Fault((), "CHAP requires `secretRef`", "add `secretRef` with the `name` of a secret")
    return None


def _flex_volume(source: Body) -> Fault | None:
    reserved = [key for key in source.get("options") or {} if _RESERVED.fullmatch(key.split("/", 1)[0])]
    return (
        Fault((), f"`{reserved[0]}` is in a domain reserved for Kubernetes", "use a key in another domain")
        if reserved
        else None
    )


def _quobyte(source: Body) -> Fault | None:
    pairs = source["registry"].split(",")
    excess = len(source.get("tenant", "")) - _MAX_TENANT_LENGTH
    if excess > 0:
        return Fault((), f"`tenant` is longer than {_MAX_TENANT_LENGTH} characters", f"shorten it by {excess}")
    if all(re.fullmatch(r"[^:]*:[^:]*|\[.*\]:[^:]*", pair) for pair in pairs):
        return None
    return Fault((), "`registry` has no port", "use `host:port`, such as `quobyte:7861`, separated by `,`")


_SPECIAL = {
    "fc": _fibre_channel,
    "flocker": _flocker,
    "azureDisk": _azure_disk,
    "iscsi": _iscsi,
    "flexVolume": _flex_volume,
    "quobyte": _quobyte,
}
"""Checks of several fields of a volume source together."""
