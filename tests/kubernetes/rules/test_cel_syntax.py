"""Faults of CEL expressions name the mistake and its remedy."""

from __future__ import annotations

import pytest

from gen.kubernetes.rules.cel_syntax import syntax_fault


@pytest.mark.parametrize(
    ("expression", "message", "hint"),
    [
        ("object.a == (", "not a valid CEL expression: unexpected `<EOF>`", "correct its syntax"),
        ("objct.a == 1", "unknown name `objct` in the expression", "did you mean `object`?"),
        ("object.a.len() == 1", "unknown function `len` in the expression", "did you mean `size`?"),
        ("has(object)", "invalid CEL expression: invalid argument to has() macro", "the arguments of the macro"),
        ("[1].all(a.b, true)", "invalid CEL expression: argument must be a simple name", "the arguments of the macro"),
        ("1 == 99999999999999999999", "invalid CEL expression: invalid int literal", "a number of 64 bits"),
        ("object.a.matches('(')", "invalid CEL expression: invalid matches argument", "the regular expression"),
        ("1 + 'a' == 2", "invalid CEL expression: found no matching overload for '_+_'", "the types"),
    ],
)
def test_a_fault_has_the_remedy_of_its_mistake(expression: str, message: str, hint: str) -> None:
    fault = syntax_fault(expression, {"object"})
    assert fault is not None
    assert fault.message.startswith(message)
    assert hint in fault.hint
