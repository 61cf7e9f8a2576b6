"""Changes of an object, made from its schema: each field in turn, with values at and beyond its limits.

The schema has the fields and their types, but mostly not their valid values, so a server refuses about half of the
changed objects.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from gen.kubernetes.objects import Body
    from gen.kubernetes.schemas.registry import Schema, Schemas

Path = tuple[str | int, ...]

_TEXTS = ("", "a", "a.b", "A B", "a-", "a/b", "/a", "../a", "1", "example.com/a", "x" * 64)
_NUMBERS = (-1, 0, 1, 2, 101, 256, 512, 65536, 2**31 - 1, 2**31, 2**63)
_QUANTITIES = ("1", "0", "-1", "1.5", "1Gi", "1 x", 2)
_WORD = re.compile(r"[\"'`]([A-Z][A-Za-z]+)[\"'`]|\b([A-Z][a-z]+(?:[A-Z][a-z]+)+)\b")
_MOST_WORDS = 8

_USUAL: dict[str, Any] = {
    "containerPort": 80,
    "port": 80,
    "hostPort": 80,
    "number": 80,
    "maxSkew": 1,
    "weight": 1,
    "whenUnsatisfiable": "DoNotSchedule",
    "operator": "Exists",
    "topologyKey": "a",
    "fieldPath": "metadata.name",
    "resource": "limits.cpu",
    "devicePath": "/dev/a",
    "mountPath": "/mnt/a",
    "claimName": "a",
    "ip": "10.0.0.1",
    "conditionType": "a",
    "action": "Count",
    "values": [1],
    "accessModes": ["ReadWriteOnce"],
    "storage": "1Gi",
    "pathType": "Prefix",
    "resourceName": "cpu",
    "restartPolicy": "NotRequired",
    "apiVersion": "v1",
    "expirationSeconds": 3600,
    "protocol": "TCP",
    "sizeBytes": 1,
    "command": ["true"],
    "nodeSelectorTerms": [{}],
    "iqn": "iqn.2001-04.com.example:storage",
    "registry": "a:1",
    "diskURI": "https://a/b.vhd",
}
"""Value of another field that is required with the mutated one."""

_LEFT_ALONE = {("metadata", "namespace"), ("apiVersion",), ("kind",)}
"""Which namespaces and kinds there are is the cluster's matter."""

_USUAL_PATHS = {"nfs": "/a", "hostPath": "/a", "httpGet": "/a", "paths": "/a", "local": "/a"}
_BUILT = {"limits", "requests", "capacity", "overhead", "hard"}


