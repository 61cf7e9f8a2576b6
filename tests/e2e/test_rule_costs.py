"""Estimated costs of CEL rules in definitions agree with a real API server, and with the library that it is built from.

`COST_SEED` and `COST_CASES` generate different and more definitions.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from gen.cel.costs.declared import declared_sizes
from gen.cel.costs.estimate import estimated
from gen.cel.errors import CompileError
from gen.cel.program import checked_tree
from gen.rules.object_view import ObjectView
from gen.rules.server.definition_costs import definition_costs
from gen.rules.server.definitions import definitions
from gen.rules.server.schema_values import rule_environment
from tests.e2e.cluster import read_definitions
from tests.e2e.cost_cases import definition, definition_of, object_of, rule_of, schema_of, text_of
from tests.go_programs import answers, go_program
from tests.support import SHARED

if TYPE_CHECKING:
    from pathlib import Path

    from gen.kubernetes import Body
    from gen.rules.rule import Rule
    from tests.e2e.cluster import Cluster

SEED = int(os.environ.get("COST_SEED", "1"))
CASES = int(os.environ.get("COST_CASES", "400"))
MINORS = (33, 34)
"""Their estimates are those of the library in `tests/celcostref`."""
NAMES = {"type": "string", "maxLength": 63}
LISTS: dict[str, Body] = {
    "self.a.all(x, x.matches('^[a-z]+$'))": {"type": "array", "items": NAMES},
    "self.a.all(x, self.a.exists_one(y, x == y))": {"type": "array", "items": NAMES},
    "self.a.all(x, self.a.all(y, self.a.exists(z, x + y == z)))": {"type": "array", "items": NAMES},
    "self.a.map(x, x + 'a').filter(x, x.contains('b')).size() > 0": {"type": "array", "items": NAMES},
    "self.a.all(x, x.b.all(y, x.c == y))": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"b": {"type": "array", "items": NAMES, "maxItems": 100}, "c": NAMES},
        },
    },
    "self.a.all(k, self.a[k].split(',').all(x, x.startsWith('a')))": {"type": "object", "additionalProperties": NAMES},
    "self.a.all(k, v, v.replace('a', 'bcd').contains(k))": {"type": "object", "additionalProperties": NAMES},
    "sets.intersects(self.a, self.a)": {"type": "array", "items": NAMES},
    "self.a.join('-').matches('^[a-z]+$')": {"type": "array", "items": NAMES},
    "self.a.all(x, isQuantity(x) && quantity(x).isGreaterThan(quantity('1')))": {"type": "array", "items": NAMES},
}
"""Rules whose cost grows with the limit of a list or a mapping."""
TEXTS = (
    "self.a.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?\\\\.)+[a-z]+$')",
    "self.a.contains(self.a + self.a)",
    "self.a.split(',').all(x, self.a.startsWith(x))",
    "self.a.findAll('[a-z]').all(x, x in self.a.findAll('[0-9]'))",
    "ip.isCanonical(self.a) && self.a.split('.').map(x, self.a.replace('a', 'b') + x).size() > 2",
)


def found(rule: Rule, body: Body) -> list[str]:
    assert rule.find is not None
    return [fault.message for fault in rule.find(ObjectView.of(body, "1.34"))]


def disagreement(cluster: Cluster, body: Body) -> str:
    """How the verdicts of the server and of gen on a definition differ."""
    response = cluster.try_to_create(body)
    refused, costs = response.status != 201, found(definition_costs, body)
    too_costly = "exceeds budget" in response.message
    if refused and not too_costly:
        return f"{response.message[:700]} {body['spec']['versions']}"
    if too_costly is not bool(costs):
        return f"{body['spec']['versions']}: {response.message[:500]}, {costs}"
    others = found(definitions, body)
    return f"rejected: {others}" if others else ""


def test_the_server_rejects_the_same_random_definitions(cluster: Cluster) -> None:
    random = Random(SEED)  # noqa: S311 - reproducible cases
    bodies = [definition_of(random, number) for number in range(CASES)]
    with ThreadPoolExecutor(3) as pool:
        different = [text for text in pool.map(lambda body: disagreement(cluster, body), bodies) if text]
    assert not different
    rejected = sum(bool(found(definition_costs, body)) for body in bodies)
    assert CASES / 10 < rejected < CASES * 9 / 10


def limited(schema: Body, limit: int, rules: list[str]) -> Body:
    field = {"array": "maxItems", "object": "maxProperties", "string": "maxLength"}[schema["type"]]
    spec = {"type": "object", "properties": {"a": {**schema, field: limit}}}
    validations = [{"rule": rule} for rule in rules]
    whole = {"type": "object", "properties": {"spec": {**spec, "x-kubernetes-validations": validations}}}
    return definition(whole)


def first_rejected(schema: Body, rules: list[str]) -> int:
    """The lowest limit for which gen rejects the rules."""
    low, high = 0, 1
    while not found(definition_costs, limited(schema, high, rules)):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        if found(definition_costs, limited(schema, middle, rules)):
            high = middle
        else:
            low = middle
    return high


@pytest.mark.parametrize("count", [1, 11, 25])
@pytest.mark.parametrize(
    ("rule", "schema"), [*LISTS.items(), *((text, {"type": "string"}) for text in TEXTS)], ids=lambda one: str(one)[:40]
)
def test_the_server_has_the_same_limits(rule: str, schema: Body, count: int, cluster: Cluster) -> None:
    """One rule reaches the limit of a rule; many together that of a version."""
    rules = [rule] * count
    first = first_rejected(schema, rules)
    assert cluster.try_to_create(limited(schema, first - 1, rules)).status == 201
    assert "exceeds budget" in cluster.try_to_create(limited(schema, first, rules)).message
    [message] = found(definition_costs, limited(schema, first, rules))[-1:]
    assert ("all" in message) is (count > 10)


def test_definitions_of_operators_pass() -> None:
    bodies = list(read_definitions(SHARED / "crds"))
    assert not [text for body in bodies for text in found(definition_costs, body)]
    assert sum("x-kubernetes-validations" in str(body) for body in bodies) > 15


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return go_program("celcostref", tmp_path_factory.mktemp("go"))


def estimates(schema: Body, minor: int, *, root: bool) -> list[Any]:
    sizes = declared_sizes(schema, root=root)
    assert sizes is not None
    result: list[list[Any]] = []
    for rule in schema["x-kubernetes-validations"]:
        environment = rule_environment(schema, rule, minor, is_root=root)
        costs: list[Any] = []
        for text in rule.values():
            try:
                tree, checked = checked_tree(text, environment, escaped_names=True)
            except CompileError as error:
                costs = [error.message]
                break
            costs.append(estimated(tree, checked, sizes).cost)
        result.append([*costs, sizes.most_in_request])
    return result


@pytest.mark.parametrize("minor", MINORS)
def test_estimates_are_those_of_the_library(reference: Path, minor: int) -> None:
    random = Random(SEED)  # noqa: S311 - reproducible cases
    schemas = []
    for _ in range(CASES * 2):
        schema = object_of(random) if random.random() < 0.7 else schema_of(random)
        if "type" in schema:
            rules = [{"rule": rule_of(random, schema), "messageExpression": text_of(random, schema)} for _ in range(4)]
            schemas.append({**schema, "x-kubernetes-validations": rules})
    roots = [schema["type"] == "object" and "properties" in schema and random.random() < 0.3 for schema in schemas]
    asked = [{"schema": schema, "root": root, "minor": minor} for schema, root in zip(schemas, roots, strict=True)]
    for schema, root, theirs in zip(schemas, roots, answers(reference, asked), strict=True):
        ours = estimates(schema, minor, root=root)
        expected = [[one["cost"], one["messageCost"], one["cardinality"]] for one in theirs]
        assert not [one["error"] for one in theirs if one["error"]]
        assert ours == expected, schema
