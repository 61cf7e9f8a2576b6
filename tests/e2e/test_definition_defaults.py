"""A real API server rejects the same defaults in definitions because of CEL rules."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from gen.rules.object_view import ObjectView
from gen.rules.server.definition_defaults import definition_defaults
from gen.rules.server.definitions import definitions
from tests.e2e.cost_cases import definition

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from tests.e2e.cluster import Cluster

RULES = (
    "self == oldSelf",
    "self != oldSelf",
    "has(self.a)",
    "self.a == 'x'",
    "!has(self.b) || self.b.all(k, k != 'x')",
)
OPTIONAL = (
    "oldSelf.hasValue()",
    "oldSelf.orValue(self) == self",
    "!oldSelf.hasValue()",
    "size(self.?a.orValue('')) < 2",
)
INNER = ("self != 'x'", "self == oldSelf", "self > 'b'")
TEXT = {"type": "string", "maxLength": 9}
FORMS: tuple[Body, ...] = (
    {},
    {"x-kubernetes-map-type": "atomic"},
    {"nullable": True},
)
DEFAULTS: tuple[Any, ...] = ({}, {"a": "x"}, {"b": {"k": "x"}}, {"a": "yy", "b": {"x": "y"}}, {"a": 1})


def of_object(form: Body, rule: Body, default: Any) -> Body:
    fields = {"a": TEXT, "b": {"type": "object", "maxProperties": 9, "additionalProperties": TEXT}}
    return {"type": "object", "properties": fields, "default": default, "x-kubernetes-validations": [rule], **form}


def cases() -> list[Body]:
    rules = [{"rule": one} for one in RULES] + [{"rule": one, "optionalOldSelf": True} for one in OPTIONAL]
    schemas = [of_object(*one) for one in product(FORMS, rules, DEFAULTS)]
    for rule, default in product(INNER, (["a"], ["x", "y"], [])):
        items = {**TEXT, "x-kubernetes-validations": [{"rule": rule}]}
        schemas.append({"type": "array", "maxItems": 9, "items": items, "default": default})
    for kind, rule, given in product(
        ("map", "atomic"), ("self == oldSelf", "self.k < 'b'"), ([{"k": "a"}], [{"k": "b"}])
    ):
        entries = {
            "type": "object",
            "required": ["k"],
            "properties": {"k": TEXT},
            "x-kubernetes-validations": [{"rule": rule}],
        }
        keys = {"x-kubernetes-list-map-keys": ["k"]} if kind == "map" else {}
        lists = {"x-kubernetes-list-type": kind, **keys}
        schemas.append({"type": "array", "maxItems": 9, "items": entries, "default": given, **lists})
    for form, rule in product(FORMS, INNER):
        inner = {**TEXT, "x-kubernetes-validations": [{"rule": rule}]}
        schemas.append({"type": "object", "properties": {"a": inner}, "default": {"a": "x"}, **form})
        values = {"type": "object", "maxProperties": 9, "additionalProperties": inner}
        schemas.append({**values, "default": {"k": "c"}, **form})
    return [
        definition({"type": "object", "properties": {"spec": {"type": "object", "properties": {"one": one}}}}, number)
        for number, one in enumerate(schemas)
    ]


def found(body: Body) -> list[str]:
    view = ObjectView.of(body, "1.34")
    return [
        fault.message
        for rule in (definitions, definition_defaults)
        if rule.find is not None
        for fault in rule.find(view)
    ]


@pytest.mark.parametrize("part", range(4))
def test_the_server_rejects_the_same_defaults(cluster: Cluster, part: int) -> None:
    answers = {True: 0, False: 0}
    for body in cases()[part::4]:
        response = cluster.try_to_create(body)
        refused = response.status != 201
        assert bool(found(body)) is refused, (body["spec"]["versions"], response.message[:500], found(body))
        answers[refused] += 1
    assert min(answers.values()) > 5
