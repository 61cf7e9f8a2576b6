"""The progress bar on a real pseudo-terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests import forks
from tests.cli.test_screens import WIDTHS, compare
from tests.cli.test_terminal import INHERITED, STYLE, run_on_terminal
from tests.history import History, branch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support import Repository

pytestmark = pytest.mark.slow  # programs on pseudo-terminals

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
MANIFEST = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: old-{0}, namespace: team}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: "registry.example.com/train:1", command: [python, train.py]}}]
"""
ERASE = "\x1b[2K"
SLOW = """
import itertools
import gen.commands.environment as progress
progress.monotonic = map(float, itertools.count(0, {step})).__next__
from gen.__main__ import main
main()
"""


def shown_by(*arguments: str, cwd: Path, columns: int = 80, step: float = 1, **environment: str) -> str:
    """Output of gen with a clock that goes on by so many seconds whenever the bar looks at it."""
    return run_on_terminal(*arguments, script=SLOW.format(step=step), cwd=cwd, columns=columns, **environment)


@pytest.fixture
def jobs(repo: Repository) -> Repository:
    for number in range(5):
        repo.job(JOB, name=f"job-{number}")
    return repo


def planned(repo: History) -> None:
    """Files of all jobs differ from the base, and from the result of a render."""
    branch(repo)
    for path in (repo.root / "rendered").rglob("pytorchjob-*.yaml"):
        path.write_text(path.read_text("utf-8").replace("train:1", "train:2"), "utf-8")


def manifests(repo: History) -> None:
    for number in range(5):
        repo.write(f"old/job-{number}.yaml", MANIFEST.format(number))


@pytest.mark.parametrize(
    ("prepare", "arguments", "what"),
    [
        (branch, ["plan", "--check"], "rendering jobs"),
        (planned, ["plan"], "rendering jobs"),
        (manifests, ["import", "manifests", "old"], "rendering jobs in memory"),
    ],
)
def test_commands_that_compare_have_a_bar(
    history: History, prepare: Callable[[History], None], arguments: list[str], what: str, tmp_path: Path
) -> None:
    for number in range(5):
        history.job(JOB, name=f"job-{number}")
    prepare(history)
    ran = shown_by(*arguments, cwd=history.root, XDG_CACHE_HOME=str(tmp_path / "cache"))
    bars = [line for line in STYLE.sub("", ran).split("\r") if what in line]
    assert "5/5" in bars[-1]
    assert ERASE in ran[ran.rindex("5/5") :]


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_bar_on_a_screen(jobs: Repository, columns: int, update_golden: bool) -> None:
    shown = shown_by("render", "--parallel", "1", cwd=jobs.root, columns=columns)
    compare(shown, "progress", columns, update_golden)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["render", "--parallel", "1"], "rendering jobs"),
        (["check", "--parallel", "1"], "rendering jobs"),
        (["validate", "jobs", "--parallel", "1"], "checking files"),
    ],
)
@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_bar_is_shown_after_a_second_and_erased_at_the_end(
    jobs: Repository, arguments: list[str], what: str, columns: int
) -> None:
    shown = STYLE.sub("", shown_by(*arguments, cwd=jobs.root, columns=columns))
    bars = [line for line in shown.split("\r") if what in line]
    assert "5/5" in bars[-1]
    assert max(len(bar.partition("\x1b")[0]) for bar in bars) <= columns
    assert ERASE in shown[shown.rindex("5/5") :]


def test_short_work_has_no_bar(jobs: Repository) -> None:
    assert "5/5" not in shown_by("render", step=0.01, cwd=jobs.root)


def test_a_log_has_no_bar(jobs: Repository) -> None:
    assert "5/5" not in shown_by("render", cwd=jobs.root, CI="true")
    assert "5/5" not in shown_by("render", cwd=jobs.root, TERM="dumb")


def test_a_pipe_has_no_bar(jobs: Repository) -> None:
    env = {name: value for name, value in os.environ.items() if name not in INHERITED}
    done = forks.ran("render", script=SLOW.format(step=1), cwd=jobs.root, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert "5/5" not in done.stdout


def test_processes_are_counted_together(repo: Repository) -> None:
    for number in range(120):
        repo.job(JOB, name=f"job-{number}")
    shown = shown_by("render", "--parallel", "2", cwd=repo.root)
    assert "120/120" in STYLE.sub("", shown)
