"""Processes that share the work, and runs with a killed, failed or interrupted process."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING

import pytest

from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TIMEOUT = 60
"""Seconds after which a process counts as hanging. A slow machine needs far less."""
JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"

# the first job that another process than the parent looks at is its last
BROKEN = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by processes in the background of a shell
from gen.render import run
parent, real = os.getpid(), run.render_files
def render_files(inputs, jobs, done):
    if os.getpid() != parent:
        {what}
    return real(inputs, jobs, done)
run.render_files = render_files
sys.argv = ["gen", "render", "--parallel", "3", "--no-cache", *{jobs}]
from gen.__main__ import main
main()
"""

FOREVER = "[signal.pause() for _ in iter(int, 1)]"
STARTING = """
import os, signal
def wait():
    os.write({end}, b"x")
    {forever}
os.register_at_fork(after_in_child=wait)
"""
"""Other processes wait before they run any code of gen."""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = Repository.at(tmp_path_factory.mktemp("many") / "repo")
    for index in range(200):
        repo.job(JOB, name=f"job-{index}")
    return repo.root


def broken(root: Path, what: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BROKEN.format(what=what, jobs=[])]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=TIMEOUT)


@pytest.mark.slow
def test_a_killed_process_ends_the_run_with_a_remedy(many: Path) -> None:
    done = broken(many, "os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("gen: a process was killed, probably because memory is short; nothing was written;")
    assert not (many / "rendered").exists()


@pytest.mark.slow
def test_a_bug_in_another_process_is_a_bug(many: Path) -> None:
    done = broken(many, "raise KeyError('other')")
    assert done.returncode == 3
    assert "KeyError: 'other'" in done.stderr


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_interrupt_ends_all_processes(many: Path, times: int) -> None:
    """The other processes never end by themselves: without an end from outside, the run would wait for them."""
    output = interrupted(many, lambda end: BROKEN.format(what=f"os.write({end}, b'x'); {FOREVER}", jobs=[]), times)
    assert output == "gen: interrupted\n" or times > 1


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [[], ["jobs/team"]], ids=["process that reads ahead", "process that renders"])
def test_an_interrupt_while_a_process_starts_is_reported_once(many: Path, jobs: list[str]) -> None:
    output = interrupted(
        many, lambda end: STARTING.format(end=end, forever=FOREVER) + BROKEN.format(what="pass", jobs=jobs)
    )
    assert output == "gen: interrupted\n"


def is_closed(read: int) -> bool:
    """Whether no process has the other end of a pipe, within the time after which one counts as hanging."""
    while (ready := select.select([read], [], [], TIMEOUT)[0]) and os.read(read, 1):
        pass
    return bool(ready)


def interrupted(root: Path, script: Callable[[int], str], times: int = 1) -> str:
    """Output of a run that is interrupted when another process has written to the end of a pipe."""
    read, write = os.pipe()
    command = [sys.executable, "-c", script(write)]
    with subprocess.Popen(
        command, cwd=root, stderr=subprocess.PIPE, text=True, start_new_session=True, pass_fds=[write]
    ) as process:
        os.close(write)
        assert os.read(read, 1) == b"x", "another process works"
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            Event().wait(0.05)  # so that a second interrupt is not merged with the first
        try:
            _, output = process.communicate(timeout=TIMEOUT)
            assert is_closed(read), "all processes have ended, and closed the pipe"
        finally:
            os.close(read)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    return output


@pytest.mark.slow
def test_other_processes_end_with_a_killed_parent(many: Path) -> None:
    """They would wait for work forever."""
    read, write = os.pipe()
    script = BROKEN.format(what=f"os.write({write}, b'x'); os.kill(parent, signal.SIGKILL); {FOREVER}", jobs=[])
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=many, start_new_session=True, pass_fds=[write]
    ) as process:
        os.close(write)
        try:
            assert os.read(read, 1) == b"x", "another process works"
            assert is_closed(read), "all processes have ended, and closed the pipe"
        finally:
            os.close(read)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


HALF = """
import multiprocessing.connection as connection
send = connection.Connection._send_bytes
def _send_bytes(self, buffer):
    if os.getpid() == parent:
        return send(self, buffer)
    os.write(self.fileno(), (1 << 20).to_bytes(4, "big") + b"half of a result")
    os.write({end}, b"x")
    {forever}
connection.Connection._send_bytes = _send_bytes
"""


@pytest.mark.slow
def test_an_interrupt_while_a_result_is_sent_ends_the_run(many: Path) -> None:
    def script(end: int) -> str:
        run = BROKEN.format(what="pass", jobs=["jobs/team"])
        return run.removesuffix("main()\n") + HALF.format(end=end, forever=FOREVER) + "main()\n"

    assert interrupted(many, script) == "gen: interrupted\n"
