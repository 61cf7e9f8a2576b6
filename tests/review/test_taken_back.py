"""An edit that was rendered and taken back: the committed run goes on, on any platform of today."""

from __future__ import annotations

import pytest

from tests.history import JOB, History, branch
from tests.support import OVERLAY


@pytest.fixture
def kept(history: History) -> History:
    """A run that is kept behind the platform of today."""
    history.job(JOB)
    history.commit("a run")
    history.overlay(OVERLAY + "tensorboard: {image: registry.example.com/tb:9}\ndefaults: {env: {A: b}}\n")
    branch(history)
    assert not history.plan().starting
    return history


@pytest.mark.parametrize("committed", [False, True])
def test_the_run_of_the_base_goes_on(kept: History, committed: bool) -> None:
    base = kept.file("pytorchjob-").read_bytes()
    kept.job(JOB.replace("train.py", "other.py"))
    if committed:
        kept.commit("an edit")
    else:
        kept.rendering()
    assert [run.action.value for run in kept.plan().runs] == ["replaced"]
    kept.job(JOB)
    kept.rendering()
    plan = kept.plan()
    assert (plan.starting, plan.stopping) == ((), ())
    assert kept.file("pytorchjob-").read_bytes() == base


def test_a_removed_job_that_comes_back_goes_on(kept: History) -> None:
    base = kept.file("pytorchjob-").read_bytes()
    job = kept.root / "jobs/team/demo.yaml"
    text = job.read_bytes()
    job.unlink()
    kept.rendering(allow_empty=True)
    assert [run.action.value for run in kept.plan().runs] == ["stopped"]
    job.write_bytes(text)
    kept.rendering()
    assert kept.file("pytorchjob-").read_bytes() == base


def test_a_restart_is_not_taken_back(kept: History) -> None:
    kept.rendering(restart=True)
    assert [run.action.value for run in kept.plan().runs] == ["replaced"]
    kept.rendering()
    assert [run.action.value for run in kept.plan().runs] == ["replaced"], "a later render keeps the new run"
