"""The last commit of each file."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from gen.base.repository.git import last_changes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.history import History


def commit(history: History, file: str, text: str, folder: str = "") -> str:
    history.write(f"{folder}{file}", text)
    history.git("add", "-A")
    history.git("commit", "-qm", "Change")
    return history.git("rev-parse", "HEAD")


def test_the_newest_commit_of_each_file(history: History) -> None:
    first = commit(history, "jobs/t/a.yaml", "1")
    second = commit(history, "jobs/t/b ü.yaml", "1")
    third = commit(history, "jobs/t/a.yaml", "2")
    commit(history, "README.md", "2")
    changes = last_changes(history.root, "jobs")
    assert {file: change.commit for file, change in changes.items()} == {
        "jobs/t/a.yaml": third,
        "jobs/t/b ü.yaml": second,
    }
    assert first != third
    assert changes["jobs/t/a.yaml"].author == "t"


def test_paths_are_relative_to_the_repository_of_jobs(history: History) -> None:
    commit(history, "jobs/t/a.yaml", "1", folder="inner/")
    commit(history, "jobs/t/other.yaml", "1")
    assert list(last_changes(history.root / "inner", "jobs")) == ["jobs/t/a.yaml"]


def test_a_shallow_clone_does_not_know_older_changes(history: History, tmp_path: Path) -> None:
    commit(history, "jobs/t/a.yaml", "1")
    commit(history, "jobs/t/b.yaml", "1")
    last = commit(history, "jobs/t/c.yaml", "1")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "2", history.root.as_uri(), clone], check=True)
    assert {file: change.commit for file, change in last_changes(clone, "jobs").items()} == {"jobs/t/c.yaml": last}


def test_without_git_or_commits_nothing_is_known(tmp_path: Path) -> None:
    assert last_changes(tmp_path, "jobs") == {}
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert last_changes(tmp_path, "jobs") == {}
