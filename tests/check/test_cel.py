"""CEL rules as a server takes them: names of fields that are no identifiers, and what nobody can evaluate."""

from __future__ import annotations

import time

import pytest

from gen.check.cel import NotEvaluatedError, holds

VALUE = {"a-b": 1, "namespace": "x", "in": 2, "a.b": {"c/d": 3}, "x__y": 4, "plain": 5}


@pytest.mark.parametrize(
    "rule",
    [
        "self.a__dash__b == 1",
        "has(self.a__dash__b)",
        "!has(self.c__dash__b)",
        'self.__namespace__ == "x"',
        "self.__in__ == 2",
        "!has(self.__if__)",
        "self.a__dot__b.c__slash__d == 3",
        "has(self.a__dot__b) && self.x__underscores__y == 4",
        "self.plain == 5",
    ],
)
def test_escaped_names_are_those_of_the_object(rule: str) -> None:
    assert holds(rule, VALUE)
    assert not holds(f"!({rule})", VALUE)


@pytest.mark.parametrize("rule", ["self.all(1, true)", "self.map()", "self.", "quantity('1') > self.plain"])
def test_what_cannot_be_evaluated_is_said(rule: str) -> None:
    with pytest.raises(NotEvaluatedError):
        holds(rule, VALUE)


def test_a_rule_that_takes_too_long_is_not_evaluated() -> None:
    started = time.monotonic()
    with pytest.raises(NotEvaluatedError):
        holds("self.all(x, self.exists_one(y, x == y))", list(range(3000)))
    with pytest.raises(NotEvaluatedError):
        holds("self.all(x, self.exists_one(y, x == y))", [1])
    assert time.monotonic() - started < 10
    assert holds("self.all(x, x < 3000)", list(range(100)))
