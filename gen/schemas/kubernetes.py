"""Definitions of the types of Kubernetes, as data from kubernetes-validate. Its strict form is closed.

Each definition is decoded when it is first used: the objects of a job need a sixth of them. `validate()` of that
package is not used, because it reads 2 MB of JSON for each object.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Raw, Struct, field
from msgspec.json import decode

from gen.regex import regex
from gen.schemas.bounds import OF_KUBERNETES, with_bounds
from gen.schemas.optional_fields import drop_requirements
from gen.schemas.times import add_time_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
