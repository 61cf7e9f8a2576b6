"""Strategic merge, as Kustomize does it, guided by the schema of the object.

Schemas define which lists merge by a key (`x-kubernetes-patch-merge-key`). Schemas of training kinds refer to the pod
template of Kubernetes, so containers, env and volumes merge by name in them too, where Kustomize replaces the list. A
kind that is only defined in an overlay's `crds/` has no schema with merge keys: the facts of the kind lead to its pod
templates, with the merge keys of Kubernetes.

As in Kustomize, entries of the patch come first, null removes a field, and `$patch: delete` and `replace` are
supported. `gen.overlay.patch` validates the directives themselves.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from gen.base import BugError, Route, follow
from gen.base.yaml.layers import Layer
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.base import ANY_ITEM, ANY_KEY, Pattern
from gen.kubernetes.objects import Body
from gen.kubernetes.schemas.kubernetes import POD_TEMPLATE, reference
from gen.kubernetes.schemas.registry import Schema, Schemas
from gen.overlay.patch import directive
from gen.render.patch.provenance import Provenance, label, named_route


def merge_schema(schemas: Schemas, body: Body) -> Schema:
    """The resolved schema of an object."""
    try:
        return schemas.resolve(schemas.schema(body["apiVersion"], body["kind"]))
    except BugError:
        resource = resource_of_object(body["apiVersion"], body["kind"])
    schema: Schema = {}
    for pods in resource.pods if resource is not None else ():
        _add(schema, pods.template)
    return schema


def _add(schema: Schema, pattern: Pattern) -> None:
    """Add the pod template at the end of a pattern to a schema."""
    for step in pattern:
        if step is ANY_KEY:
            schema = schema.setdefault("additionalProperties", {})
        elif step is ANY_ITEM:
            schema = schema.setdefault("items", {})
        else:
            schema = schema.setdefault("properties", {}).setdefault(step, {})
    schema.update(reference(POD_TEMPLATE))


class StrategicMerge(Struct):
    """Merges one patch into one object, without changing either in place."""

    schemas: Schemas
    layer: Layer
    """The patch file, or the overlay with the patch."""
    provenance: Provenance
    problems: list[tuple[Route, str, str]] = []
    """Routes in the patch to entries that cannot be applied to this object, with message and hint."""
    deletions: list[tuple[Route, str]] = []
    """Routes in the patch to mappings with `$patch: delete`, with a hint if they deleted nothing."""

    def apply(self, body: Body, patch: Body) -> Body:
        schema = merge_schema(self.schemas, body)
        return self._mapping(body, patch, schema, (), ())

    def apply_to_pods(self, body: Body, patch: Body, route: Route) -> Body:
        """The object with the patch merged into the pod template at a route."""
        schema = self.schemas.resolve(reference(POD_TEMPLATE))
        template = self._mapping(follow(body, route), patch, schema, named_route(body, route), ())
        replaced: Body = _replaced(body, route, template)
        return replaced

    def _mapping(self, old: Body, new: Body, schema: Schema, at: Route, origin: Route) -> Body:
        merged = {} if directive(new) == "replace" else dict(old)
        for key, value in new.items():
            if key.startswith("$"):
                continue
            here, there = (*at, key), (*origin, key)
            self.provenance.record(here, self.layer, there)
            if directive(value) == "delete":
                self.deletions.append((there, "" if key in merged else f"remove the directive: `{key}` is not set"))
            if value is None or directive(value) == "delete":
                merged.pop(key, None)
                continue
            inner = self._property(schema, key)
            merged[key] = self._value(merged.get(key), value, inner, here, there)
        return merged

    def _value(self, old: object, new: object, schema: Schema, at: Route, origin: Route) -> Any:
        if isinstance(new, dict):
            return self._mapping(old if isinstance(old, dict) else {}, new, schema, at, origin)
        if isinstance(new, list):
            return self._list(old if isinstance(old, list) else [], new, schema, at, origin)
        return new

    def _list(self, old: list[object], new: list[object], schema: Schema, at: Route, origin: Route) -> list[object]:
        keys = _merge_keys(schema)
        merges = "merge" in schema.get("x-kubernetes-patch-strategy", "")
        self._check_entries(new, keys if merges else (), origin)
        if not merges or any(directive(item) == "replace" for item in new):
            kept = [(i, item) for i, item in enumerate(new) if not _is_marker(item) and directive(item) != "delete"]
            return [self._value(None, item, {}, (*at, label(item, i)), (*origin, i)) for i, item in kept]
        if not keys:
            return [*new, *(item for item in old if item not in new)]
        inner = self.schemas.resolve(schema.get("items", {}))
        rest = self._without_deleted(old, new, keys, at, origin)
        result: list[object] = []
        for number, item in enumerate(new):
            if directive(item) == "delete" or _is_marker(item):
                continue
            position = next((i for i, known in enumerate(rest) if _same(known, item, keys)), None)
            known = None if position is None else rest.pop(position)
            result.append(self._value(known, item, inner, (*at, label(item, number)), (*origin, number)))
        return result + rest

    def _without_deleted(
        self, old: list[Any], new: list[Any], keys: tuple[str, ...], at: Route, origin: Route
    ) -> list[Any]:
        """The entries that the patch does not delete. It deletes before it adds, as the API server does."""
        rest = old
        for number, item in enumerate(new):
            if directive(item) != "delete" or keys[0] not in item:
                continue
            kept = [known for known in rest if not _same(known, item, keys)]
            hint = "" if len(kept) < len(rest) else _reason(rest, item, keys)
            self.provenance.record((*at, label(item, number)), self.layer, (*origin, number))
            self.deletions.append(((*origin, number), hint))
            rest = kept
        return list(rest)

    def _check_entries(self, new: list[Any], keys: tuple[str, ...], origin: Route) -> None:
        """Report directives without effect, and entries that merge with nothing or twice; `keys` if entries merge."""
        seen: list[Body] = []
        for number, item in enumerate(new):
            word, route = directive(item), (*origin, number)
            if word == "delete" and not (keys and keys[0] in item):
                what = f"the entry has no `{keys[0]}`" if keys else "entries of this list have no key"
                hint = f"add `{keys[0]}`" if keys else "give the whole list, or use a JSON 6902 patch"
                self.problems.append((route, f"`$patch: delete` deletes nothing: {what}", hint))
            elif _is_marker(item):
                if word == "merge" and not keys:
                    hint = "give the whole list, or use a JSON 6902 patch"
                    message = "`$patch: merge` merges nothing: entries of this list have no key"
                    self.problems.append((route, message, hint))
            elif keys and isinstance(item, dict) and word != "delete":
                if keys[0] not in item:
                    hint = f"add `{keys[0]}`"
                    self.problems.append((route, f"entries of this list merge by `{keys[0]}`, which is missing", hint))
                elif any(_same(one, item, keys) for one in seen):
                    message = f"duplicate entry with `{keys[0]}: {item[keys[0]]}`"
                    self.problems.append((route, message, "combine the two entries"))
                seen.append(item)

    def _property(self, schema: Schema, key: str) -> Schema:
        inner = schema.get("properties", {}).get(key)
        if inner is None:
            inner = schema.get("additionalProperties")
        return self.schemas.resolve(inner) if isinstance(inner, dict) else {}


def _replaced(holder: Any, route: Route, value: Any) -> Any:
    """A copy with another value at a route that exists."""
    if not route:
        return value
    copy: Any = dict(holder) if isinstance(holder, dict) else list(holder)
    copy[route[0]] = _replaced(holder[route[0]], route[1:], value)
    return copy


def _merge_keys(schema: Schema) -> tuple[str, ...]:
    """The patch merge key, and the other keys if the API server identifies entries of the list by several."""
    key = schema.get("x-kubernetes-patch-merge-key")
    others = schema.get("x-kubernetes-list-map-keys", ())
    return () if key is None else (key, *(other for other in others if other != key)) if key in others else (key,)


def _is_marker(item: Any) -> bool:
    """Whether an entry only has a directive, which is about the list and not about an entry of it."""
    return directive(item) in ("merge", "replace") and len(item) == 1


def _same(known: Any, item: Any, keys: tuple[str, ...]) -> bool:
    both = isinstance(known, dict) and isinstance(item, dict)
    return both and keys[0] in item and not _different(known, item, keys)


def _different(known: Body, item: Body, keys: tuple[str, ...]) -> list[str]:
    """The keys that differ between two entries."""
    return [key for key in keys if known.get(key, _DEFAULTS.get(key)) != item.get(key, _DEFAULTS.get(key))]


def _reason(known: list[object], item: Body, keys: tuple[str, ...]) -> str:
    """Hint for a deletion without a match: the other keys of an entry that has the same first key."""
    for one in known:
        if isinstance(one, dict) and keys[0] not in (different := _different(one, item, keys)) and different:
            pairs = ", ".join(f"`{key}: {one.get(key, _DEFAULTS.get(key))}`" for key in different)
            return f"entries are identified by {_listed(keys)}; the patched object has an entry with {pairs}"
    return f"correct the entry, or remove it; entries are identified by {_listed(keys)}"


def _listed(keys: tuple[str, ...]) -> str:
    return " and ".join(f"`{key}`" for key in keys)


_DEFAULTS = {"protocol": "TCP"}
