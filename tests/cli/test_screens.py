"""Screens of a real pseudo-terminal at three widths; `␛` stands for the escape character."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_terminal import STYLE, on_terminal
from tests.support import HERE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Repository

pytestmark = pytest.mark.slow  # programs on pseudo-terminals

WIDTHS = (60, 80, 200)
SCREENS = HERE / "cli/screens"
HASH = re.compile(r"\b[0-9a-f]{8}\b")
JOB = """\
kind: pytorch
image: registry.example.com/team/train:1.0
command: |
  python prepare.py
  python train.py
gpus: 8
timeout: 12h
"""


def changed(repo: Repository) -> None:
    repo.job(JOB, name="train")
    assert repo.render()[1] == 0
    repo.job(JOB.replace("1.0", "1.1").replace("train.py", "train.py --epochs 3"), name="train")
    repo.job(JOB, name="new")


def misspelled(repo: Repository) -> None:
    repo.job(JOB.replace("gpus:", "gpu:").replace("12h", "12 hours") + "volumes: {dta: /data}\n", name="train")


CASES = {
    "diff": (changed, ["diff"]),
    "check": (misspelled, ["check"]),
    "fixes": (misspelled, ["check", "--diff"]),
}
"""The repository, and the command."""


def screen(text: str) -> str:
    return HASH.sub("00000000", text).replace("\x1b", "␛")


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("case", CASES)
def test_a_terminal_shows_this_screen(case: str, columns: int, repo: Repository, update_golden: bool) -> None:
    prepare, arguments = CASES[case]
    prepare(repo)
    compare(on_terminal(*arguments, "--parallel", "1", cwd=repo.root, columns=columns), case, columns, update_golden)


def compare(shown: str, case: str, columns: int, update_golden: bool) -> None:
    path: Path = SCREENS / f"{case}-{columns}.txt"
    if update_golden:
        path.parent.mkdir(exist_ok=True)
        path.write_text(screen(shown), "utf-8")
    assert screen(shown) == path.read_text("utf-8")


def test_screens_are_colored_and_of_these_cases() -> None:
    texts = {path.stem: path.read_text("utf-8").replace("␛", "\x1b") for path in SCREENS.iterdir()}
    assert set(texts) >= {f"{case}-{columns}" for case in CASES for columns in WIDTHS}
    assert [name for name, text in texts.items() if not STYLE.search(text)] == []
