"""Expressions as a whole: values, types, errors in the words of an API server, and the limit of their cost."""

from __future__ import annotations

from typing import Any

import pytest

from gen.kubernetes.cel.environment import Environment
from gen.kubernetes.cel.program import compile_expression
from gen.kubernetes.cel.values import (
    DYN,
    INT,
    STRING,
    CelError,
    CompileError,
    CostError,
    NotEvaluatedError,
    Opaque,
    Type,
    UnavailableError,
    list_of,
    map_of,
)
from tests.cases import for_each

OBJECT = {
    "metadata": {"name": "web", "labels": {"app": "web"}},
    "spec": {"replicas": 3, "flag": True, "ratio": 0.5, "items": [{"name": "a"}, {"name": "b", "size": 2}], "no": None},
}
ENVIRONMENT = Environment(
    {"object": DYN, "count": INT, "names": list_of(STRING), "labels": map_of(STRING, STRING), "box": Type("Box")},
    {"Box": {"width": INT, "inner": Type("Inner")}, "Inner": {"text": STRING}},
)
VALUES = {
    "object": OBJECT,
    "count": 3,
    "names": ["a", "b"],
    "labels": {"app": "web"},
    "box": {"width": 1, "inner": {"text": "x"}},
}


def value_of(expression: str, limit: float = 1_000_000) -> Any:
    return compile_expression(expression, ENVIRONMENT).evaluate(VALUES, limit)[0]


@for_each(
    ("expression", "expected"),
    [
        ("object.spec.replicas + 1", 4),
        ("object['spec']['items'][1].size", 2),
        ("has(object.spec.none)", False),
        ("has(object.metadata.labels.app)", True),
        ("object.spec.items.all(item, has(item.name))", True),
        ("object.spec.items.exists(item, item.size == 2)", True),
        ("object.spec.items.exists_one(item, item.name == 'a')", True),
        ("object.spec.items.filter(item, has(item.size)).map(item, item.name)", ["b"]),
        ("object.spec.items.map(item, has(item.size), item.size)", [2]),
        ("labels.all(key, value, key.size() == value.size())", True),
        ("names.transformList(index, name, name + string(index))", ["a0", "b1"]),
        ("labels.transformMap(key, value, value + '!')", {"app": "web!"}),
        ("labels.transformMapEntry(key, value, {value: key})", {"web": "app"}),
        ("object.?spec.?none.orValue(7)", 7),
        ("object.spec.items[?5].hasValue()", False),
        ("{?'a': object.?none, 'b': 1}", {"b": 1}),
        ("[?object.?none, 1]", [1]),
        ("optional.of(2).optMap(x, x * 2).value()", 4),
        ("cel.bind(x, count * count, x + x)", 18),
        ("1 / 0 > 1 || true", True),
        ("false && 1 / 0 > 1", False),
        ("[1, 0].exists(x, 1 / x == 1)", True),
        ("dyn(1) == 1.0 && dyn(1) == dyn(1u)", True),
        ("dyn(true) == dyn(1)", False),
        ("object.spec.no == null", True),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("'%s has %d of %.1f'.format([object.metadata.name, count, 2.5])", "web has 3 of 2.5"),
        ("box.inner.text", "x"),
        ("type(count) == int && type(names) == list", True),
        ("'a' in labels ? 1 : 2", 2),
        ("r'\\d' + '\\u00e9' + '''x'''", "\\d\u00e9x"),
        ("b'a' == bytes('a')", True),
        ("-9223372036854775808 < 0", True),
        ("names.map(x, names.map(x, x)).size() == 2", True),
        ("!" * 500 + "true", True),
        ("-" * 501 + "count", -3),
    ],
)
def test_a_value(expression: str, expected: Any) -> None:
    found = value_of(expression)
    assert found == expected
    assert type(found) is type(expected)


@for_each(
    ("expression", "message"),
    [
        ("object.spec.missing == 1", "no such key: missing"),
        ("object.spec.replicas.more == 1", "no such key: more"),
        ("object.spec.items[9].name", "index out of bounds: 9"),
        ("object.spec.replicas.startsWith('a')", "no such overload: startsWith(int, string)"),
        ("object.metadata.name + 1", "no such overload"),
        ("count / (count - 3)", "division by zero"),
        ("9223372036854775807 + count", "integer overflow"),
        ("object.spec.items.all(item, item.size == 2)", "no such key: size"),
        ("int(object.metadata.name)", 'strconv.ParseInt: parsing "web": invalid syntax'),
        ("optional.none().value()", "optional.none() dereference"),
        ("names.filter(x, x == 'z').max()", "max called on empty list"),
    ],
)
def test_an_error_has_the_words_of_a_server(expression: str, message: str) -> None:
    with pytest.raises(CelError) as raised:
        value_of(expression)
    assert str(raised.value) == message


