"""Sizes that the schema of a definition allows.

From `SchemaDeclType` of `apiserver/pkg/cel/common/schemas.go`, with the sizes of `apiserver/pkg/cel/limits.go`, and
from `EstimateSize` and `maxCardinality` of `apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_REQUEST: Final = 3 << 20
"""Bytes of a request (`MaxRequestSizeBytes` of `apiserver/pkg/apis/cel/config.go`)."""
_MAX_TEXT: Final = MAX_REQUEST - 2
"""Without quotes."""
_BYTES_OF_CHARACTER: Final = 4
_EMPTY: Final = 2
"""Bytes of `""`, `[]` and `{}`."""
_AROUND_FIELD: Final = 4
"""Bytes of quotes, a colon and a comma."""
_AROUND_ENTRY: Final = 6
"""The same, with the shortest key."""
_SCALARS: Final = {"boolean": 4, "number": 1, "integer": 1}
"""Fewest bytes."""
_TIMES: Final = {"duration": (3, 32), "date": (12, 12), "date-time": (21, 32)}
"""Fewest bytes, and most characters."""
_METADATA: Final = ("name", "generateName")


class Declared(Struct):
    """The sizes of a value."""

    least: int
    """Fewest bytes of its JSON."""
    most: int = 0
    """Most characters, items or entries."""
    missing: str = ""
    """The field that limits it, if the schema does not have it."""
    fields: Mapping[str, Declared] | None = None
    keys: Declared | None = None
    entries: Declared | None = None

    def at(self, route: tuple[str, ...]) -> Declared | None:
        """The sizes of a value below; None for one that the schema does not declare."""
        found: Declared | None = self
        for step in route:
            if found is None:
                return None
            if step in {"@items", "@values"}:
                found = found.entries
            elif step == "@keys":
                found = found.keys
            else:
                found = (found.fields or {}).get(step)
        return found

    @property
    def most_in_request(self) -> int:
        """How often a request can contain the value, each with a comma (`maxCardinality`)."""
        return MAX_REQUEST // (self.least + 1)


def declared_sizes(schema: Any, *, root: bool = False) -> Declared | None:
    """The sizes of the values of a schema; None if no rule can use them. `root` is for the schema of a whole object."""
    if not isinstance(schema, dict) or schema.get("x-kubernetes-int-or-string"):
        return _text(schema, least=1) if isinstance(schema, dict) else None
    kind, values = schema.get("type"), schema.get("additionalProperties")
    if kind == "array":
        return _collection(schema, _inner(schema.get("items")), "maxItems", around=1)
    if kind == "object" and isinstance(values, dict):
        return _collection(schema, _inner(values), "maxProperties", around=_AROUND_ENTRY)
    if kind == "object":
        return _object(schema, root=root)
    if kind == "string":
        return _string(schema)
    return Declared(_SCALARS[kind]) if kind in _SCALARS else None


def _inner(schema: Any) -> Declared | None:
    return declared_sizes(schema, root=isinstance(schema, dict) and bool(schema.get("x-kubernetes-embedded-resource")))


def _limit(schema: Mapping[str, Any], field: str) -> int | None:
    value = schema.get(field)
    return max(value, 0) if isinstance(value, int) else None


def _words(schema: Mapping[str, Any], field: str) -> list[str]:
    value = schema.get(field)
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _collection(schema: Mapping[str, Any], entries: Declared | None, field: str, around: int) -> Declared | None:
    if entries is None:
        return None
    limit = _limit(schema, field)
    most = limit if limit is not None else (MAX_REQUEST - _EMPTY) // (entries.least + around)
    keys = Declared(_EMPTY) if field == "maxProperties" else None
    return Declared(_EMPTY, most, field if limit is None else "", keys=keys, entries=entries)


def _string(schema: Mapping[str, Any]) -> Declared:
    name = schema.get("format")
    if name in _TIMES:
        return Declared(*_TIMES[name])
    if name == "byte" and (limit := _limit(schema, "maxLength")) is not None:
        return Declared(_EMPTY, limit)
    if schema.get("enum") and name != "byte" and _limit(schema, "maxLength") is None:
        return Declared(_EMPTY, max((len(word.encode()) for word in _words(schema, "enum")), default=0))
    return _text(schema, least=_EMPTY)


def _text(schema: Mapping[str, Any], least: int) -> Declared:
    limit = _limit(schema, "maxLength")
    most = limit * _BYTES_OF_CHARACTER if limit is not None else _MAX_TEXT
    return Declared(least, most, "maxLength" if limit is None else "")


def _object(schema: Mapping[str, Any], *, root: bool) -> Declared:
    properties = schema.get("properties") or {}
    fields = {name: found for name, inner in properties.items() if (found := _inner(inner)) is not None}
    required = set(_words(schema, "required"))
    if root and not _has_metadata(properties):
        name = Declared(_EMPTY, _MAX_TEXT)
        metadata = Declared(_EMPTY, fields=dict.fromkeys(_METADATA, name))
        own: dict[str, Declared] = {"apiVersion": name, "kind": name, "metadata": metadata}
        fields |= own
        properties = {field: inner for field, inner in properties.items() if field not in own}
    needed = {name for name in required & fields.keys() if (properties.get(name) or {}).get("default") is None}
    least = _EMPTY + sum(len(name.encode()) + fields[name].least + _AROUND_FIELD for name in needed)
    return Declared(least, fields=fields)


def _has_metadata(properties: Mapping[str, Any]) -> bool:
    """Whether a schema itself declares what all objects have; otherwise, all of it is replaced."""

    def kind(holder: Any, name: str) -> Any:
        inner = (holder or {}).get(name)
        return inner.get("type") if isinstance(inner, dict) else None

    if not (kind(properties, "kind") == kind(properties, "apiVersion") == "string"):
        return False
    inner = properties["metadata"].get("properties") if kind(properties, "metadata") == "object" else None
    return all(kind(inner, name) == "string" for name in _METADATA)
