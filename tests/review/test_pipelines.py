"""Pipelines in a plan: their steps, and the GPUs of their widest moment."""

from __future__ import annotations

import re

from tests.history import History, branch, reported
from tests.kfp import defining
from tests.support import OVERLAY

JOB = """\
kind: pipeline
image: registry.example.com/train:1
command: python main.py
cpu: 1
memory: 1Gi
steps:
  prepare: {kind: batch, timeout: 1h}
  left: {kind: pytorch, needs: [prepare], gpus: 4, timeout: 2h}
  right: {kind: pytorch, needs: [prepare], gpus: 2, workers: 2, timeout: 3h}
  last: {kind: pytorch, needs: [left, right], gpus: 6, timeout: 1h}
"""


def test_a_plan_shows_the_steps_with_the_widest_moment(history: History) -> None:
    history.job(JOB.replace("main", "other"), name="other")
    branch(history)
    history.job(JOB)
    (run,) = history.report()["runs"]
    after = run["after"]
    assert (run["action"], after["gpus"], after["pods"], after["gpuHours"]) == ("started", 8, 5, 26)
    assert [(one["name"], one["kind"], one["depth"], one["gpus"]) for one in after["steps"]] == [
        ("prepare", "Job", 0, 0),
        ("left", "PyTorchJob", 1, 4),
        ("right", "PyTorchJob", 1, 4),
        ("last", "PyTorchJob", 2, 6),
    ]
    steps = history.plan().runs[0].latest.steps
    assert [step.needs for step in steps] == [(), ("prepare",), ("prepare",), ("left", "right")]
    shown = reported("text", history.plan())
    assert "\n      right: PyTorchJob, 2 pods, 4 GPUs, at most 12 GPU-hours\n" in shown
    assert "\n        last: PyTorchJob, 1 pod, 6 GPUs, at most 6 GPU-hours\n" in shown


def test_an_edited_step_replaces_the_run(history: History) -> None:
    history.job(JOB)
    branch(history)
    history.job(JOB.replace("gpus: 6", "gpus: 5"))
    report = history.report()
    assert [run["action"] for run in report["runs"]] == ["replaced"]
    assert report["summary"]["runs"]["started"] == report["summary"]["runs"]["stopped"] == 1
    (row,) = (line for line in reported("markdown", history.plan()).splitlines() if "replaces `" in line)
    assert re.search(r"replaces `[^`]+`, `prepare", row), "two code spans would join without text between them"


def test_a_label_is_no_edit_of_a_run(history: History) -> None:
    history.job(JOB)
    branch(history)
    history.job(JOB + "labels: {cost: a}\n")
    assert [run["action"] for run in history.report()["runs"]] == []


def test_a_suspended_pipeline_still_counts(history: History) -> None:
    """Its steps go on, so suspending it must not free the quota for another job."""
    history.overlay(OVERLAY.replace('  "*":\n', '  "*":\n    gpus: 8\n'))
    history.job(JOB)
    branch(history)
    history.job(JOB + "state: suspended\n")
    (run,) = history.report()["runs"]
    assert (run["action"], run["after"]["counted"]) == ("suspended", True)
    history.job(JOB, name="other")
    assert "over-quota" in {finding.code for finding in history.render()[0].findings}


def test_a_suspended_pipeline_goes_on_until_it_is_removed(history: History) -> None:
    history.job(JOB)
    history.job(JOB.replace("gpus: 6", "gpus: 5"), name="other")
    branch(history)
    history.job(JOB + "state: suspended\n")
    (run,) = history.report()["runs"]
    assert (run["action"], run["stops"]) == ("suspended", False)
    assert "no step starts; those that have go on, and count" in reported("text", history.plan())
    history.commit("suspended")
    history.git("switch", "--quiet", "main")
    history.git("merge", "--quiet", "topic")
    history.git("switch", "--quiet", "topic")
    history.root.joinpath("jobs/team/demo.yaml").unlink()
    (removed,) = history.report()["runs"]
    assert (removed["action"], removed["stops"]) == ("stopped", True)


def test_a_definition_starts_and_stops_nothing(history: History) -> None:
    """People start the runs of a pipeline with `kfp`, and they go on without it."""
    history.overlay(defining(OVERLAY))
    history.job(JOB.replace("main", "other"), name="other")
    branch(history)
    job = JOB + "kfp: {}\n"
    history.job(job)
    (added,) = history.report()["runs"]
    after = added["after"]
    assert (added["action"], added["starts"], after["gpus"], after["pods"]) == ("defined", False, 8, 5)
    assert [one["name"] for one in after["steps"]] == ["prepare", "left", "right", "last"]
    assert "new pipelines of Kubeflow Pipelines: people start their runs" in reported("text", history.plan())
    _merge(history)
    history.job(job.replace("gpus: 6", "gpus: 5"))
    (edited,) = history.report()["runs"]
    assert (edited["action"], edited["starts"], edited["stops"]) == ("redefined", False, False)
    _merge(history)
    history.root.joinpath("jobs/team/demo.yaml").unlink()
    (removed,) = history.report()["runs"]
    assert (removed["action"], removed["stops"]) == ("undefined", False)


def _merge(history: History) -> None:
    history.render()
    history.commit("change")
    history.git("switch", "--quiet", "main")
    history.git("merge", "--quiet", "topic")
    history.git("switch", "--quiet", "topic")
