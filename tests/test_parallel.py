"""Processes that share the work, and what becomes of a run when one of them does not end as it should."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path

JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"

# the first job that another process than the parent looks at is its last
BROKEN = """
import os, signal, sys, time
from gen.render import run
parent, real = os.getpid(), run.render_file
def render_file(root, job, overlays):
    if os.getpid() != parent:
        {what}
    return real(root, job, overlays)
run.render_file = render_file
sys.argv = ["gen", "render", "--parallel", "3", "--no-cache"]
from gen.__main__ import main
main()
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = Repository.at(tmp_path_factory.mktemp("many") / "repo")
    for index in range(200):
        repo.job(JOB, name=f"job-{index}")
    return repo.root


def broken(root: Path, what: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BROKEN.format(what=what)]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=60)


def test_a_killed_process_ends_the_run_with_a_remedy(many: Path) -> None:
    done = broken(many, "os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("gen: a process was killed, probably because memory is short; nothing was written;")
    assert not (many / "rendered").exists()


def test_a_bug_in_another_process_is_a_bug(many: Path) -> None:
    done = broken(many, "raise KeyError('other')")
    assert done.returncode == 3
    assert "KeyError: 'other'" in done.stderr


@pytest.mark.parametrize("times", [1, 2])
def test_an_interrupt_ends_all_processes_at_once(many: Path, times: int) -> None:
    script = BROKEN.format(what="time.sleep(2)")
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=many, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        time.sleep(1.5)
        interrupted = time.monotonic()
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.05)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "" or times > 1
    assert time.monotonic() - interrupted < 10, "a batch of the others takes half a minute"
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
