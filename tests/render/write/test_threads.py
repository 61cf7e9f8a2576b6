"""Many files are created in two threads, with the same result and the same errors."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.base.repository.layout import STAGING
from gen.render import write
from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path

JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
JOBS = 20


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setattr(write, "_MANY", 2)
    repo = Repository.at(tmp_path / "repo")
    for number in range(JOBS):
        repo.job(JOB, name=f"job-{number}")
    return repo


class Failing:
    """Raises an error instead of creating some file, and counts the others."""

    def __init__(self, name: str, error: BaseException) -> None:
        self.name, self.error, self.created = name, error, 0
        self.raised = threading.Event()
        self.create = write._create  # noqa: SLF001 - wrapped here

    def __call__(self, path: str, data: bytes) -> None:
        if self.name.encode() in data:
            self.raised.set()
            raise self.error
        if threading.current_thread() is not threading.main_thread() and self.name == "job-0":
            self.raised.wait(60)
        self.create(path, data)
        self.created += 1


def test_the_files_are_those_of_one_thread(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.render()
    files = repo.rendered()
    assert len(files) >= JOBS
    monkeypatch.setattr(write, "_MANY", 1000)
    other = Repository.at(repo.root.parent / "other")
    for number in range(JOBS):
        other.job(JOB, name=f"job-{number}")
    other.render()
    assert other.rendered() == files


@pytest.mark.parametrize("name", ["job-0", "job-9"])  # the first and the last: the other thread has the last
def test_an_error_of_a_thread_names_the_file(repo: Repository, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(write, "_create", Failing(name, OSError(28, "No space left on device")))
    with pytest.raises(UsageError, match=rf"rendered/dev/jobs/team/{name}/job-{name}\.yaml: .*No space left"):
        repo.render()
    assert not (repo.root / STAGING).exists()
    assert repo.rendered() == {}


def test_after_an_interrupt_the_other_thread_stops(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Failing("job-0", KeyboardInterrupt())
    monkeypatch.setattr(write, "_create", failing)
    with pytest.raises(KeyboardInterrupt, match="interrupted while writing"):
        repo.render()
    assert failing.created < JOBS // 2
    assert not (repo.root / STAGING).exists()


def test_a_system_without_more_threads_is_enough(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    repo.render()
    assert len(repo.rendered()) >= JOBS
