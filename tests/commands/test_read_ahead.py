"""Job files that another process reads: the run takes its results, and does without them."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import Findings
from gen.base.repository.job_files import all_jobs
from gen.base.yaml.source import read
from gen.commands import rendering as module
from gen.commands.rendering import MIN_READ_AHEAD, read_ahead
from tests.support import Repository, tree

if TYPE_CHECKING:
    from pathlib import Path

JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py --seed 010\n"
PROCESSES = 2


@pytest.fixture
def many(repo: Repository) -> Repository:
    for index in range(MIN_READ_AHEAD):
        repo.job(JOB, name=f"job-{index}")
    return repo


def test_the_files_are_those_that_a_run_reads(many: Repository) -> None:
    many.job("kind: batch\nkind: batch\n", name="broken")
    with read_ahead(many.root) as ahead:
        assert ahead is not None
        sources = ahead()
    assert sources is not None
    jobs = [job for job in all_jobs(many.root, Findings()) if job.stem != "broken"]
    assert sources == {job.file: read(many.root, job.file, Findings()) for job in jobs}


def test_the_run_uses_them(many: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run itself reads only the file with a finding."""
    many.job("kind: batch\nkind: batch\n", name="broken")
    seen = []

    def noted(root: Path, file: str, found: Findings) -> object:
        seen.append(file)
        return read(root, file, found)

    monkeypatch.setattr("gen.render.stages.read", noted)
    monkeypatch.setattr("gen.render.run._JOBS_PER_PROCESS", 1000)
    report, code = many.render(parallel=PROCESSES)
    assert (seen, code) == (["jobs/team/broken.yaml"], 1)
    assert "duplicate-key" in {finding.code for finding in report.findings}


def test_a_killed_process_changes_nothing(many: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    assert many.render(parallel=1)[1] == 0
    expected = tree(many.root / "rendered")
    parent = os.getpid()

    def killed(root: Path, _: object) -> object:
        assert os.getpid() != parent, "reading ahead is the work of another process"
        os.kill(os.getpid(), signal.SIGKILL)
        return root

    monkeypatch.setattr(module, "_sources", killed)
    with read_ahead(many.root) as ahead:
        assert ahead is not None
        assert ahead() is None
    assert many.render(parallel=PROCESSES, restart=True)[1] == 0
    assert tree(many.root / "rendered") == expected


def test_few_files_are_not_worth_a_process(repo: Repository) -> None:
    for index in range(MIN_READ_AHEAD - 1):
        repo.job(JOB, name=f"job-{index}")
    with read_ahead(repo.root) as ahead:
        assert ahead is None


def test_the_process_ends_with_the_block(many: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()

    def endless(*_: object) -> None:
        os.write(writing, b"x")
        while True:
            signal.pause()

    monkeypatch.setattr(module, "_sources", endless)
    with read_ahead(many.root):
        os.close(writing)
        assert os.read(reading, 1) == b"x"
    assert os.read(reading, 1) == b"", "no process has the other end of the pipe"
    os.close(reading)