@for_each(
    ("expression", "message"),
    [
        ("nothing == 1", "undeclared reference to 'nothing' (in container '')"),
        ("count.foo()", "undeclared reference to 'foo' (in container '')"),
        ("count + 'a'", "found no matching overload for '_+_' applied to '(int, string)'"),
        ("names.startsWith('a')", "found no matching overload for 'startsWith' applied to 'list(string).(string)'"),
        ("box.height", "undefined field 'height'"),
        ("count.field", "type 'int' does not support field selection"),
        ("[1, 'a']", "expected type 'int' but found 'string'"),
        (
            "count.all(x, true)",
            "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        ("names.all(x, x)", "found no matching overload for '_&&_' applied to '(bool, string)'"),
        ("has(count)", "invalid argument to has() macro"),
        ("names.all(1, true)", "argument must be a simple name"),
        ("'a'.matches('(')", "invalid matches argument"),
        ("duration('1x')", "invalid duration argument"),
        ("1 +", "Syntax error: unexpected '<EOF>'"),
        ("a b", "Syntax error: unexpected 'b'"),
        ("'open", "Syntax error: token recognition error at: '''"),
        ("9223372036854775808", "invalid int literal"),
        ("for == 1", "reserved identifier: for"),
    ],
)
def test_what_a_server_refuses(expression: str, message: str) -> None:
    with pytest.raises(CompileError) as raised:
        compile_expression(expression, ENVIRONMENT)
    assert raised.value.message == message


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    [
        "object.big.all(x, object.big.all(y, x == y || x != y))",
        "object.text.replace('a', object.text).replace('a', object.text).size() > 0",
        "lists.range(100000000).size() > 0",
        "lists.range(1000).map(x, object.text.replace('a', object.text)).size() > 0",
        "lists.range(100000).map(x, '%s'.format([object.big])).size() > 0",
    ],
)
def test_work_is_limited(expression: str) -> None:
    program = compile_expression(expression, ENVIRONMENT)
    with pytest.raises(CelError, match="cost limit"):
        program.evaluate({"object": {"big": list(range(3000)), "text": "a" * 3000}})


def test_no_operator_absorbs_the_limit() -> None:
    with pytest.raises(CostError):
        value_of("names.exists(x, object.spec.items.all(y, y.name != x)) || true", limit=5)


def test_the_cost_is_the_same_each_time() -> None:
    program = compile_expression("object.spec.items.all(item, item.name.size() == 1)", ENVIRONMENT)
    costs = {program.evaluate(VALUES)[1] for _ in range(3)}
    assert len(costs) == 1


@pytest.mark.parametrize("text", ["(" * 100 + "1" + ")" * 100, "+".join("1" * 400)])
def test_deep_nesting_is_not_evaluated(text: str) -> None:
    with pytest.raises(NotEvaluatedError):
        compile_expression(text, ENVIRONMENT).evaluate(VALUES)


def test_a_chain_of_conditions_is_not_nested() -> None:
    assert value_of(" && ".join(["count == 3"] * 2000)) is True


def test_only_a_cluster_knows_permissions() -> None:
    environment = Environment({"authorizer": Type("kubernetes.authorization.Authorizer")})
    program = compile_expression("authorizer.group('').resource('pods').check('get').allowed() || true", environment)
    with pytest.raises(NotEvaluatedError):
        program.evaluate({"authorizer": Opaque("kubernetes.authorization.Authorizer", None)})


@pytest.mark.parametrize(
    ("expression", "since"),
    [("[1].reverse()", 35), ("object.reverse()", 35), ("'a'.reverse()", None), ("[1].existsOne(v, v == 1)", None)],
)
def test_a_newer_function_is_that_of_the_types_of_its_arguments(expression: str, since: int | None) -> None:
    with pytest.raises(UnavailableError) as raised:
        compile_expression(expression, Environment({"object": DYN}, minor=34))
    assert raised.value.since == since


def test_arguments_of_no_version_are_not_of_a_newer_one() -> None:
    with pytest.raises(CompileError, match=r"^found no matching overload for 'reverse' applied to 'int.\(\)'$"):
        compile_expression("1.reverse()", Environment({}, minor=34))
