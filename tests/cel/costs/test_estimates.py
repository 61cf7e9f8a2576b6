"""Estimated costs of expressions, and the sizes that schemas allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.cel.costs.declared import Declared, declared_sizes
from gen.cel.costs.estimate import estimated
from gen.cel.costs.sizes import UNLIMITED, plus, scaled, times
from gen.cel.program import checked_tree
from gen.rules.server.schema_values import rule_environment
from tests.support import HERE

if TYPE_CHECKING:
    from gen.kubernetes import Body

CASES: Body = yaml.load((HERE / "cel/costs/cases.yaml").read_bytes(), yaml.CSafeLoader)
MINOR = 35


def sizes(schema: Body, *, root: bool = False) -> Declared:
    found = declared_sizes(schema, root=root)
    assert found is not None
    return found


def cost(rule: str, schema: Body) -> int:
    environment = rule_environment(schema, {}, MINOR, is_root=False)
    return estimated(*checked_tree(rule, environment, escaped_names=True), sizes(schema)).cost


@pytest.mark.parametrize(("rule", "expected"), CASES["costs"].items())
def test_a_rule_costs_what_an_api_server_estimates(rule: str, expected: int) -> None:
    assert cost(rule, CASES["schema"]) == expected


def test_a_list_gets_the_size_of_the_field_that_is_read_last() -> None:
    """The path of `v.b` has room for one step, which that of `v.c` overwrites before the size of `v.b` is looked up."""
    numbers = {"type": "array", "items": {"type": "integer"}}
    item = {"type": "object", "properties": {"b": numbers, "c": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"a": {"type": "array", "maxItems": 10, "items": item}}}
    large, small = "self.a.all(v, v.b.all(n, n > 1))", "self.a.all(v, v.b.all(n, v.c > 1))"
    assert cost(large, schema) > 10_000_000
    assert cost(small, schema) < 1000


@pytest.mark.parametrize(
    ("schema", "most", "missing"),
    [
        ({"type": "string"}, 3145726, "maxLength"),
        ({"type": "string", "maxLength": 10}, 40, ""),
        ({"type": "string", "format": "byte", "maxLength": 10}, 10, ""),
        ({"type": "string", "format": "date-time", "maxLength": 10}, 32, ""),
        ({"type": "string", "enum": ["a", "é"]}, 2, ""),
        ({"type": "string", "enum": ["a"], "maxLength": 10}, 40, ""),
        ({"x-kubernetes-int-or-string": True}, 3145726, "maxLength"),
        ({"type": "integer"}, 0, ""),
        ({"type": "array", "items": {"type": "integer"}}, 1572863, "maxItems"),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 7}, 7, ""),
        ({"type": "object", "additionalProperties": {"type": "string"}}, 393215, "maxProperties"),
        ({"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 0}, 0, ""),
        ({"type": "object", "properties": {}}, 0, ""),
    ],
)
def test_a_limit_is_the_size_of_a_value(schema: Body, most: int, missing: str) -> None:
    assert (sizes(schema).most, sizes(schema).missing) == (most, missing)


def test_a_request_contains_fewer_objects_with_required_fields() -> None:
    fields = {"name": {"type": "string"}, "port": {"type": "integer", "default": 80}}
    schema: dict[str, Any] = {"type": "object", "properties": fields}
    assert sizes(schema).most_in_request == 1048576
    required = {**schema, "required": ["name", "port"]}
    assert sizes(required).most_in_request == 241979
    assert sizes({"type": "array", "items": required}).most == 241978


def test_a_whole_object_has_metadata_without_limits() -> None:
    limited = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 63}}}
    schema = {"type": "object", "properties": {"metadata": limited}}
    for route, most in ((("metadata", "name"), 3145726), (("kind",), 3145726), (("metadata", "labels"), None)):
        found = sizes(schema, root=True).at(route)
        assert (found.most if found is not None else None) == most
    assert sizes(schema).at(("metadata", "name")) == Declared(2, 63 * 4)


def test_numbers_do_not_overflow() -> None:
    assert plus(UNLIMITED, 1) == times(UNLIMITED, 2) == scaled(UNLIMITED, 1.5) == UNLIMITED
    assert times(UNLIMITED, 0) == 0
    assert scaled(UNLIMITED, 0.1) == 1844674407370955264
    assert scaled(11, 0.1) == 2
