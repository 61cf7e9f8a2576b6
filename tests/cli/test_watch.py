"""`gen render --watch` on a real pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.commands import render
from gen.render.emit import untouched
from tests import forks
from tests.cli.test_screens import WIDTHS, compare
from tests.cli.test_terminal import INHERITED, STYLE
from tests.processes import gen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support import Repository

pytestmark = pytest.mark.slow  # programs on pseudo-terminals

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ngpus: 1\ntimeout: 1h\n"
CLEAR = "\x1b[H\x1b[2J"
WAITING = "waiting for changes of jobs/ and overlays/; Ctrl-C ends it"


class Watched:
    """A watch and its output."""

    def __init__(self, process: forks.Program, terminal: int) -> None:
        self.process, self.terminal = process, terminal
        self.code: int | None = None

    def screen(self, within: float = 60) -> str:
        """The next screen, without colors. It is expected within so many seconds."""
        return STYLE.sub("", self.received(within))

    def received(self, within: float = 60) -> str:
        """The next screen, with its colors."""
        received = ""
        while WAITING not in " ".join(STYLE.sub("", received).split()):
            received += self.read(within)
        shown = received.replace("\r\n", "\n")
        assert shown.count(CLEAR) == 1
        return shown.removeprefix(CLEAR)

    def read(self, within: float = 60) -> str:
        ready, _, _ = select.select([self.terminal], [], [], within)
        assert ready, "nothing was shown"
        try:
            return os.read(self.terminal, 65536).decode()
        except OSError:  # the program has ended
            return ""

    def interrupt(self) -> tuple[str, int]:
        self.process.send_signal(signal.SIGINT)
        shown = "".join(iter(self.read, ""))
        self.code = self.process.wait()
        return shown, self.code

    def end(self) -> None:
        if self.code is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


@contextmanager
def watching(repo: Repository, *arguments: str, columns: int = 120) -> Iterator[Watched]:
    own, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in INHERITED}
    with Path(os.devnull).open("rb") as nothing:
        streams = (nothing.fileno(), other, other)
        process = forks.start(("render", "--watch", *arguments), streams, cwd=repo.root, env={**env, "TERM": "xterm"})
    os.close(other)
    watched = Watched(process, own)
    try:
        yield watched
    finally:
        watched.end()
    os.close(own)


def test_a_change_is_rendered_and_findings_go_when_they_are_mended(repo: Repository) -> None:
    repo.job(JOB)
    with watching(repo) as watched:
        assert "1 job in 1 overlay: wrote 1, removed 0, 0 unchanged" in watched.screen()
        repo.job(JOB.replace("image:", "imag:"))
        shown = watched.screen()
        assert "error[unknown-field]: unknown field `imag`" in shown
        assert "2 | imag: registry.example.com/train:1" in shown
        repo.job(JOB.replace("train:1", "train:2"))
        shown = watched.screen()
        assert "imag`" not in shown
        assert "wrote 1, removed 0, 0 unchanged" in shown
        assert "train:2" in "".join(repo.rendered().values())


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_watch_on_a_screen(repo: Repository, columns: int, update_golden: bool) -> None:
    repo.job(JOB)
    with watching(repo, columns=columns) as watched:
        watched.received()
        repo.job(JOB.replace("image:", "imag:"))
        compare(watched.received(), "watch", columns, update_golden)
        repo.job(JOB.replace("train:1", "train:2"))
        compare(watched.received(), "watch-mended", columns, update_golden)


SOON = 2.0
"""Seconds, on a machine that does other things, too: a render takes 0.2."""


def test_changes_of_one_of_many_files_are_shown_soon(repo: Repository) -> None:
    """Jobs and overlays, and findings that come and go."""
    for number in range(100):
        repo.job(JOB, name=f"job-{number}")
    overlay = repo.root / "overlays/dev/overlay.yaml"
    text = overlay.read_text("utf-8")
    with watching(repo) as watched:
        watched.screen()
        repo.job(JOB.replace("train:1", "train:2"), name="job-7")
        assert "wrote 1, removed 0, 99 unchanged" in watched.screen(within=SOON)
        repo.job(JOB.replace("image:", "imag:"), name="job-7")
        assert "unknown field `imag`" in watched.screen(within=SOON)
        repo.job(JOB.replace("train:1", "train:3"), name="job-7")
        assert "wrote 1, removed 0, 99 unchanged" in watched.screen(within=SOON)
        repo.overlay(text + "unknown: 1\n")
        assert "unknown field `unknown`" in watched.screen(within=SOON)
        repo.overlay(text)
        assert "wrote 0, removed 0, 100 unchanged" in watched.screen(within=SOON)


def test_overlays_and_files_that_editors_rename_are_seen(repo: Repository) -> None:
    path = repo.job(JOB)
    with watching(repo) as watched:
        watched.screen()
        new = repo.write("jobs/team/.demo.yaml.tmp", JOB.replace("train:1", "train:2"))
        new.replace(path)
        assert "wrote 1, removed 0, 0 unchanged" in watched.screen()
        overlay = repo.root / "overlays/dev/overlay.yaml"
        repo.overlay(overlay.read_text("utf-8") + "unknown: 1\n")
        assert "unknown field `unknown`" in watched.screen()


def test_rendered_files_start_no_render(repo: Repository) -> None:
    repo.job(JOB)
    with watching(repo) as watched:
        watched.screen()
        (rendered,) = (repo.root / "rendered").rglob("*.yaml")
        rendered.write_text(rendered.read_text("utf-8") + "# edited\n", "utf-8")
        assert select.select([watched.terminal], [], [], 1)[0] == []
        repo.job(JOB + "attempt: 2\n")
        assert "1 edited by hand" in watched.screen()


def test_folders_that_are_replaced_are_watched_again(repo: Repository) -> None:
    repo.job(JOB)
    with watching(repo) as watched:
        watched.screen()
        shutil.copytree(repo.root / "jobs", repo.root / "other")
        (repo.root / "jobs").rename(repo.root / "old")
        (repo.root / "other").rename(repo.root / "jobs")
        while "wrote" not in watched.screen():
            pass
        repo.job(JOB + "attempt: 2\n")
        assert "wrote 1, removed 0, 0 unchanged" in watched.screen()


def test_an_empty_repository_keeps_its_rendered_files_and_the_watch_goes_on(repo: Repository) -> None:
    path = repo.job(JOB)
    with watching(repo) as watched:
        watched.screen()
        path.unlink()
        assert "refusing to remove all 1 rendered file" in watched.screen()
        repo.job(JOB)
        assert "wrote 0, removed 0, 1 unchanged" in watched.screen()


@pytest.mark.parametrize("after", [0, 1, 4, 16])
def test_ctrl_c_leaves_no_half_written_tree(repo: Repository, after: int) -> None:
    """The interrupt meets the render at several places: so many hundredths of a second after a change."""
    for number in range(40):
        repo.job(JOB, name=f"job-{number}")
    with watching(repo) as watched:
        watched.screen()
        for number in range(40):
            repo.job(JOB + "attempt: 2\n", name=f"job-{number}")
        if after:
            select.select([watched.terminal], [], [], after / 100)
        shown, code = watched.interrupt()
    assert (code, "interrupted" in shown) == (130, True)
    texts = [path.read_text("utf-8") for path in (repo.root / "rendered").rglob("*.yaml")]
    assert texts
    assert [text for text in texts if not untouched(text)] == []
    assert not [path for path in (repo.root / "rendered").iterdir() if path.name.startswith(".")]


def test_warnings_about_other_files_are_counted(repo: Repository) -> None:
    repo.job(JOB.replace("timeout: 1h\n", ""))
    repo.job(JOB.replace("timeout: 1h\n", ""), name="other")
    with watching(repo) as watched:
        assert "2 warnings about other files; `gen check` shows them" in watched.screen()
        repo.job(JOB.replace("timeout: 1h\n", "attempt: 2\n"))
        shown = watched.screen()
        assert shown.count("warning[") == 1
        assert "1 warning about other files" in shown


def test_a_pipe_gets_one_document_after_each_change(repo: Repository) -> None:
    repo.job(JOB)
    command = [sys.executable, "-m", "gen", "render", "--watch", "--output", "concise"]
    with subprocess.Popen(command, cwd=repo.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        first = b""
        while WAITING.encode() not in first:
            first += process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    assert b"\x1b" not in first
    assert b"wrote 1" in first


@pytest.mark.parametrize("option", ["--restart", "--prune-storage", "--allow-empty"])
def test_options_that_must_not_act_again_and_again_are_refused(repo: Repository, option: str) -> None:
    done = gen("render", "--watch", option, cwd=repo.root)
    assert done.returncode == 2
    assert f"`{option}` cannot be combined with `--watch`" in done.stderr


def test_another_version_of_gen_ends_the_watch(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    from gen.commands import render as watch

    digests = iter(["old", "old", "new"])
    monkeypatch.setattr(watch, "tools_digest", lambda: next(digests))
    monkeypatch.setattr(watch, "changed_inputs", lambda _root: iter([frozenset(), frozenset()]))
    repo.job(JOB)
    stream = render.run(render.Request(root=repo.root, watch=True, parallel=1))
    pieces = iter(stream.pieces)  # type: ignore[union-attr] # a stream, because of `watch`
    next(pieces)
    with pytest.raises(UsageError, match="start `gen render --watch` again"):
        next(pieces)


def test_a_change_by_git_is_awaited(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    from gen.commands import render as watch

    lock = repo.write(".git/index.lock", "")
    waits = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        lock.unlink(missing_ok=True)

    monkeypatch.setattr("time.sleep", wait)
    groups = watch.changed_inputs(repo.root)
    assert next(groups) == frozenset()
    repo.job(JOB)
    assert next(groups) & {"jobs/team", "jobs/team/demo.yaml"}
    assert len(waits) == 1
