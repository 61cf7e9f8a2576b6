"""The fields that a route of a document can have, from the JSON Schemas of jobs and overlays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gen.base import Route
from gen.report.explain import entries

Schema = Mapping[str, Any]
Kinds = Callable[[Route], str]
"""The kind that the document has at a route; empty without one."""


class Fields:
    """The fields of one kind of document."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._definitions: Mapping[str, Schema] = schema["definitions"]

    def at(self, route: Route, kinds: Kinds) -> list[Schema]:
        """The forms that the value at a route can have, without references."""
        forms = list(self._forms(self.schema, (), kinds))
        for depth, step in enumerate(route, start=1):
            inside = [inner for form in forms for inner in _inside(form, step)]
            forms = [form for inner in inside for form in self._forms(inner, route[:depth], kinds)]
        return forms

    def field(self, route: Route, kinds: Kinds) -> Schema | None:
        """The field at a route, with its description; None if there is none."""
        if not route or not isinstance(route[-1], str):
            return None
        found = [form["properties"][route[-1]] for form in self.at(route[:-1], kinds) if route[-1] in _names(form)]
        described = (field for field in found if field.get("description"))
        return next(described, found[0] if found else None)

    def names(self, route: Route, kinds: Kinds) -> dict[str, Schema]:
        """The fields of the mapping at a route, by name; empty for other values."""
        found: dict[str, Schema] = {}
        for form in self.at(route, kinds):
            for name, field in form.get("properties", {}).items():
                if name not in found or field.get("description"):
                    found[name] = field
        return found

    def required(self, route: Route, kinds: Kinds) -> frozenset[str]:
        return frozenset(name for form in self.at(route, kinds) for name in form.get("required", ()))

    def type(self, schema: Schema, depth: int = 0) -> str:
        """What to write for a field: `mapping`, `list`, `words`, or a scalar."""
        forms = list(self._forms(schema, (), lambda _: ""))
        if any("properties" in form or entries(form) is not None for form in forms):
            return "mapping"
        return "list" if forms and all("items" in form for form in forms) else "scalar"

    def words(self, route: Route, kinds: Kinds) -> list[str]:
        """The words that a scalar at a route can be, as far as they are known."""
        found: dict[str, None] = {}
        for form in self.at(route, kinds):
            words = form.get("enum", [form["const"]] if "const" in form else ())
            found.update((word, None) for word in words if isinstance(word, str))
            if form.get("type") == "boolean":
                found.update({"true": None, "false": None})
        return list(found)

    def _forms(self, schema: Schema, route: Route, kinds: Kinds) -> Iterator[Schema]:
        if "$ref" in schema:
            target: Any = self._definitions
            for step in str(schema["$ref"]).removeprefix("#/definitions/").split("/"):
                target = target[step]
            yield from self._forms(target, route, kinds)
            return
        yield schema
        for option in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
            yield from self._forms(option, route, kinds)
        yield from self._of_kind(schema.get("allOf", ()), route, kinds)

    def _of_kind(self, branches: Iterable[Schema], route: Route, kinds: Kinds) -> Iterator[Schema]:
        """The branch of the kind of a job or a step."""
        kind = kinds(route)
        for branch in branches:
            if branch.get("if", {}).get("properties", {}).get("kind", {}).get("const") == kind:
                yield from self._forms(branch["then"], route, kinds)


def _names(form: Schema) -> Mapping[str, Schema]:
    return form.get("properties", {})  # type: ignore[no-any-return] # of JSON


def _inside(form: Schema, step: str | int) -> Iterator[Schema]:
    """The forms of a value in a mapping or a list."""
    if isinstance(step, int):
        if "items" in form:
            yield form["items"]
    elif step in _names(form):
        yield _names(form)[step]
    else:
        others = (*form.get("patternProperties", {}).values(), form.get("additionalProperties"))
        yield from (one for one in others if isinstance(one, dict))
