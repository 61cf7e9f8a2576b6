"""Large runs create new files while they render, in all processes, with the same result and the same errors."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.base.repository.layout import RENDERED, STAGING
from gen.render import run, write
from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path

JOB = "kind: batch\nimage: registry.example.com/train:{tag}\ncommand: python train.py\ndata: {{nas: /data}}\n"
JOBS = 120
"""Enough for two processes."""


def with_jobs(repo: Repository, tag: int = 1) -> Repository:
    for number in range(JOBS):
        repo.job(JOB.format(tag=tag), name=f"job-{number}")
    return repo


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.setattr(run, "STAGED_JOBS", 1)
    return with_jobs(Repository.at(tmp_path / "repo"))


@pytest.mark.parametrize("parallel", [1, 2])
def test_the_files_are_those_of_a_small_run(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, parallel: int
) -> None:
    small = Repository.at(tmp_path / "small")
    for tag in (1, 2):
        with_jobs(repo, tag=tag)
        with_jobs(small, tag=tag)
        (small.root / "jobs/team/job-7.yaml").unlink()
        (repo.root / "jobs/team/job-7.yaml").unlink()
        report, code = repo.render(parallel=parallel)
        with monkeypatch.context() as patch:
            patch.setattr(run, "STAGED_JOBS", JOBS * 2)
            expected, _ = small.render(parallel=parallel)
        assert (code, report.summary, repo.rendered()) == (0, expected.summary, small.rendered())
        assert [(one.path, one.status) for one in report.changes] == [(o.path, o.status) for o in expected.changes]
        assert not (repo.root / STAGING).exists()
    assert repo.check()[1] == 0


def test_texts_leave_memory(repo: Repository) -> None:
    report, _ = repo.render()
    assert {(one.old, one.new) for one in report.changes if "/jobs/" in one.path} == {(None, None)}
    (repo.root / "rendered/dev/jobs/team/job-3/job-job-3.yaml").unlink()
    report, _ = repo.check()
    assert [one.path for one in report.changes] == ["rendered/dev/jobs/team/job-3/job-job-3.yaml"]
    assert report.changes[0].new is not None


@pytest.mark.parametrize("parallel", [1, 2])
def test_nothing_is_written_with_an_error(repo: Repository, parallel: int) -> None:
    repo.job(JOB.format(tag=1) + "wrokers: 2\n", name="job-119")
    assert repo.render(parallel=parallel)[1] == 1
    assert not (repo.root / RENDERED).exists()
    repo.job(JOB.format(tag=1), name="job-119")
    assert repo.render(parallel=parallel)[1] == 0
    before = repo.rendered()
    with_jobs(repo, tag=2).job("name: job-1\n" + JOB.format(tag=2), name="job-119")  # only seen across jobs
    assert repo.render(parallel=parallel)[1] == 1
    assert repo.rendered() == before
    assert not (repo.root / STAGING).exists()


def test_line_ends_and_edits_are_counted(repo: Repository) -> None:
    repo.render()
    first, second = (repo.root / f"rendered/dev/jobs/team/job-{n}/job-job-{n}.yaml" for n in (1, 2))
    first.write_bytes(first.read_bytes().replace(b"\n", b"\r\n"))
    second.write_text(second.read_text() + "a: b\n")
    report, _ = repo.render()
    assert "wrote 2" in report.summary
    assert "1 edited by hand, 1 with the line ends of Windows" in report.summary
    assert repo.check()[1] == 0


@pytest.mark.parametrize("parallel", [1, 2])
def test_an_error_of_the_system_names_the_file(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, parallel: int
) -> None:
    create = write._create  # noqa: SLF001 - wrapped here

    def full(path: str, data: bytes) -> None:
        if path.endswith("/job-job-60.yaml"):
            raise OSError(28, "No space left on device")
        create(path, data)

    monkeypatch.setattr(write, "_create", full)
    with pytest.raises(UsageError, match=r"rendered/dev/jobs/team/job-60/job-job-60\.yaml: .*No space left"):
        repo.render(parallel=parallel)
    assert not (repo.root / STAGING).exists()
    assert repo.rendered() == {}


def test_a_folder_that_is_a_link_is_refused(repo: Repository, tmp_path: Path) -> None:
    repo.render()
    folder = repo.root / "rendered/dev/jobs/team"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with_jobs(repo, tag=2)
    before = sorted(path.read_text() for path in (tmp_path / "elsewhere").rglob("*.yaml"))
    with pytest.raises(UsageError, match="rendered/dev/jobs/team is not a regular folder"):
        repo.render()
    assert sorted(path.read_text() for path in (tmp_path / "elsewhere").rglob("*.yaml")) == before


# one process of a run gets a signal when it has created some files
STRUCK = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from gen.render import run, write
run.STAGED_JOBS = 1
parent, create, created = os.getpid(), write._create, 0
def struck(path, data):
    global created
    created += 1
    create(path, data)
    if created == 20 and ({where}):
        os.kill({whom}, signal.{what})
write._create = struck
sys.argv = ["gen", "render", "--parallel", "2", "--no-cache"]
from gen.__main__ import main
main()
"""


def renders(repo: Repository) -> bool:
    """Whether the next run succeeds. A process of a killed run has the lock until it ends."""
    with suppress(UsageError):
        return repo.render()[1] == 0
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "whom", "what", "code", "stays"),
    [
        ("os.getpid() == parent", "parent", "SIGINT", 130, False),
        ("os.getpid() != parent", "os.getpid()", "SIGKILL", 2, False),
        ("os.getpid() != parent", "parent", "SIGKILL", -signal.SIGKILL, True),
    ],
    ids=["interrupt", "killed process", "killed run"],
)
def test_after_a_signal_nothing_is_half_written(
    repo: Repository, where: str, whom: str, what: str, code: int, stays: bool
) -> None:
    repo.render()
    before = repo.rendered()
    with_jobs(repo, tag=2)
    script = STRUCK.format(where=where, whom=whom, what=what)
    done = subprocess.run([sys.executable, "-c", script], cwd=repo.root, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert {path: text for path, text in repo.rendered().items() if not path.startswith(".gen.tmp")} == before
    assert stays or not (repo.root / STAGING).exists()
    assert any(renders(repo) or Event().wait(0.05) for _ in range(200))
    assert repo.check()[1] == 0
    assert not (repo.root / STAGING).exists()
