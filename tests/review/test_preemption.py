"""Runs that may stop pods of a lower priority."""

from __future__ import annotations

import re

import pytest

from gen.report.formats import PLAN_REPORTERS
from tests.history import JOB, History, branch

OVERLAY = """\
kubernetes: "1.34"
priorities:
  urgent: {className: training-high, preemptionPolicy: PreemptLowerPriority}
  patient: {className: training-waiting, preemptionPolicy: Never}
  plain: {className: training-plain}
pipelines: {argo: {serviceAccount: steps}}
namespaces: {team: {priorities: [urgent, patient, plain], search: {maxTrials: 100, parallelTrials: 10}, metadata: []}}
"""
BATCH = JOB.replace("kind: pytorch", "kind: batch").replace("workers: 3\n", "")
URGENT = "priority: urgent\n"
SWEPT = "env: {LR: '{{ params.lr }}'}\n"
SAID = "may preempt pods below priority training-high"


@pytest.mark.parametrize(
    "job",
    [
        JOB + URGENT,
        BATCH + URGENT,
        BATCH + URGENT + "schedule: 0 3 * * *\n",
        JOB + URGENT + "schedule: 0 3 * * *\n",
        JOB + URGENT + SWEPT + "sweep: {matrix: {lr: [1, 2]}}\n",
        JOB
        + URGENT
        + SWEPT
        + "metrics: [loss]\nsearch: {minimize: loss, params: {lr: {min: 0.1, max: 1}}, maxTrials: 9}\n",
        (
            "kind: pipeline\nimage: a/b:1\ncommand: x\ntimeout: 1h\nsteps:\n  one: {kind: batch}\n"
            "  two: {kind: batch, priority: urgent}\n"
        ),
        JOB + URGENT + "state: suspended\n",
    ],
    ids=["run", "batch", "cron job", "cron workflow", "sweep", "search", "pipeline", "suspended"],
)
@pytest.mark.slow
def test_every_format_names_the_priority_of_pods_that_stop_others(history: History, job: str) -> None:
    history.overlay(OVERLAY)
    branch(history)
    history.job(job, name="new")
    for form in ("text", "markdown", "html"):
        said = re.sub(r"[`\\]|</?code>", "", history.report(form))
        assert SAID in said, (form, said)
    assert all(run["after"]["preempts"] == ["training-high"] for run in history.report()["runs"])
    assert set(PLAN_REPORTERS) - {"github", "junit"} == {"text", "markdown", "html", "json"}, "the others have findings"


@pytest.mark.parametrize("job", [JOB, JOB + "priority: patient\n", JOB + "priority: plain\n"])
def test_other_priorities_are_not_reported_to_stop_pods(history: History, job: str) -> None:
    """Without a policy, only the class in the cluster knows."""
    history.overlay(OVERLAY)
    branch(history)
    history.job(job, name="new")
    assert "preempt" not in history.report("text")
    assert history.report()["runs"][0]["after"]["preempts"] == []


def test_a_run_that_stops_stops_no_others(history: History) -> None:
    history.overlay(OVERLAY)
    history.job(JOB + URGENT)
    history.job(JOB + URGENT, name="done")
    branch(history)
    (history.root / "jobs/team/demo.yaml").unlink()
    history.job(JOB + URGENT + "state: finished\n", name="done")
    assert "preempt" not in history.report("text")
