"""Random schemas with CEL rules of many forms, whose estimated costs are below and above the limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from random import Random

    from gen.kubernetes import Body

LIMITS = (None, None, 0, 1, 3, 10, 60, 200, 1000, 20_000)
WORDS = ("a", "abc", "worker-0", "", "a-long-word-that-costs-more", "é")
PATTERNS = ("^[a-z]+$", "a", "^([a-z0-9]([-a-z0-9]*[a-z0-9])?\\\\.)+[a-z]{2,}$")
FORMATS = (None, None, None, None, "date-time", "duration", "byte", "date")
DEPTH = 3


class Known(Struct):
    """A value that an expression can read."""

    text: str
    schema: Body


def schema_of(random: Random, depth: int = 0) -> Body:
    """A random schema of a value."""
    kinds = ["string", "string", "string", "integer", "boolean", "either"]
    kind = random.choice([*kinds, *(["array", "array", "map", "object"] if depth < DEPTH else [])])
    if kind == "either":
        return {"x-kubernetes-int-or-string": True}
    if kind == "array":
        return {"type": "array", "items": schema_of(random, depth + 1), **_limited(random, "maxItems")}
    if kind == "map":
        values = schema_of(random, depth + 1)
        return {"type": "object", "additionalProperties": values, **_limited(random, "maxProperties")}
    if kind == "object":
        return object_of(random, depth + 1)
    return {"type": "string", **_text(random)} if kind == "string" else {"type": kind}


def object_of(random: Random, depth: int = 0) -> Body:
    """A random schema of an object."""
    names = random.sample(("name", "a-b", "items", "c", "namespace", "e__f", "hosts", "x.y"), random.randint(2, 5))
    properties = {name: schema_of(random, depth) for name in names}
    if random.random() < 0.1:
        properties[names[0]] = {"type": "string", "default": "abc"}
    return {"type": "object", "properties": properties, "required": random.sample(names, random.randint(0, 2))}


def _limited(random: Random, field: str) -> Body:
    limit = random.choice(LIMITS)
    return {field: limit} if limit is not None else {}


def _text(random: Random) -> Body:
    chosen = random.random()
    if chosen < 0.1:
        return {"enum": random.sample(WORDS, 3)}
    form = random.choice(FORMATS)
    return _limited(random, "maxLength") | ({"format": form} if form is not None else {})


def rule_of(random: Random, schema: Body) -> str:
    """A random rule for values of a schema."""
    return _Rule(random).boolean([Known("self", schema)], 0)


def text_of(random: Random, schema: Body) -> str:
    """A random expression for messages about values of a schema."""
    return f"'a' + {_Rule(random).text([Known('self', schema)], 0)}"


class _Rule:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._loops = 0

    def boolean(self, known: list[Known], depth: int) -> str:
        random = self._random
        chosen = random.random()
        if depth < DEPTH and chosen < 0.15:
            one, other = self.boolean(known, depth + 1), self.boolean(known, depth + 1)
            return f"({one} {random.choice(('&&', '||'))} {other})"
        if depth < DEPTH and chosen < 0.2:
            return f"({self.boolean(known, depth + 1)} ? {self.boolean(known, depth + 1)} : false)"
        if chosen < 0.25:
            return f"!({self.boolean(known, depth + 1)})" if depth < DEPTH else "true"
        return self._about(self._some(known), known, depth)

    def _some(self, known: list[Known]) -> Known:
        one = self._random.choice(known[-3:] if self._random.random() < 0.7 else known)
        while one.schema.get("properties") and self._random.random() < 0.97:
            name, inner = self._random.choice(list(one.schema["properties"].items()))
            one = Known(f"{one.text}.{escaped(name)}", inner)
        return one

    def _about(self, one: Known, known: list[Known], depth: int) -> str:
        kind = one.schema.get("type")
        if kind == "array":
            return self._list(one, known, depth)
        if "additionalProperties" in one.schema:
            return self._map(one, known, depth)
        if kind == "string":
            return self._string(one, known, depth)
        forms = {
            "integer": (f"{one.text} < 3", f"{one.text} == {one.text}", f"{one.text} != 3"),
            "boolean": (one.text,),
            "object": (f"{one.text} == {one.text}", f"{one.text} != {one.text}"),
            None: (f"{one.text} == 3", f"(type({one.text}) == string && {one.text}.matches('a'))"),
        }
        return self._random.choice(forms[kind])

    def _variable(self) -> str:
        self._loops += 1
        return f"v{self._loops}"

    def _list(self, one: Known, known: list[Known], depth: int) -> str:
        random, text = self._random, one.text
        items = one.schema["items"]
        variable = self._variable()
        inside = self.boolean([*known, Known(variable, items)], depth + 1) if depth < DEPTH else "true"
        forms = [
            *[f"{text}.{macro}({variable}, {inside})" for macro in ("all", "all", "exists", "exists_one")],
            f"{text}.filter({variable}, {inside}).size() > 1",
            f"{text}.all(index, {variable}, {inside} || index > 2)",
            f"{text}.map({variable}, {inside}).exists(made, made)",
            f"{text}.map({variable}, {inside}, {variable}).size() == 1",
            f"({text} + {text}).all({variable}, {inside})",
            f"({inside.replace(variable, f'{text}[0]')} ? {text} : [{text}[0]]).exists({variable}, {inside})",
            f"{text}.transformMap(index, {variable}, {inside}, index).size() > 1",
            f"{text} == {text}",
            f"{text}[0] in {text}",
            f"sets.intersects({text}, {text})",
            f"{text}.indexOf({text}[0]) < {text}.size()",
            f"{text}[?0].hasValue()",
        ]
        if items.get("type") == "string" and "format" not in items:
            forms += [f"{text}.isSorted()", f"{text}.join(',').contains('a')", f"{text}.max() == {text}.min()"]
        return random.choice(forms)

    def _map(self, one: Known, known: list[Known], depth: int) -> str:
        text, key = one.text, self._variable()
        entry = Known(f"{text}[{key}]", one.schema["additionalProperties"])
        both = [*known, Known(key, {"type": "string"}), entry]
        inside = self.boolean(both, depth + 1) if depth < DEPTH else "true"
        forms = (
            *[f"{text}.{macro}({key}, {inside})" for macro in ("all", "exists", "filter")],
            f"{text}.all({key}, value, value == {text}[{key}] && {inside})",
            f"{text}.transformList({key}, value, {key}).size() > 1",
            f"{text}.transformMap({key}, value, {inside}, value).size() > 1",
            f"('a' in {text} && {text}['a'] == {text}['b'])",
            f"{text} == {text}",
        )
        found = self._random.choice(forms)
        return f"{found}.size() > 0" if found.startswith(f"{text}.filter") else found

    def _string(self, one: Known, known: list[Known], depth: int) -> str:
        random, text = self._random, one.text
        form = one.schema.get("format")
        if form in {"date", "date-time"}:
            return f"{text} < timestamp('2024-01-01T00:00:00Z')"
        if form is not None:
            return f"{text} == {text}" if form == "byte" else f"{text} > duration('1s')"
        other = self.text(known, depth)
        word, pattern = f"'{random.choice(WORDS)}'", f"'{random.choice(PATTERNS)}'"
        part = self._variable()
        forms = (
            *[f"{text} {sign} {other}" for sign in ("==", "!=", "<", ">=")],
            *[f"{text}.{method}({other})" for method in ("contains", "startsWith", "endsWith")],
            f"{text}.matches({pattern})",
            f"{text} in [{word}, {other}]",
            f"({text} + {other}).size() > 3",
            f"({text} + {word}).matches({pattern})",
            f"{text}.split({word}).all({part}, {part} != '' && {part}.startsWith({other}))",
            f"{text}.split({word}, 3).exists({part}, {part} == {other})",
            f"{text}.findAll({pattern}).size() < 3",
            f"{text}.replace({word}, {other}).lowerAscii().contains({word})",
            f"{text}.indexOf({other}) > {text}.size()",
            f"'%s:%s'.format([{text}, {other}]) == {text}",
            f"url({text}).getHost() == {other}",
            f"isQuantity({text}) && quantity({text}).isGreaterThan(quantity('1'))",
            f"isIP({text}) && ip({text}).family() == 4",
            f"cidr('10.0.0.0/8').containsIP({text})",
            f"!format.dns1123Label().validate({text}).hasValue()",
            f"[{text}, {other}].exists({part}, {part}.matches({pattern}))",
            f"dyn({text}) == {other}",
        )
        return random.choice(forms)

    def text(self, known: list[Known], depth: int) -> str:
        random = self._random
        for _ in range(3):
            one = self._some(known)
            if one.schema.get("type") == "string" and "format" not in one.schema:
                break
        else:
            return f"'{random.choice(WORDS)}'"
        if depth >= DEPTH:
            return one.text
        more = self.text(known, depth + 1)
        word = f"'{random.choice(WORDS)}'"
        forms = (
            *[one.text] * 4,
            f"({one.text} + {more})",
            f"({one.text} == {word} ? {one.text} : {more})",
            f"{one.text}.substring(1)",
            f"{one.text}.trim().upperAscii()",
            f"{one.text}.replace({word}, {more})",
            f"optional.of({one.text}).orValue({more})",
            f"[{one.text}, {more}][0]",
            f"strings.quote({one.text})",
        )
        return random.choice(forms)


def escaped(name: str) -> str:
    """The name of a property in an expression."""
    known = {"a-b": "a__dash__b", "e__f": "e__underscores__f", "namespace": "__namespace__", "x.y": "x__dot__y"}
    return known.get(name, name)


def definition_of(random: Random, number: int) -> Body:
    """A definition with rules at random places."""
    schema = {"type": "object", "properties": {"spec": object_of(random)}}
    places = [one for one in _schemas(schema) if "type" in one and "default" not in one]
    for place in random.sample(places, min(len(places), random.randint(1, 3))):
        known = {key: value for key, value in place.items() if key != "x-kubernetes-validations"}
        place["x-kubernetes-validations"] = [_with_message(random, known) for _ in range(random.randint(1, 2))]
    return definition(schema, number)


def _schemas(schema: Body) -> list[Body]:
    inner = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return [schema, *(one for part in inner if part is not None for one in _schemas(part))]


def _with_message(random: Random, schema: Body) -> Body:
    rule = {"rule": rule_of(random, schema)}
    return rule | ({"messageExpression": text_of(random, schema)} if random.random() < 0.3 else {})


def definition(schema: Body, number: int = 0) -> Body:
    """A definition of a kind with one version."""
    plural, kind = f"cost{number}s", f"Cost{number}"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.costs.example.com"},
        "spec": {
            "group": "costs.example.com",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
