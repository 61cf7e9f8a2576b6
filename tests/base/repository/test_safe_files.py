"""A run ends for any object in the place of a file: it does not wait, follow links or read without end."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from gen.base.repository.files import NotRegularError, TooLargeError, linked_folder, read_regular, walk
from gen.report.findings.text import text
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
RUN = "rendered/dev/jobs/team/demo/pytorchjob-demo.yaml"


def bound_socket(path: Path) -> None:
    here = os.open(".", os.O_RDONLY)
    os.chdir(path.parent)  # the path of a socket has at most 107 characters
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.fchdir(here)
        os.close(here)


INTRUDERS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "socket": bound_socket,
    "folder": os.mkdir,
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
    "link to a file": lambda path: path.symlink_to(__file__),
    "link to itself": lambda path: path.symlink_to(path),
}
intruders = pytest.mark.parametrize("intruder", list(INTRUDERS.values()), ids=list(INTRUDERS))


@pytest.fixture(autouse=True)
def _closed_sockets(recwarn: pytest.WarningsRecorder) -> None:
    """The test needs a bound socket, so its object is not closed."""


@intruders
def test_only_regular_files_are_read(intruder: Callable[[Path], object], tmp_path: Path) -> None:
    intruder(tmp_path / "it")
    with pytest.raises(NotRegularError):
        read_regular(tmp_path / "it", 10)


def test_a_device_is_not_read() -> None:
    with pytest.raises(NotRegularError):
        read_regular("/dev/zero", 10)


def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"x" * 10_000)
    assert read_regular(path, 10_000) == b"x" * 10_000
    with pytest.raises(TooLargeError):
        read_regular(path, 9_999)


def test_a_file_that_grows_while_it_is_read_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "it"
    path.write_bytes(b"x")
    real = os.read

    def growing(descriptor: int, size: int) -> bytes:
        with path.open("ab") as stream:
            stream.write(b"x" * 5_000)
        return real(descriptor, size)

    monkeypatch.setattr(os, "read", growing)
    with pytest.raises(TooLargeError):
        read_regular(path, 100_000)
    assert path.stat().st_size < 300_000


@pytest.mark.parametrize(("link", "found"), [("a", "a"), ("a/b", "a/b"), ("a/b/c", None), ("d", None)])
def test_a_link_on_the_way_is_found(link: str, found: str | None, tmp_path: Path) -> None:
    (tmp_path / "elsewhere/b").mkdir(parents=True)
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(tmp_path / "elsewhere")
    assert linked_folder(tmp_path, "a/b/c") == found


@intruders
@pytest.mark.parametrize("place", ["jobs/team/demo.yaml", "overlays/dev/patch.yaml"])
def test_an_input_that_is_no_file_is_a_finding(
    repo: Repository, intruder: Callable[[Path], object], place: str
) -> None:
    repo.job(JOB)
    repo.overlay('kubernetes: "1.34"\npatches: [{path: patch.yaml}]\n')
    (repo.root / place).unlink(missing_ok=True)
    intruder(repo.root / place)
    for narrowed in ((), ("team/demo",)):
        report, code = repo.render(*narrowed, cache=repo.root / "cache")
        assert code == 1
        assert place in {finding.place.file for finding in report.findings}, text(report)
    assert not (repo.root / "rendered").exists()


@intruders
def test_output_that_is_no_file_is_left_alone(repo: Repository, intruder: Callable[[Path], object]) -> None:
    repo.job(JOB)
    repo.render(cache=repo.root / "cache")
    (repo.root / RUN).unlink()
    intruder(repo.root / RUN)
    report, code = repo.render(cache=repo.root / "cache")
    assert code == 1
    assert [(f.code, f.place.file) for f in report.findings] == [("foreign-file", RUN)]


@intruders
def test_a_cache_that_is_no_file_is_no_cache(repo: Repository, intruder: Callable[[Path], object]) -> None:
    repo.job(JOB)
    repo.render(cache=repo.root / "cache")
    (path,) = (repo.root / "cache").glob("*.json")
    path.unlink()
    intruder(path)
    assert repo.render(cache=repo.root / "cache")[1] == 0


def test_a_link_to_itself_hides_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    assert [(sorted(folders), sorted(names)) for _, folders, names in walk(tmp_path)] == [
        (["folder"], ["file", "loop"]),
        ([], []),
    ]
