"""Defaults of hostile definitions: evaluating their rules takes limited time and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gen.cel.program import Program
from gen.rules.object_view import ObjectView
from gen.rules.server import definition_defaults
from gen.schemas.registry import versions

if TYPE_CHECKING:
    from gen.rules.fault import Fault


def faults(schema: Any) -> list[Fault]:
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    body = kind | {"spec": {"versions": [{"schema": {"openAPIV3Schema": {"properties": {"spec": schema}}}}]}}
    find = definition_defaults.definition_defaults.find
    assert find is not None
    return [*find(ObjectView.of(body, versions()[-1]))]


def ruled(rules: list[str], default: list[int]) -> Any:
    return {"type": "array", "default": default, "x-kubernetes-validations": [{"rule": rule} for rule in rules]}


def test_many_rules_for_many_entries_are_evaluated_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them would be 40 million."""
    evaluated = []
    real = Program.evaluate

    def evaluate(program: Program, values: dict[str, Any], limit: float) -> tuple[Any, float]:
        evaluated.append(1)
        return real(program, values, limit)

    monkeypatch.setattr(Program, "evaluate", evaluate)
    items = {"type": "integer", "x-kubernetes-validations": [{"rule": "true"}] * 2000}
    entries = [1] * 20_000
    assert not faults({"type": "array", "default": entries, "items": items})
    assert len(evaluated) == 100_000


@pytest.mark.parametrize(
    "rule", ["self.all(x, self.exists(y, y == x)) && 1 / 0 == 1", "self.all(x, x > 0) && 1 / 0 == 1"]
)
def test_rules_that_fail_cost_as_much_as_others(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definition_defaults, "_TOTAL", 10_000)
    schema = ruled([rule] * 100, [*range(1, 200)]) | {"items": {"type": "integer"}}
    found = faults(schema)
    assert len(found) < 100
    assert "cost more than 10,000" in found[-1].message
