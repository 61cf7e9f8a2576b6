"""Strategic merge, as Kustomize does it, guided by the schema of the object.

The schema says which lists merge by a key (`x-kubernetes-patch-merge-key`). Those of the training kinds refer to
Kubernetes' pod template, so containers, env and volumes merge by name inside them too, where Kustomize replaces the
list. As in Kustomize the entries of the patch come first, null removes a field, and `$patch: delete` and `replace` are
obeyed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gen.kubernetes import Body
from gen.patch.provenance import Provenance, label

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.load import Layer
    from gen.validate.schemas import Schema, Schemas

_DIRECTIVE = "$patch"


@dataclass(slots=True)
class StrategicMerge:
    """Merges one patch into one object; nothing that was given is changed in place."""

    schemas: Schemas
    layer: Layer
    """Where the patch stands."""
    provenance: Provenance

    def apply(self, body: Body, patch: Body) -> Body:
        schema, base = self.schemas.resolve(self.schemas.schema(body["apiVersion"], body["kind"]))
        return self._mapping(body, patch, schema, base, (), ())

    def _mapping(self, old: Body, new: Body, schema: Schema, base: str, at: Route, origin: Route) -> Body:
        merged = {} if new.get(_DIRECTIVE) == "replace" else dict(old)
        for key, value in new.items():
            if key.startswith("$"):
                continue
            here, there = (*at, key), (*origin, key)
            self.provenance.record(here, self.layer, there)
            if value is None:
                merged.pop(key, None)
                continue
            inner, inner_base = self._property(schema, base, key)
            merged[key] = self._value(merged.get(key), value, inner, inner_base, here, there)
        return merged

    def _value(self, old: Any, new: Any, schema: Schema, base: str, at: Route, origin: Route) -> Any:
        if isinstance(new, dict):
            return self._mapping(old if isinstance(old, dict) else {}, new, schema, base, at, origin)
        if isinstance(new, list):
            return self._list(old if isinstance(old, list) else [], new, schema, base, at, origin)
        return new

    def _list(self, old: list[Any], new: list[Any], schema: Schema, base: str, at: Route, origin: Route) -> list[Any]:
        keys = _merge_keys(schema)
        if "merge" not in schema.get("x-kubernetes-patch-strategy", "") or _replaces(new):
            kept = [(i, item) for i, item in enumerate(new) if not _is_directive(item, "replace")]
            return [self._value(None, item, {}, "", (*at, label(item, i)), (*origin, i)) for i, item in kept]
        if not keys:
            return [*new, *(item for item in old if item not in new)]
        inner, inner_base = self.schemas.resolve(schema.get("items", {}), base)
        rest = list(old)
        result: list[Any] = []
        for number, item in enumerate(new):
            position = next((i for i, known in enumerate(rest) if _same(known, item, keys)), None)
            known = None if position is None else rest.pop(position)
            if not _is_directive(item, "delete"):
                here, there = (*at, label(item, number)), (*origin, number)
                result.append(self._value(known, item, inner, inner_base, here, there))
        return result + rest

    def _property(self, schema: Schema, base: str, key: str) -> tuple[Schema, str]:
        inner = schema.get("properties", {}).get(key)
        if inner is None:
            inner = schema.get("additionalProperties")
        return self.schemas.resolve(inner, base) if isinstance(inner, dict) else ({}, base)


def _merge_keys(schema: Schema) -> tuple[str, ...]:
    """The patch merge key, with the list's other keys where the API server tells entries apart by more than one."""
    key = schema.get("x-kubernetes-patch-merge-key")
    others = schema.get("x-kubernetes-list-map-keys", ())
    return () if key is None else (key, *(other for other in others if other != key)) if key in others else (key,)


def _same(known: Any, item: Any, keys: tuple[str, ...]) -> bool:
    if not isinstance(known, dict) or not isinstance(item, dict) or keys[0] not in item:
        return False
    return all(known.get(key, _DEFAULTS.get(key)) == item.get(key, _DEFAULTS.get(key)) for key in keys)


_DEFAULTS = {"protocol": "TCP"}


def _is_directive(item: Any, word: str) -> bool:
    return isinstance(item, dict) and item.get(_DIRECTIVE) == word


def _replaces(items: list[Any]) -> bool:
    return any(_is_directive(item, "replace") for item in items)
