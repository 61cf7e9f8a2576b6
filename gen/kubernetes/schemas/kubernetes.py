"""Definitions of the types of Kubernetes, as data from kubernetes-validate. Its strict form is closed.

Each definition is decoded when it is first used: the objects of a job need a sixth of them. `validate()` of that
package is not used, because it reads 2 MB of JSON for each object.

Published schemas differ from API servers: some fields are required that Go decodes as empty values, which servers
accept (`tests/e2e/test_optional_fields.py`); validators ignore the bounds of number formats; and times are as
`UnmarshalJSON` of `apimachinery/pkg/apis/meta/v1/time.go` and `micro_time.go` parse them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

import orjson
from msgspec import Raw, Struct, field
from msgspec.json import decode

from gen.base import regex

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


OF_KUBERNETES: Final = {"int32": 2**31, "int64": 2**63}
OF_DEFINITIONS: Final = {"int32": 2**63, "int64": 2**63}
"""The API server only limits the numbers of definitions to 64 bits."""


def with_bounds(schema: bytes, bounds: dict[str, int]) -> bytes:
    """The text of a schema, with a minimum and a maximum for each format in `bounds`."""
    for word, bound in bounds.items():
        written = f'"format": "{word}"'
        schema = schema.replace(written.encode(), f'{written}, "minimum": {-bound}, "maximum": {bound - 1}'.encode())
    return schema


_DATE = "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_ZONE = "(?:Z|[-+][0-9]{2}:[0-9]{2})"
_TYPES: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."

TIMES: Final[dict[str, str]] = {
    f"^{_DATE}T{_CLOCK}(?:[.,][0-9]+)?{_ZONE}$": "2025-01-31T12:00:00Z",
    f"^{_DATE}T{_CLOCK}[.,][0-9]{{6}}{_ZONE}$": "2025-01-31T12:00:00.000000Z",
}
"""Patterns of `Time` and `MicroTime`, each with an example."""

_PATTERNS: Final = {f"{_TYPES}{name}": pattern for name, pattern in zip(("Time", "MicroTime"), TIMES, strict=True)}


def add_time_pattern(name: str, definition: dict[str, Any]) -> None:
    """Add its pattern to the definition of a time, in place."""
    if name in _PATTERNS:
        definition["pattern"] = _PATTERNS[name]


_BYTES: Final = {"io.k8s.api.core.v1.Secret": "data", "io.k8s.api.core.v1.ConfigMap": "binaryData"}
"""Mappings with values in base64, or lists of bytes: Go reads both into `[]byte`."""


def allow_bytes(name: str, definition: dict[str, Any]) -> None:
    """Allow lists of bytes, in place."""
    if name in _BYTES:
        values = {"type": ["string", "array"], "items": {"type": "integer", "minimum": 0, "maximum": 255}}
        definition["properties"][_BYTES[name]]["additionalProperties"] = values


DEFINITIONS = "https://kubernetes.io/api/_definitions.json"
POD_TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec"
_LOCAL = regex(r'"#/\$defs/([^"]+)"')
_FOREIGN = regex(rf'"{DEFINITIONS}#/\$defs/([^"]+)"')


def reference(name: str) -> dict[str, Any]:
    """The schema of a type of Kubernetes."""
    return {"$ref": f"{DEFINITIONS}#/$defs/{name}"}


def referred(schema: dict[str, Any]) -> set[str]:
    """Names of the types of Kubernetes that a schema refers to directly."""
    return set(_FOREIGN.findall(orjson.dumps(schema).decode()))


class _Document(Struct):
    definitions: dict[str, Raw] = field(name="$defs")


class _GroupVersionKind(Struct):
    group: str
    version: str
    kind: str


class _Head(Struct):
    kinds: tuple[_GroupVersionKind, ...] = field(name="x-kubernetes-group-version-kind", default=())


class _Heads(Struct):
    definitions: dict[str, _Head] = field(name="$defs")


class KubernetesTypes(Mapping[str, dict[str, Any]]):
    """The definitions of one minor version, by their names. `text` is the JSON of all."""

    def __init__(self, text: bytes, minor: int) -> None:
        self._text = text
        self._minor = minor
        self._decoded: dict[str, dict[str, Any]] = {}

    def __getitem__(self, name: str) -> dict[str, Any]:
        if name not in self._decoded:
            definition = orjson.loads(with_bounds(bytes(self._raw[name]), OF_KUBERNETES))
            drop_requirements(name, definition, self._minor)
            add_time_pattern(name, definition)
            allow_bytes(name, definition)
            self._decoded[name] = definition
        return self._decoded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def name_of(self, api_version: str, kind: str) -> str | None:
        """Name of the definition of a kind; None without one."""
        group, _, version = api_version.rpartition("/")
        if "." in group and not group.endswith(".k8s.io"):  # such groups are not Kubernetes' own
            return None
        if api_version.startswith("/"):  # another text for a version of the core group
            return None
        usual = f"io.k8s.api.{group.partition('.')[0] or 'core'}.{version}.{kind}"
        if (raw := self._raw.get(usual)) is not None:  # a tenth of the time of reading all kinds
            return usual if _GroupVersionKind(group, version, kind) in decode(raw, type=_Head).kinds else None
        return self.kinds.get((api_version, kind))

    @cached_property
    def kinds(self) -> dict[tuple[str, str], str]:
        """Name of the definition of each API version and kind."""
        return {
            (f"{one.group}/{one.version}" if one.group else one.version, one.kind): name
            for name, head in decode(self._text, type=_Heads).definitions.items()
            for one in head.kinds
        }

    def reachable(self, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """These definitions and all that they refer to."""
        found: dict[str, dict[str, Any]] = {}
        todo = list(names)
        while todo:
            if (name := todo.pop()) not in found:
                found[name] = self[name]
                todo += _LOCAL.findall(bytes(self._raw[name]).decode())
        return found

    @cached_property
    def _raw(self) -> dict[str, Raw]:
        return decode(self._text, type=_Document).definitions
