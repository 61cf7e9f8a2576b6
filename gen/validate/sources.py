"""What each kind of volume source needs, in a pod as in a persistent volume: tables for the rules about both.

From the `validate…VolumeSource` functions of `pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gen.validate.forms import (
    absolute,
    between,
    descending,
    dns_label,
    driver_name,
    form,
    given,
    no_step_back,
    not_empty,
    one_of,
)
from gen.validate.tables import Table

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.tables import Faults

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
"""Every kind of source, with the fields that must not be missing or empty."""

_DEVICE = between(0, 255)
_ISCSI_NAME = form(
    r"iqn\.\d{4}-\d{2}\.[-.a-zA-Z0-9]+(?::[^,;*&$|\s]+)|eui.[a-zA-Z0-9]{16}|naa.[a-zA-Z0-9]{32}",
    1 << 10,
    "is no name of an iSCSI target",
)
_PATH_TYPES = ("DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")

_SOURCE = Table(
    {
        "hostPath.path": no_step_back,
        "hostPath.type": one_of("", *_PATH_TYPES),
        "local.path": no_step_back,
        "gitRepo.directory": descending,
        "nfs.path": absolute,
        "gcePersistentDisk.partition": _DEVICE,
        "awsElasticBlockStore.partition": _DEVICE,
        "iscsi.lun": _DEVICE,
        "iscsi.iqn": given(_ISCSI_NAME),
        "iscsi.initiatorName": _ISCSI_NAME,
        "fc.lun": _DEVICE,
        "azureDisk.cachingMode": one_of("None", "ReadOnly", "ReadWrite"),
        "azureDisk.kind": one_of("Shared", "Dedicated", "Managed"),
        "azureFile.secretNamespace": not_empty,
        "csi.driver": given(driver_name),
        "storageos.volumeName": given(dns_label),
        "storageos.volumeNamespace": given(dns_label),
        "glusterfs.endpointsNamespace": dns_label,
    }
)
_RESERVED = re.compile(r"(?:.*\.)?(?:kubernetes|k8s)\.io", re.IGNORECASE)


def sources(holder: Body) -> list[str]:
    """The kinds of source that a volume has."""
    found = [kind for kind in holder if kind in NEEDED]
    return found if len(found) <= 1 else [kind for kind in NEEDED if kind in holder]


def source_faults(holder: Body, route: Route, *, beside: str = "") -> Faults:
    """Faults of the source of a volume, whoever uses it. One kind may stand beside another."""
    found = sources(holder)
    for kind in found[1:] if found[1:] != [beside] else ():
        yield (*route, kind), f"a volume has one source, and `{found[0]}` is here already"
    for kind in found:
        for field in NEEDED[kind]:
            if not_empty(holder[kind].get(field)):
                yield (*route, kind, field), f"`{kind}` needs a `{field}`"
    yield from _SOURCE.faults(holder, route)
    for kind in found:
        fault = _SPECIAL[kind](holder[kind]) if kind in _SPECIAL else None
        if fault is not None:
            yield (*route, kind), fault


def _fibre_channel(source: Body) -> str | None:
    if bool(source.get("targetWWNs")) == bool(source.get("wwids")):
        return "needs either `targetWWNs` or `wwids`"
    return "needs a `lun`" if source.get("targetWWNs") and "lun" not in source else None


def _flocker(source: Body) -> str | None:
    if bool(source.get("datasetName")) == bool(source.get("datasetUUID")):
        return "needs either `datasetName` or `datasetUUID`"
    return "`datasetName` contains `/`" if "/" in source.get("datasetName", "") else None


def _azure_disk(source: Body) -> str | None:
    start = "/subscriptions/" if source.get("kind", "Shared") == "Managed" else "https://"
    return None if source["diskURI"].startswith(start) else f"`diskURI` does not begin with `{start}`"


def _iscsi(source: Body) -> str | None:
    with_password = source.get("chapAuthDiscovery") or source.get("chapAuthSession")
    return "CHAP needs a `secretRef`" if with_password and "secretRef" not in source else None


def _flex_volume(source: Body) -> str | None:
    reserved = [key for key in source.get("options") or {} if _RESERVED.fullmatch(key.split("/", 1)[0])]
    return f"`{reserved[0]}` is in a domain of Kubernetes" if reserved else None


def _quobyte(source: Body) -> str | None:
    pairs = source["registry"].split(",")
    if len(source.get("tenant", "")) > 64:  # noqa: PLR2004 - as the message says
        return "`tenant` is longer than 64 characters"
    return None if all(re.fullmatch(r"[^:]*:[^:]*|\[.*\]:[^:]*", pair) for pair in pairs) else "`registry` has no port"


_SPECIAL = {
    "fc": _fibre_channel,
    "flocker": _flocker,
    "azureDisk": _azure_disk,
    "iscsi": _iscsi,
    "flexVolume": _flex_volume,
    "quobyte": _quobyte,
}
"""What is a matter of several fields."""
