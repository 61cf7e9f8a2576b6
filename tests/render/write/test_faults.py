"""Refusals of the system end with exit 2 and name the file and the reason, tested with real ones."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import gen
from gen.base.findings import UsageError
from gen.render import run
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {nas: /data}\n"
RUN = "rendered/dev/jobs/team/demo/pytorchjob-demo.yaml"
NOBODY = 65534


@pytest.fixture(params=[1, 1000], ids=["staged while it renders", "staged after all checks"])
def repo(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    """A rendered repository, seen by a user for whom permissions count."""
    monkeypatch.setattr(run, "STAGED_JOBS", request.param)
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        _import_everything(tmp_path)
        folder.chmod(0o755)
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        if not _readable(Path(gen.__file__).parent):
            pytest.skip("other users cannot read the folder of this project")
        repo = Repository.at(folder / "repo")
        repo.job(JOB)
        assert repo.render()[1] == 0
        yield repo
    finally:
        if root:
            os.seteuid(0)
        for path in folder.rglob("*"):
            if not path.is_symlink():
                path.chmod(0o755)
        shutil.rmtree(folder)


def _import_everything(folder: Path) -> None:
    """Late imports may be in a folder that the user cannot read."""
    warm = Repository.at(folder / "warm")
    for job in (JOB, f"{JOB}no: field\n"):
        warm.job(job)
        warm.render()


def _readable(folder: Path) -> bool:
    try:
        return bool(os.listdir(folder))  # noqa: PTH208 - asked of the system, as the user that counts
    except PermissionError:
        return False


def test_output_that_cannot_be_read_is_named(repo: Repository) -> None:
    (repo.root / RUN).chmod(0)
    for command in (repo.check, repo.render):
        with pytest.raises(UsageError, match=f"{RUN}: Permission denied; make it readable"):
            command()


@pytest.mark.parametrize("folder", ["rendered", "rendered/dev/jobs", "jobs", "jobs/team", "overlays", "overlays/dev"])
def test_a_folder_that_cannot_be_read_is_named(repo: Repository, folder: str) -> None:
    (repo.root / folder).chmod(0o300)
    with pytest.raises(UsageError, match=f"{folder}: Permission denied; check its permissions"):
        repo.check()


@pytest.mark.parametrize("path", ["jobs/team/demo.yaml", "overlays/dev/overlay.yaml"])
def test_an_input_that_cannot_be_read_is_a_finding(repo: Repository, path: str) -> None:
    (repo.root / path).chmod(0)
    report, code = repo.render(cache=repo.root / "cache")
    assert (code, [(f.code, f.place.file) for f in report.findings]) == (1, [("unreadable", path)])


@pytest.mark.parametrize(
    ("folder", "named"),
    [
        ("rendered", "rendered/.gen.tmp"),
        ("rendered/dev/jobs/team", "rendered/dev/jobs/team/new/pytorchjob-new.yaml"),
        ("rendered/dev/jobs/team/demo", RUN),
    ],
)
def test_a_folder_that_cannot_be_written_is_named(repo: Repository, folder: str, named: str) -> None:
    before = repo.rendered()
    repo.job(JOB + "gpus: 1\n")
    repo.job(JOB, name="new")
    (repo.root / folder).chmod(0o500)
    with pytest.raises(UsageError, match=f"{named}: Permission denied; .* run `gen render` again"):
        repo.render()
    assert repo.rendered().items() >= {path: text for path, text in before.items() if "new" not in path}.items()
    (repo.root / folder).chmod(0o700)
    assert repo.render()[1] == 0
    assert repo.check()[1] == 0
    assert not (repo.root / "rendered/.gen.tmp").exists()


def test_a_full_disk_changes_nothing(repo: Repository) -> None:
    before = repo.rendered()
    repo.job(JOB.replace("train:1", "train:2") + "gpus: 1\n")
    repo.job(JOB + "files: {/etc/big: '" + "x" * 10_000 + "'}\n", name="new")
    with (
        largest_file(8_000),
        pytest.raises(UsageError, match=r"rendered/dev/jobs/team/new/.*: File too large; free some space"),
    ):
        repo.render()
    assert repo.rendered() == before
    assert repo.render()[1] == 0


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """The system refuses to write more, as it does when a disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("kind", ["file", "link", "folder", "link to nothing"])
def test_objects_in_the_place_of_staged_files_are_removed_and_not_followed(repo: Repository, kind: str) -> None:
    staging, outside = repo.root / "rendered/.gen.tmp", repo.root / "outside"
    outside.mkdir()
    (outside / "0").write_text("kept")
    if kind == "file":
        staging.write_text("x")
    elif kind == "folder":
        (staging / "0").mkdir(parents=True)
    else:
        staging.symlink_to(outside if kind == "link" else "nothing")
    repo.job(JOB + "gpus: 1\n")
    assert repo.render()[1] == 0
    assert not os.path.lexists(staging)
    assert (outside / "0").read_text() == "kept"


def test_a_concurrent_removal_is_not_an_error(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.job(JOB, name="other")
    (repo.root / "jobs/team/demo.yaml").unlink()
    real = Path.unlink

    def racing(path: Path, *, missing_ok: bool = False) -> None:
        if path.name == Path(RUN).name:
            shutil.rmtree(path.parent)
        real(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", racing)
    assert repo.render()[1] == 0
    assert repo.check()[1] == 0
