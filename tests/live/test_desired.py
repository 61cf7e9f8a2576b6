"""Reading of `rendered/` with files of any content."""

from __future__ import annotations

import pytest

from gen.base.repository.layout import JobFile
from gen.live.desired import desired_runs
from tests.kfp import defining
from tests.support import OVERLAY, Repository

JOB = "kind: pytorch\nimage: a:1\ncommand: x\n"


def test_runs_and_schedules_are_wanted(repo: Repository) -> None:
    repo.job(JOB + "tensorboard: {logdir: /data}\ndata: {data: /data}\n")
    repo.job("kind: batch\nimage: a:1\ncommand: x\ntimeout: 1h\nschedule: 0 3 * * *\n", "nightly")
    repo.job(JOB + "state: suspended\n", "later")
    repo.render()
    found = desired_runs(repo.root, ("dev",), None)
    assert [(one.job, one.resource.kind, one.state) for one in found] == [
        ("demo", "PyTorchJob", "active"),
        ("later", "PyTorchJob", "suspended"),
        ("nightly", "CronJob", "active"),
    ]
    (one,) = desired_runs(repo.root, ("dev",), {JobFile("team", "later")})
    assert one.source == JobFile("team", "later")


def test_a_definition_is_not_wanted(repo: Repository) -> None:
    """Git does not know its runs."""
    repo.overlay(defining(OVERLAY))
    repo.job("kind: pipeline\nkfp: {}\nimage: a:1\nsteps: {one: {kind: batch, command: x}}\n")
    repo.render()
    assert repo.rendered()
    assert desired_runs(repo.root, ("dev",), None) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("namespace: team", "namespace: ../../secrets"),
        ("gen/job: demo", 'gen/job: "demo),(a"'),
        ("apiVersion: kubeflow.org/v1", "apiVersion: kubeflow.org/../../api/v1"),
        ("kind: PyTorchJob", "kind: [a"),
    ],
)
def test_names_that_no_server_accepts_are_not_asked_for(repo: Repository, old: str, new: str) -> None:
    repo.job(JOB)
    repo.render()
    path = repo.root / "rendered/dev/jobs/team/demo/pytorchjob-demo.yaml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    assert desired_runs(repo.root, ("dev",), None) == []
