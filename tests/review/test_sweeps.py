"""Effects of a change on the runs of a sweep, between real commits."""

from __future__ import annotations

import re

from gen.report.plan.text import text
from gen.report.plan.view import plan_view
from tests.history import JOB, History, branch

SWEEP = JOB + 'env: {LR: "{{ params.lr }}"}\nsweep: {matrix: {lr: [0.1, 0.01, 1]}}\n'


def actions(history: History) -> dict[str, str]:
    return {run["values"]["lr"]: run["action"] for run in history.report()["runs"]}


def test_a_value_in_the_middle_starts_its_run_and_stops_none(history: History) -> None:
    history.job(SWEEP)
    branch(history)
    history.job(SWEEP.replace("0.1, 0.01", "0.1, 0.05, 0.01"))
    assert actions(history) == {"0.05": "started"}
    assert {item["change"] for item in history.report()["objects"]} == {"added"}


def test_a_removed_value_stops_its_run_and_a_new_one_does_not_replace_it(history: History) -> None:
    history.job(SWEEP)
    branch(history)
    history.job(SWEEP.replace("0.01", "0.2"))
    assert actions(history) == {"0.01": "stopped", "0.2": "started"}


def test_an_edit_of_the_job_replaces_each_run_by_that_with_the_same_values(history: History) -> None:
    history.job(SWEEP)
    branch(history)
    history.job(SWEEP.replace("train:1", "train:2"))
    assert actions(history) == dict.fromkeys(["0.1", "0.01", "1"], "replaced")
    for run in history.report()["runs"]:
        assert run["before"]["name"][:-8] == run["after"]["name"][:-8]


def test_the_sweep_of_another_kind_replaces_the_runs_with_the_same_values(history: History) -> None:
    history.job(SWEEP)
    branch(history)
    history.job(SWEEP.replace("kind: pytorch", "kind: batch").replace("0.01, ", ""))
    assert actions(history) == {"0.1": "replaced", "1": "replaced", "0.01": "stopped"}


def test_a_job_that_becomes_a_sweep_stops_its_run(history: History) -> None:
    history.job(SWEEP.partition("sweep")[0] + "params: {lr: 0.1}\n")
    branch(history)
    history.job(SWEEP)
    runs = history.report()["runs"]
    assert sorted(run["action"] for run in runs) == ["started"] * 3 + ["stopped"]


def test_the_runs_of_a_sweep_are_one_row_with_their_sum(history: History) -> None:
    history.job(JOB, name="other")
    branch(history)
    history.job(SWEEP)
    history.rendering()
    plan = plan_view(history.plan())
    (section,) = plan.runs
    (row,) = section.runs
    assert section.title == "runs that start (3)"
    assert (row.name, row.pods, row.gpus, row.hours) == ("team/demo", "9", "72", "864")
    assert row.values == ("lr=0.01", "lr=0.1", "lr=1")
    printed = text(plan)
    assert re.search(r"  team/demo +dev +PyTorchJob +9 +72 +864\n    lr=0.01\n    lr=0.1\n", printed)


def test_finished_combinations_have_a_row_of_their_own(history: History) -> None:
    history.job(SWEEP)
    branch(history)
    history.job(
        SWEEP.replace("1]}", "1]}, overrides: [{when: {lr: 1}, state: finished}, {when: {lr: 0.1}, attempt: 2}]")
    )
    assert actions(history) == {"1": "retired", "0.1": "replaced"}


def test_a_value_of_a_retired_run_can_be_taken_out_of_a_sweep(history: History) -> None:
    """The entry that `gen retire` wrote stays: a warning that names the entry, and no similar value."""
    retired = SWEEP.replace("1]}", "1]}, overrides: [{when: {lr: 1}, state: finished}]")
    history.job(retired)
    branch(history)
    history.job(retired.replace(", 1]", "]"))
    report, code = history.render()
    found = {finding.code: finding for finding in report.findings}
    assert (code, found["no-effect"].is_error) == (0, False)
    assert found["no-effect"].hint == "remove the entry: the sweep no longer has these runs"
    assert history.codes() == []