@dataclass(frozen=True, slots=True)
class Mutator:
    """Knows the schemas of one Kubernetes version."""

    schemas: Schemas

    def paths(self, schema: Schema, value: Any, path: Path = (), seen: tuple[str, ...] = ()) -> Iterator[Path]:
        """Every field below; one entry of a list, and the keys of mappings in the value."""
        reference = schema.get("$ref", "")
        if reference in seen:
            return
        schema = self.schemas.resolve(schema)
        if path:
            yield path
        inside = (*seen, reference) if reference else seen
        given = value if isinstance(value, dict) else {}
        for name, inner in schema.get("properties", {}).items():
            yield from self.paths(inner, given.get(name), (*path, name), inside)
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict) and "properties" not in schema:
            for name in given:
                yield from self.paths(extra, given[name], (*path, name), inside)
        if "items" in schema and "properties" in self.schemas.resolve(schema["items"]):
            first = value[0] if isinstance(value, list) and value else None
            yield from self.paths(schema["items"], first, (*path, 0), inside)

    def changed(self, body: Body, root: Schema, path: Path, value: Any) -> Body:
        """A copy with the value at the path, and what else has to be there on the way."""
        copied = copy.deepcopy(body)
        holder: Any = copied
        schema = self.schemas.resolve(root)
        for position, step in enumerate(path):
            inner = self._inner(schema, step)
            last = position == len(path) - 1
            if isinstance(step, int):
                if not holder:
                    holder.append(self.sample(inner, path[: position + 1]))
            elif last or step not in holder:
                holder[step] = value if last else self.sample(inner, path[: position + 1])
            holder, schema = holder[step], inner
        return copied

    def sample(self, schema: Schema, path: Path) -> Any:
        """A small value that a server may well accept."""
        name = path[-1] if path else ""
        schema = self.schemas.resolve(schema)
        kind = _type(schema)
        if kind == "object":
            required = schema.get("required", ())
            return {field: self.sample(self._inner(schema, field), (*path, field)) for field in required}
        if name == "path":
            return next((usual for step in path if (usual := _USUAL_PATHS.get(str(step)))), "a")
        if name in _USUAL and (kind == "array") == isinstance(_USUAL[name], list):
            return copy.deepcopy(_USUAL[name])
        return {"array": [], "integer": 1, "number": 1, "boolean": True}.get(kind, "a")

    def values(self, schema: Schema, path: Path) -> Iterator[Any]:
        """What to try there."""
        description = schema.get("description", "")
        schema = self.schemas.resolve(schema)
        kind = _type(schema)
        if "oneOf" in schema:
            yield from _QUANTITIES if "number" in str(schema["oneOf"]) else (*_NUMBERS, *_TEXTS, "25%")
        elif kind == "string":
            yield from _TEXTS
            words = (one or other for one, other in _WORD.findall(description))
            yield from list(dict.fromkeys(words))[:_MOST_WORDS]
        elif kind == "integer":
            yield from _NUMBERS
        elif kind == "boolean":
            yield from (True, False)
        elif kind == "array":
            entry = self.sample(self._inner(schema, 0), (*path, 0))
            yield from ([], [entry], [copy.deepcopy(entry), copy.deepcopy(entry)])
            if isinstance(entry, str):
                yield from (["A B"], [""], ["10.0.0.1"], ["/a"])
            if isinstance(entry, int):
                yield from ([-1], [2**31], [0])
        elif isinstance(schema.get("additionalProperties"), dict) and "properties" not in schema:
            yield from self._mappings(schema, path)
        elif kind == "object":
            yield from ({}, self.sample(schema, path))

    def _mappings(self, schema: Schema, path: Path) -> Iterator[Any]:
        inner = self.schemas.resolve(schema["additionalProperties"])
        if "oneOf" in inner or path[-1] in _BUILT:
            for name in ("cpu", "memory", "storage", "pods", "a", "example.com/a", "hugepages-2Mi", "a b/c"):
                yield {name: "1"}
            yield from ({"memory": value} for value in _QUANTITIES)
            yield from ({"example.com/a": value} for value in _QUANTITIES)
        else:
            for key in ("a", "A B", "example.com/a", "a/b/c", "/a", "x" * 64, ""):
                yield {key: "a"}
            yield from ({"a": value} for value in ("", "A B", "x" * 64, "/a"))
        yield {}

    def _inner(self, schema: Schema, step: str | int) -> Schema:
        inner = schema["items"] if isinstance(step, int) else schema.get("properties", {}).get(step)
        return self.schemas.resolve(schema["additionalProperties"] if inner is None else inner)

    def some(self, body: Body, root: Schema, count: int, chance: Random) -> Iterator[tuple[Path, Any]]:
        """Fields of an object, chosen by chance, each with a value to try."""
        paths = [path for path in self.paths(root, body) if path not in _LEFT_ALONE and path[0] != "status"]
        for path in chance.choices(paths, k=count):
            values = list(self.values(self._at(root, path), path))
            if values:
                yield path, chance.choice(values)

    def _at(self, root: Schema, path: Path) -> Schema:
        schema = self.schemas.resolve(root)
        for step in path[:-1]:
            schema = self._inner(schema, step)
        return self._inner(schema, path[-1])


def _type(schema: Schema) -> str:
    given = schema.get("type", "object" if "properties" in schema else "")
    names = [given] if isinstance(given, str) else [name for name in given if name != "null"]
    return names[0] if names else ""


def accident(body: Body, chance: Random) -> str:
    """Change an object in place, like a mistake, and describe the change."""
    holder, key = chance.choice(
        [place for place in _places(body) if place[1] not in {"apiVersion", "kind", "namespace"}]
    )
    value = holder[key]
    what = chance.choice(("lost", "misspelt", "doubled", "retyped", "emptied", "null", "capitals", "spaced"))
    if what == "lost":
        del holder[key]
    elif what == "misspelt" and isinstance(holder, dict):
        name = key[:-1] or "a"
        holder[name] = holder.pop(key)
    elif what == "doubled" and isinstance(value, list) and value:
        value.append(copy.deepcopy(value[0]))
    elif what == "retyped":
        holder[key] = chance.choice(("a", 1, 1.5, True, [], {}, ["a"], {"a": "b"}))
    elif what == "emptied":
        holder[key] = type(value)()
    elif what == "null":
        holder[key] = None
    elif what == "capitals" and isinstance(value, str):
        holder[key] = value.title()
    elif what == "spaced" and isinstance(value, str):
        holder[key] = f"{value} "
    else:
        what = "unchanged"
    return f"{key} {what}"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from _places(inner)
