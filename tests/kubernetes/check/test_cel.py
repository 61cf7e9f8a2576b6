"""CEL rules: escaped field names, rules that cannot be evaluated, and the limit of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gen.kubernetes.cel.values import NotEvaluatedError
from gen.kubernetes.check.objects import Budget, Rules
from tests.cases import for_each
from tests.kubernetes.check.support import inspect
from tests.kubernetes.schemas.definition import definition

if TYPE_CHECKING:
    from pathlib import Path

VALUE = {"a-b": 1, "namespace": "x", "in": 2, "a.b": {"c/d": 3}, "x__y": 4, "plain": 5}


def holds(rule: str, value: Any, limit: float = 1_000_000) -> bool:
    return Rules().holds(rule, value, Budget(limit))


@for_each(
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
def test_escaped_field_names_are_unescaped(rule: str) -> None:
    assert holds(rule, VALUE)
    assert not holds(f"!({rule})", VALUE)


@pytest.mark.parametrize("rule", ["self.all(1, true)", "self.map()", "self.", "quantity('1') > self.plain"])
def test_an_unsupported_rule_is_not_evaluated(rule: str) -> None:
    with pytest.raises(NotEvaluatedError):
        holds(rule, VALUE)


QUADRATIC = "self.all(x, self.exists_one(y, x == y))"
"""Evaluates its inner part once for each pair of entries."""


def steps_of(rule: str, value: Any) -> int:
    """The smallest limit with which a rule is evaluated."""
    low, high = 0, 1 << 20
    while low < high:
        middle = (low + high) // 2
        try:
            holds(rule, value, middle)
            high = middle
        except NotEvaluatedError:
            low = middle + 1
    return low


@for_each(
    ("rule", "small", "large"),
    [
        (QUADRATIC, [1, 2], [1, 2, 3, 4]),
        ("self == self", [[1]], [[1] * 30]),
        ("self == self", {"a": "b"}, {"a": "b" * 10_000}),
        ("self + self != ''", "a", "a" * 10_000),
        ("self.contains('b') || true", "a", "a" * 10_000),
        ("1 in self || true", [2], [2, 3, 4]),
    ],
)
def test_larger_values_take_more_steps(rule: str, small: Any, large: Any) -> None:
    assert steps_of(rule, small) < steps_of(rule, large)


@pytest.mark.slow
def test_steps_do_not_depend_on_earlier_evaluations() -> None:
    alone = steps_of(QUADRATIC, [1, 2, 3])
    with pytest.raises(NotEvaluatedError):
        holds(QUADRATIC, list(range(3000)))
    assert steps_of(QUADRATIC, [1, 2, 3]) == alone
    assert holds(QUADRATIC, [1, 2, 3])


@pytest.mark.parametrize("depth", [10, 20])
def test_a_nested_rule_is_evaluated(depth: int) -> None:
    assert holds("(" * depth + "self" + ")" * depth + " == 1", 1)
    assert holds("self.all(x, " * depth + "true" + ")" * depth, [1])


def test_a_rule_nested_too_deeply_is_not_evaluated() -> None:
    """Python's recursion limit would decide otherwise, and with it the depth of the caller."""
    with pytest.raises(NotEvaluatedError) as raised:
        holds("(" * 60 + "self" + ")" * 60 + " == 1", 1)
    assert raised.value.__cause__ is None


DEFINITION = definition(
    "example.com",
    "Numbers",
    f"""\
type: array
items:
  type: array
  items: {{type: integer}}
  x-kubernetes-validations: [{{rule: "{QUADRATIC}", message: numbers repeat}}]
""",
)


def numbers(name: str, spec: Any) -> str:
    return f"apiVersion: example.com/v1\nkind: Numbers\nmetadata: {{name: {name}}}\nspec: {spec}\n"


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.slow
def test_the_verdict_does_not_depend_on_the_order_of_objects(tmp_path: Path, order: int) -> None:
    (tmp_path / "crd.yaml").write_text(DEFINITION)
    documents = [numbers("large", [list(range(2000))]), numbers("small", [[1, 2]]), numbers("wrong", [[1, 1]])]
    report, _ = inspect(tmp_path, "---\n".join(documents[::order]), schemas=(tmp_path / "crd.yaml",))
    found = {(one.code, one.message.partition(",")[0]) for one in report.findings}
    assert found == {("cel-not-evaluated", "Numbers large"), ("cel", "Numbers wrong")}


@pytest.mark.slow
def test_the_limit_is_for_all_values_of_a_rule_in_an_object(tmp_path: Path) -> None:
    (tmp_path / "crd.yaml").write_text(DEFINITION)
    text = numbers("many", [list(range(60))] * 90)
    report, _ = inspect(tmp_path, text, schemas=(tmp_path / "crd.yaml",))
    assert [one.code for one in report.findings] == ["cel-not-evaluated"]
