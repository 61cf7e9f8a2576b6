"""Strategic merge, as Kustomize does it, guided by the schema of the object.

Schemas define which lists merge by a key (`x-kubernetes-patch-merge-key`). Schemas of training kinds refer to the pod
template of Kubernetes, so containers, env and volumes merge by name in them too, where Kustomize replaces the list. As
in Kustomize, entries of the patch come first, null removes a field, and `$patch: delete` and `replace` are supported.
`gen.overlay.patches.directives` validates the directives themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gen.kubernetes import Body
from gen.overlay.patches.directives import directive
from gen.render.patch.merge_schema import merge_schema
from gen.render.patch.provenance import Provenance, label

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.load import Layer
    from gen.schemas.registry import Schema, Schemas


@dataclass(slots=True)
class StrategicMerge:
    """Merges one patch into one object, without changing either in place."""

    schemas: Schemas
    layer: Layer
    """The patch file, or the overlay with the patch."""
    provenance: Provenance
    problems: list[tuple[Route, str, str]] = field(default_factory=list)
    """Routes in the patch to entries that cannot be deleted, with message and hint."""

    def apply(self, body: Body, patch: Body) -> Body:
        schema, base = merge_schema(self.schemas, body)
        return self._mapping(body, patch, schema, base, (), ())

    def _mapping(self, old: Body, new: Body, schema: Schema, base: str, at: Route, origin: Route) -> Body:
        merged = {} if directive(new) == "replace" else dict(old)
        for key, value in new.items():
            if key.startswith("$"):
                continue
            here, there = (*at, key), (*origin, key)
            self.provenance.record(here, self.layer, there)
            if value is None or directive(value) == "delete":
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
        merges = "merge" in schema.get("x-kubernetes-patch-strategy", "")
        self._judge_deletions(new, keys if merges else (), origin)
        if not merges or any(directive(item) == "replace" for item in new):
            kept = [(i, item) for i, item in enumerate(new) if directive(item) is None]
            return [self._value(None, item, {}, "", (*at, label(item, i)), (*origin, i)) for i, item in kept]
        if not keys:
            return [*new, *(item for item in old if item not in new)]
        inner, inner_base = self.schemas.resolve(schema.get("items", {}), base)
        rest = list(old)
        result: list[Any] = []
        for number, item in enumerate(new):
            position = next((i for i, known in enumerate(rest) if _same(known, item, keys)), None)
            known = None if position is None else rest.pop(position)
            here, there = (*at, label(item, number)), (*origin, number)
            if directive(item) == "delete":
                self.provenance.record(here, self.layer, there)
            else:
                result.append(self._value(known, item, inner, inner_base, here, there))
        return result + rest

    def _judge_deletions(self, new: list[Any], keys: tuple[str, ...], origin: Route) -> None:
        for number, item in enumerate(new):
            if directive(item) == "delete" and not (keys and keys[0] in item):
                what = f"the entry has no `{keys[0]}`" if keys else "entries of this list have no key"
                hint = f"add `{keys[0]}`" if keys else "give the whole list, or use a JSON 6902 patch"
                self.problems.append(((*origin, number), f"`$patch: delete` deletes nothing: {what}", hint))

    def _property(self, schema: Schema, base: str, key: str) -> tuple[Schema, str]:
        inner = schema.get("properties", {}).get(key)
        if inner is None:
            inner = schema.get("additionalProperties")
        return self.schemas.resolve(inner, base) if isinstance(inner, dict) else ({}, base)


def _merge_keys(schema: Schema) -> tuple[str, ...]:
    """The patch merge key, and the other keys of a list whose entries the API server identifies by several."""
    key = schema.get("x-kubernetes-patch-merge-key")
    others = schema.get("x-kubernetes-list-map-keys", ())
    return () if key is None else (key, *(other for other in others if other != key)) if key in others else (key,)


def _same(known: Any, item: Any, keys: tuple[str, ...]) -> bool:
    if not isinstance(known, dict) or not isinstance(item, dict) or keys[0] not in item:
        return False
    return all(known.get(key, _DEFAULTS.get(key)) == item.get(key, _DEFAULTS.get(key)) for key in keys)


_DEFAULTS = {"protocol": "TCP"}
