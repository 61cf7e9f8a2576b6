"""Katib's own packages: its webhook accepts rendered searches, and its collector reads the logs of their trials."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from gen.job.kinds import KINDS
from gen.job.metric import KnownMetric
from gen.kubernetes.facts.base import Conditions, Resource
from gen.kubernetes.facts.katib import condition
from tests.e2e.objects import Rendered, all_rendered
from tests.go_programs import answers, go_program

if TYPE_CHECKING:
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

SEARCHES = [one for one in all_rendered() if one.body["kind"] == "Experiment"]
TRIALS = {str(kind.facts): kind.facts for kind in KINDS.values() if kind.facts.trial is not None}


@pytest.fixture(scope="session")
def katib(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with Katib's packages, built from the Go module proxy."""
    return go_program("katibref", tmp_path_factory.mktemp("go"))


def assignments(experiment: Body) -> list[Body]:
    """The first value of each parameter, as an algorithm would choose it."""
    spaces = ((one["name"], one["feasibleSpace"]) for one in experiment["spec"]["parameters"])
    return [{"name": name, "value": space["list"][0] if "list" in space else space["min"]} for name, space in spaces]


def test_there_are_searches() -> None:
    assert len(SEARCHES) >= 7
    assert {one.body["spec"]["trialTemplate"]["trialSpec"]["kind"] for one in SEARCHES} >= {"Job", "MPIJob", "JobSet"}


@pytest.mark.parametrize("rendered", SEARCHES, ids=str)
def test_the_webhook_accepts_a_search_and_the_server_its_trials(
    katib: Path, cluster: Cluster, rendered: Rendered
) -> None:
    (answer,) = answers(katib, [{"experiment": rendered.body, "assignments": assignments(rendered.body)}])
    assert answer["errors"] == []
    assert "${" not in json.dumps(answer["trial"]).replace("${SSH_ORIGINAL_COMMAND", "")
    response = cluster.try_to_create(answer["trial"])
    assert response.status == 201, response.message
    assert response.warnings == ()


BREAKING: list[tuple[str, dict[str, Any]]] = [
    ("objective", {"objective": None}),
    ("algorithm", {"algorithm": {"algorithmName": "annealing"}}),
    ("counts", {"parallelTrialCount": 99}),
    ("parameters", {"parameters": []}),
    ("unknown field", {"parallelTrials": 3}),
]


@pytest.mark.parametrize(("about", "change"), BREAKING, ids=[about for about, _ in BREAKING])
def test_the_webhook_refuses_a_broken_search(katib: Path, about: str, change: dict[str, Any]) -> None:
    """Otherwise the test above would say nothing."""
    body = SEARCHES[0].body
    broken = {**body, "spec": {**body["spec"], **change}}
    (answer,) = answers(katib, [{"experiment": broken, "assignments": assignments(body)}])
    assert answer["errors"], about


LINES = (
    *("loss=0.3", "epoch 3 loss: 1.3e-02", '{"loss": -7.5}', "val/loss=1", "loss 1"),
    "2026-01-02T03:04:05Z loss=2 a=1",
)


@pytest.mark.parametrize("line", LINES)
def test_the_collector_finds_what_python_finds(katib: Path, line: str) -> None:
    metric = KnownMetric(name="loss", format="raw")
    (answer,) = answers(katib, [{"log": f"start\n{line}\n", "metrics": ["loss"], "filters": [metric.regex]}])
    match = re.search(metric.regex, line)
    assert answer["values"] == {"loss": match["value"] if match is not None else "unavailable"}


def test_the_collector_reads_a_pattern(katib: Path) -> None:
    metric = KnownMetric(name="images/sec", format="raw", pattern="total {name} (all) is {value}!")
    case = {"log": "total images/sec (all) is   310.5!\n", "metrics": ["images/sec"], "filters": [metric.regex]}
    assert answers(katib, [case])[0]["values"] == {"images/sec": "310.5"}


def statuses(facts: Resource) -> list[tuple[Body, str]]:
    """Statuses of the operator, and the states of a trial."""
    known = facts.status
    if isinstance(known, Conditions):
        running = [{"type": "Created", "status": "True"}, {"type": "Running", "status": "True"}]

        def of(*conditions: dict[str, Any]) -> Body:
            return {"conditions": [*running, *conditions]}

        return [
            ({}, "Running"),
            (of(), "Running"),
            (of({"type": known.suspended, "status": "True"}), "Running"),
            (of({"type": known.succeeded, "status": "False"}), "Running"),
            (of({"type": known.failed, "status": "False"}), "Running"),
            (of({"type": known.succeeded, "status": "True", "reason": "a"}), "Succeeded"),
            (of({"type": known.failed, "status": "True", "message": "b"}), "Failed"),
        ]
    assert known is not None
    (succeeded,), (failed,) = known.succeeded, known.failed

    def phase(word: str) -> Body:
        status: Body = {}
        holder = status
        for step in failed.field[1:-1]:
            holder = holder.setdefault(step, {})
        holder[failed.field[-1]] = word
        return status

    return [
        ({}, "Running"),
        (phase("Running"), "Running"),
        *((phase(word), "Succeeded") for word in succeeded.values),
        *((phase(word), "Failed") for word in failed.values),
    ]


@pytest.mark.parametrize("kind", sorted(TRIALS))
def test_katib_sees_what_became_of_a_trial(katib: Path, kind: str) -> None:
    facts = TRIALS[kind]
    expressions = {"succeeded": condition(facts.status), "failed": condition(facts.status, failed=True)}
    given = statuses(facts)
    found = answers(
        katib, [{"object": {"metadata": {"name": "a"}, "status": status}, **expressions} for status, _ in given]
    )
    assert [(one["errors"], one.get("state")) for one in found] == [([], state) for _, state in given]
