"""Types of CEL expressions that their syntax shows."""

from __future__ import annotations

import pytest
from celpy import Environment

from gen.rules.cel_types import type_of

TYPES = {
    "int": ["1", "-1", "(1) + 1", "size(a)", "a.size()", "a ? 1 : 2", "int(a)"],
    "uint": ["1u"],
    "double": ["1.5"],
    "string": ["'a'", "'''a'''", "'a' + b", "a.b + 'c'", "string(a)"],
    "bytes": ["b'a'"],
    "bool": [
        "true",
        "!a",
        "a == 1",
        "a in b",
        "a && b",
        "a || b",
        "has(a.b)",
        "a.exists(x, x > 1)",
        "a.startsWith('b')",
    ],
    "list": ["[1]", "[]", "a.map(x, x)"],
    "map": ["{}", "{'a': 1}"],
    "null_type": ["null"],
    "": ["a", "a.b", "a[0]", "-a", "a - b", "a ? 1 : b", "f(a)", "a.b(c)", "duration('1s') - a", "dyn(1)", "type(a)"],
}


@pytest.mark.parametrize("found", TYPES)
def test_the_type_of_an_expression(found: str) -> None:
    shown = {text: type_of(Environment().compile(text)) for text in TYPES[found]}
    assert shown == dict.fromkeys(TYPES[found], found)
