"""Random objects, and random patches of them, that follow the schema of their kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gen.render.patch.strategic import merge_schema

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from gen.kubernetes.objects import Body
    from gen.kubernetes.schemas.registry import Schema, Schemas

KINDS = (
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("v1", "Service"),
    ("v1", "ConfigMap"),
    ("v1", "PersistentVolume"),
    ("v1", "PersistentVolumeClaim"),
    ("networking.k8s.io/v1", "Ingress"),
    ("kubeflow.org/v1", "PyTorchJob"),
)
MAX_DEPTH = 12
MAX_FIELDS = 4
WORDS = ("a", "b", "c")
"""Few, so that entries of an object and of its patch often have the same key."""
PROTOCOLS = ("TCP", "UDP")
_ALWAYS = {"spec", "template", "containers", "pytorchReplicaSpecs", "jobTemplate", "Worker"}
"""Fields that lead to pods, which have most of the lists that merge."""
_NEVER = {"apiVersion", "kind", "status", "managedFields", "ownerReferences", "ephemeralContainers"}
_ROLES = ("Master", "Worker")


@dataclass(frozen=True, slots=True)
class Generator:
    """Objects and patches of the kinds of one Kubernetes version."""

    schemas: Schemas
    chance: Random

    def object(self, api_version: str, kind: str) -> Body:
        body: Body = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "demo"}}
        schema = merge_schema(self.schemas, body)
        return self._mapping(schema, 0) | body

    def patch(self, body: Body) -> Body:
        schema = merge_schema(self.schemas, body)
        changes = self._changed_mapping(body, schema, 0)
        changes.pop("metadata", None) if self.chance.random() < 0.5 else None
        return changes

    def _mapping(self, schema: Schema, depth: int) -> Body:
        fields = schema.get("properties", {})
        if not fields:
            return self._open_mapping(schema, depth)
        names = [name for name in fields if name not in _NEVER]
        chosen = {name for name in names if name in _ALWAYS and depth < MAX_DEPTH}
        count = self.chance.randint(0, MAX_FIELDS)
        chosen |= set(self.chance.sample(names, min(count, len(names))))
        made = {name: self._value(fields[name], depth + 1) for name in sorted(chosen)}
        return {name: value for name, value in made.items() if value not in (None, {}, [])}

    def _open_mapping(self, schema: Schema, depth: int) -> Body:
        values = schema.get("additionalProperties")
        if not isinstance(values, dict):
            return {}
        inner = self.schemas.resolve(values)
        names = _ROLES if "template" in inner.get("properties", {}) else WORDS
        chosen = self.chance.sample(names, self.chance.randint(1, len(names)))
        made = {name: self._value(inner, depth + 1) for name in chosen}
        return {name: value for name, value in made.items() if value not in (None, {}, [])}

    def _value(self, schema: Schema, depth: int) -> Any:
        schema = self.schemas.resolve(schema)
        kind = type_of(schema)
        if kind == "object" or "properties" in schema:
            return None if depth > MAX_DEPTH else self._mapping(schema, depth)
        if kind == "array":
            return None if depth > MAX_DEPTH else self._list(schema, depth)
        return self.scalar(schema, kind)

    def scalar(self, schema: Schema, kind: str) -> Any:
        if kind == "integer":
            return self.chance.randint(1, 3)
        if kind == "boolean":
            return self.chance.random() < 0.5
        return self.chance.choice(schema.get("enum", WORDS))

    def _list(self, schema: Schema, depth: int) -> list[Any]:
        inner = self.schemas.resolve(schema.get("items", {}))
        keys = keys_of(schema)
        entries: list[Any] = []
        for _ in range(self.chance.randint(1, 3)):
            entry = self._value(inner, depth + 1)
            if isinstance(entry, dict) and keys:
                entry |= self._identity(inner, keys)
            if entry not in (None, {}, []):
                entries.append(entry)
        return unique(entries, keys) if merges(schema) else entries

    def _identity(self, entry: Schema, keys: tuple[str, ...]) -> Body:
        """Values of the keys. All of them, because the references guess those that are missing."""
        fields = entry["properties"]
        made = {}
        for key in keys:
            field = self.schemas.resolve(fields[key])
            made[key] = self.chance.choice(PROTOCOLS) if key == "protocol" else self.scalar(field, type_of(field))
        return made

    def _changed_mapping(self, old: Body, schema: Schema, depth: int) -> Body:
        """A patch of a mapping: changes, removals and additions."""
        patch: Body = {}
        fields = schema.get("properties", {})
        others = schema.get("additionalProperties")
        for name, value in old.items():
            inner = fields.get(name, others)
            if (
                name in _NEVER
                or not isinstance(inner, dict)
                or (depth == 0 and name not in ("spec", "metadata", "data"))
            ):
                continue
            if name == "name" or (name not in _ALWAYS and self.chance.random() < 0.4):
                continue
            change = self._change(value, self.schemas.resolve(inner), depth + 1, removable=name not in _ALWAYS)
            if change is not _NOTHING:
                patch[name] = change
        if depth and self.chance.random() < 0.5:
            new = self._mapping(schema, max(depth, MAX_DEPTH - 3))
            patch = {**self._with_removals(new, schema), **patch}
        return patch

    def _change(self, old: Any, schema: Schema, depth: int, *, removable: bool) -> Any:
        dice = self.chance.random()
        if removable and dice < 0.12:
            return None
        if isinstance(old, dict):
            if removable and dice < 0.18:
                return {"$patch": "delete"}
            change = self._changed_mapping(old, schema, depth)
            if removable and change and dice > 0.95:
                return self._without_directives(change) | {"$patch": "replace"}
            return change or _NOTHING
        if isinstance(old, list):
            return self._changed_list(old, schema, depth)
        return self._value(schema, depth)

    def _changed_list(self, old: list[Any], schema: Schema, depth: int) -> Any:
        keys = keys_of(schema)
        if not (merges(schema) and keys):
            return self._list(schema, depth) or _NOTHING
        inner = self.schemas.resolve(schema["items"])
        if self.chance.random() < 0.08:
            return [{"$patch": "replace"}, *self._list(schema, depth)]
        patch = []
        for entry in self.chance.sample(old, len(old)):
            identity = {key: entry[key] for key in keys}
            dice = self.chance.random()
            if dice < 0.2:
                patch.append({**identity, "$patch": "delete"})
            elif dice < 0.7:
                patch.append({**self._changed_mapping(entry, inner, depth + 1), **identity})
        if self.chance.random() < 0.1:
            patch.append({**self._identity(inner, keys), "$patch": "delete"})
        patch += [entry for entry in self._list(schema, depth) if self.chance.random() < 0.5]
        return unique(patch, keys) or _NOTHING

    def _with_removals(self, new: Body, schema: Schema) -> Body:
        """Also remove a field that is not set, or the entry of a list that may not have it."""
        fields = schema.get("properties", {})
        names = sorted(fields.keys() - _NEVER - _ALWAYS - {"name"} - new.keys())
        if not names or self.chance.random() < 0.7:
            return new
        name = self.chance.choice(names)
        is_mapping = type_of(self.schemas.resolve(fields[name])) == "object"
        return {**new, name: {"$patch": "delete"} if is_mapping and self.chance.random() < 0.5 else None}

    def _without_directives(self, value: Any) -> Any:
        """For a mapping that replaces another one: the API server writes directives inside of it into the object."""
        if isinstance(value, dict):
            if "$patch" in value:
                return None
            kept = {key: self._without_directives(inner) for key, inner in value.items()}
            return {key: inner for key, inner in kept.items() if inner not in (None, {}, [])}
        if isinstance(value, list):
            return [kept for item in value if (kept := self._without_directives(item)) is not None]
        return value


class _Nothing:
    """No change."""


_NOTHING = _Nothing()


def type_of(schema: Schema) -> str:
    """The first type of a schema; `string` if it has several or none."""
    given = schema.get("type", "string")
    names = [given] if isinstance(given, str) else [name for name in given if name != "null"]
    return names[0] if len(names) == 1 else "string"


def merges(schema: Schema) -> bool:
    return "merge" in schema.get("x-kubernetes-patch-strategy", "")


def keys_of(schema: Schema) -> tuple[str, ...]:
    """The keys of a list that merges by keys."""
    key = schema.get("x-kubernetes-patch-merge-key")
    keys = tuple(schema.get("x-kubernetes-list-map-keys", ()))
    return () if key is None else keys if key in keys else (key,)


def unique(entries: list[Any], keys: tuple[str, ...]) -> list[Any]:
    """The first of all entries with the same keys, or of all equal scalars."""
    found: dict[Any, Any] = {}
    for entry in entries:
        found.setdefault(tuple(entry[key] for key in keys) if keys else repr(entry), entry)
    return list(found.values())


def operations(body: Body, chance: Random) -> list[Body]:
    """JSON 6902 operations. Most of these apply to the object."""
    return [_operation(body, chance) for _ in range(chance.randint(1, 3))]


def _operation(body: Body, chance: Random) -> Body:
    paths = list(_pointers(body, ()))
    path, value = chance.choice(paths)
    op = chance.choice(("add", "remove", "replace", "test", "test", "copy", "move"))
    operation: Body = {"op": op, "path": pointer(path)}
    if op == "add":
        last = chance.choice(("-", "0", "9", "new", "a/b~c")) if path else "new"
        operation["path"] = pointer((*path[: chance.randint(0, len(path))], last))
    elif op in ("copy", "move"):
        operation["from"] = pointer(path)
        target, _ = chance.choice(paths)
        operation["path"] = pointer((*target[:-1], chance.choice((target[-1], "copied", "-"))))
    elif chance.random() < 0.1:
        operation["path"] += "/absent"
    if op in ("add", "replace"):
        operation["value"] = chance.choice(("x", 1, True, {"a": 1}, ["b"]))
    elif op == "test":
        operation["value"] = value if chance.random() < 0.7 else _similar(value)
    return operation


def _similar(value: Any) -> Any:
    """A value that is equal in Python or looks equal in YAML, but differs in JSON."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return True if value == 1 else str(value)
    if isinstance(value, list):
        return [_similar(item) for item in value]
    if isinstance(value, dict):
        return {key: _similar(inner) for key, inner in value.items()}
    return f"{value} "


def _pointers(value: Any, at: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield (*at, str(key)), inner
        yield from _pointers(inner, (*at, str(key)))


def pointer(path: tuple[str, ...]) -> str:
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in path)
