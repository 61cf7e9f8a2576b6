"""The example in `docs/plan.md` is the output for this project's own jobs."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from tests.history import History, reported
from tests.support import PROJECT

if TYPE_CHECKING:
    from pathlib import Path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def example(root: Path) -> History:
    """A pull request that edits, finishes and adds a job and grows a volume."""
    history = History(root)
    for folder in ("jobs", "overlays", "rendered"):
        shutil.copytree(PROJECT / folder, root / folder)
    history.git("init", "--quiet", "--initial-branch=main")
    history.commit("base")
    edit(root / "jobs/training/pytorch-dist.yaml", "--epochs 10", "--epochs 20")
    with (root / "jobs/training/tf-eni.yaml").open("a") as file:
        file.write("state: finished\n")
    shutil.copy(root / "jobs/training/all-reduce.yaml", root / "jobs/training/all-reduce-2.yaml")
    edit(root / "jobs/training/all-reduce-2.yaml", "kind: mpi\n", "kind: mpi\ntimeout: 2h\n")
    history.rendering()
    return history


def test_the_example_in_the_docs_is_current(tmp_path: Path) -> None:
    history = example(tmp_path / "repo")
    commit = history.git("rev-parse", "main")
    said = reported("text", history.plan()).replace(commit[:10], "3f2a1b09c4")
    (shown,) = re.findall(r"(?s)\$ gen plan\n(.*?)```", (PROJECT / "docs/plan.md").read_text("utf-8"))
    assert shown == said
