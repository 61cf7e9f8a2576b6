"""The state of a run, by the facts of its kind."""

from __future__ import annotations

from typing import Any

from gen.kubernetes.facts import RESOURCES, RUNS
from gen.kubernetes.facts.base import Conditions, Phases
from gen.kubernetes.facts.state import State, reason_of, state_of
from tests.cases import for_each


def conditions(*types: str, **more: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": name, "status": "True", **more} for name in types]}}


@for_each("key", RUNS, ids="/".join)
def test_every_kind_of_run_has_its_states(key: tuple[str, str]) -> None:
    resource = RESOURCES[key]
    facts = resource.status
    assert state_of(resource, {}) is State.ACTIVE
    assert state_of(resource, {"status": {"conditions": "text", "state": 1, "phase": []}}) is State.ACTIVE
    if isinstance(facts, Conditions):
        assert state_of(resource, conditions(facts.succeeded)) is State.SUCCEEDED
        assert state_of(resource, conditions(facts.succeeded, facts.failed)) is State.FAILED
        assert (
            state_of(resource, {"status": {"conditions": [{"type": facts.failed, "status": "False"}]}}) is State.ACTIVE
        )
        if facts.suspended is not None:
            assert state_of(resource, conditions(facts.suspended)) is State.SUSPENDED
            assert state_of(resource, conditions(facts.suspended, facts.succeeded)) is State.SUCCEEDED
        assert reason_of(resource, conditions(facts.failed, reason="R", message="M")) == ("R", "M")
    elif isinstance(facts, Phases):
        for state, phases in ((State.SUCCEEDED, facts.succeeded), (State.FAILED, facts.failed)):
            for phase in phases:
                for value in phase.values:
                    body: Any = value
                    for step in reversed(phase.field):
                        body = {step: body}
                    assert state_of(resource, body) is state


def test_a_run_without_conditions_has_no_reason() -> None:
    assert reason_of(RESOURCES["batch", "Job"], {}) == ("", "")
