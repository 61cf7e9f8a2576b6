"""Expressions of hostile authors: every one ends, soon and with little memory, and with an error of the engine."""

from __future__ import annotations

from typing import Any

import pytest

from gen.kubernetes.cel.environment import Environment
from gen.kubernetes.cel.program import compile_expression
from gen.kubernetes.cel.values import DYN, CelError, CompileError, CostError, InvalidConstantError, NotEvaluatedError
from gen.kubernetes.policies.request import request_for
from tests.cases import for_each

ENVIRONMENT = Environment({"object": DYN})
VALUES = {"big": 10**400, "digits": 10**4500, "text": "1" * 5000}


def outcome(expression: str, body: Any = None) -> Any:
    try:
        program = compile_expression(expression, ENVIRONMENT)
        return program.evaluate({"object": VALUES if body is None else body})[0]
    except (CelError, CompileError, NotEvaluatedError) as error:
        return type(error)


def doubled(times: int, use: str, first: str = "[1, 1]", each: str = "[$, $]") -> str:
    """An expression with 2 to the power of `times` values in its last variable."""
    names = [f"v{index}" for index in range(times)]
    values = [first, *(each.replace("$", name) for name in names)]
    bound = "".join(f"cel.bind({name}, {value}, " for name, value in zip(names, values, strict=False))
    return bound + use.replace("$", names[-1]) + ")" * times


@for_each(
    ("expression", "expected"),
    [
        ("[1][dyn(double('inf'))] == 1", CelError),
        ("[1][dyn(double('nan'))] == 1", CelError),
        ("object.big < 1.5", NotEvaluatedError),
        ("object.big == 1.5 || true", NotEvaluatedError),
        ("string(object.digits) == ''", NotEvaluatedError),
        (f"duration('{'1' * 5000}s') == duration('1s')", InvalidConstantError),
        ("duration(object.text + 's') == duration('1s')", CelError),
        ("semver(object.text + '.0.0').major() == 1", CelError),
        ("isSemver('1.0.0-' + object.text)", False),
        ("('%.' + object.text + 'f').format([1.0]).size() == 1002", True),
        ("timestamp('2020-01-01T00:00:00Z').getHours('99:99') == 1", CelError),
        ("timestamp('9999-12-31T23:59:59Z').getHours('+10:00') == 1", NotEvaluatedError),
        ("[dyn(duration('1s')), dyn('a')].sum() == duration('1s')", CelError),
        ("[dyn(1u), dyn('a')].sum() == 1u", CelError),
        ("[dyn(1)].unwrapOpt() == [1]", CelError),
        ("[1].transformMapEntry(i, v, dyn(3)) == {}", CelError),
        ("quantity('9e999').asApproximateFloat() > 1.0", True),
    ],
)
def test_unusual_values_are_errors_of_the_engine(expression: str, expected: Any) -> None:
    assert outcome(expression) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param(doubled(30, "$ == $"), CostError, id="equal"),
        pytest.param(doubled(30, "'%s'.format([$]) == ''"), CostError, id="format"),
        pytest.param(doubled(30, "$.flatten(100).size() == 1"), CostError, id="flatten"),
        pytest.param(doubled(30, "[$].indexOf($) == 0"), CostError, id="index"),
        pytest.param(doubled(30, "[$, $].distinct().size() == 1"), CostError, id="distinct"),
        pytest.param(doubled(30, "sets.contains([$], [$])"), CostError, id="sets"),
        pytest.param(doubled(30, "true", "{1: 1}", "{$: $}"), NotEvaluatedError, id="types"),
        pytest.param(f"lists.range(50000).map(i, [{'1,' * 45000}1]).size() == 1", CostError, id="list"),
        pytest.param(
            "cel.bind(r, lists.range(20000), lists.range(20000).map(i, r).flatten().size() == 1)", CostError, id="wide"
        ),
        pytest.param("optional.of(1)" + ".optMap(x, x)" * 30 + ".hasValue()", NotEvaluatedError, id="macros"),
        pytest.param(
            r"lists.range(10000).all(i, !''.matches('(\\pL{100}){10}' + string(i)))", NotEvaluatedError, id="re"
        ),
        pytest.param(r"lists.range(60000).all(i, !''.matches('\\pL{99}' + string(i)))", CostError, id="patterns"),
        pytest.param(f"[{','.join(['size([1])'] * 9000)}].size() == 9000", True, id="calls"),
    ],
)
def test_work_and_memory_are_limited(expression: str, expected: Any) -> None:
    assert outcome(expression) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "cel.bind(r, lists.range(50000), lists.range(20000).all(i, r != []))",
        "cel.bind(r, lists.range(50000), lists.range(20000).all(i, r.exists(x, true)))",
    ],
)
def test_a_large_value_is_read_only_as_far_as_needed(expression: str) -> None:
    assert outcome(expression) is True


def test_a_value_that_only_a_cluster_knows_is_never_compared_or_printed() -> None:
    body = request_for({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}).body
    for expression in ("object.metadata.exists(k, v, v == null)", "'%s'.format([object.metadata]) == ''"):
        assert outcome(expression, body) is NotEvaluatedError
    assert outcome("{'uid': object.metadata}.all(k, v, v == {'uid': 1}) || true", body) is True
