"""A clone of a stranger's repository runs nothing, and ends in findings at any depth of folders."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import chdir
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import UsageError
from gen.base.repository.layout import find_root
from gen.commands import list as list_command
from gen.report.formats import REPORTERS
from tests.editor.test_checker import in_editor
from tests.history import History
from tests.support import OVERLAY, PROJECT, Repository, validated

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
COMMANDS = (
    '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch {mark}; false"\n'
)


@pytest.fixture
def embedded(tmp_path: Path) -> tuple[History, Path]:
    """A repository of jobs in a folder that has the files of a bare Git repository, all committed."""
    outer = History(tmp_path / "outer")
    outer.root.mkdir()
    outer.git("init", "--quiet", "--initial-branch", "main")
    inner = Repository.at(outer.root / "inner")
    inner.overlay(OVERLAY)
    inner.job(JOB)
    assert inner.render()[1] == 0
    outer.git("init", "--quiet", "--bare", "inner")
    own = ("--git-dir", "inner", "--work-tree", "inner")
    outer.git(*own, "add", "jobs", "overlays", "rendered")
    outer.git(*own, "commit", "--quiet", "--message", "start")
    mark = tmp_path / "attacked"
    inner.write("config", COMMANDS.format(mark=mark))
    inner.write("refs/x", "")
    outer.git("add", "--all")
    outer.git("commit", "--quiet", "--message", "start")
    outer.git("clone", "--quiet", str(outer.root), str(tmp_path / "clone"))
    mark.unlink(missing_ok=True)
    return History(tmp_path / "clone/inner"), mark


def test_no_command_of_a_committed_bare_repository_runs(embedded: tuple[History, Path]) -> None:
    history, mark = embedded
    subprocess.run(["git", "-C", history.root, "ls-files", "--stage"], capture_output=True, check=False)
    subprocess.run(["git", "-C", history.root, "diff"], capture_output=True, check=False)
    assert mark.exists(), "the attack works for Git itself"
    mark.unlink()
    runs: tuple[Callable[[], object], ...] = (
        history.check,
        history.render,
        history.plan,
        lambda: list_command.run(list_command.Request(root=history.root)),
        lambda: find_root(history.root / "jobs/team"),  # as the language server does
    )
    for run in runs:
        with pytest.raises(UsageError, match=f"{history.root} is a bare Git repository, .*remove its file `HEAD`"):
            run()
    assert not mark.exists()


def test_a_repository_below_a_bare_one_is_refused_and_one_with_a_folder_of_git_is_not(tmp_path: Path) -> None:
    repo = Repository.at(tmp_path / "bare/inner")
    for name in ("objects", "refs"):
        (tmp_path / "bare" / name).mkdir()
    (tmp_path / "bare/HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    with pytest.raises(UsageError, match="bare is a bare Git repository"):
        find_root(repo.root)
    History(repo.root).git("init", "--quiet")
    assert find_root(repo.root) == repo.root.resolve()


def nested(folder: Path) -> None:
    """More folders in each other than Python permits nested calls. Paths of this length need relative names.

    The time is that of the system, and grows with the square of the depth.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with chdir(folder):
        for _ in range(sys.getrecursionlimit() + 100):
            os.mkdir("a")  # noqa: PTH102 - the path is too long for some functions
            os.chdir("a")
        with open("x.yaml", "w", encoding="utf-8") as stream:  # noqa: PTH123
            stream.write("a: 1\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "code"),
    [
        ("jobs/team", "misplaced-file"),
        ("rendered/dev", "foreign-file"),
        *((f"overlays/dev/{kind}", "misplaced-file") for kind in ("crds", "policies", "runtimes")),
    ],
)
def test_any_depth_of_folders_is_a_finding(history: History, tmp_path: Path, folder: str, code: str) -> None:
    history.job(JOB)
    history.commit("start")
    nested(history.root / folder)
    try:
        for cache in (None, tmp_path / "cache"):
            report, exit_code = history.check(cache=cache)
            assert exit_code == 1
            assert code in {one.code for one in report.findings}
            assert all(reporter(report) for reporter in REPORTERS.values())
        assert history.render()[1] == 1
        history.plan()
        validated(history.root, ignore_missing=True)
        found = in_editor(history.root)
        assert isinstance(found, set)
        assert code in {one.code for one in found} or folder.startswith("rendered/")  # it compares no broken tree
    finally:
        subprocess.run(["rm", "-r", f"{history.root / folder}/a"], check=True)  # as Python's functions call themselves


READ_LINES = """
from gen.editor.document import Document

many = 100_000
for line in (
    "a: " + "{{" * many + "}}",
    "a: " + "{{ x }}" * many,
    "a" + " " * many + "b",
    "a: {" + "\\"'" * many,
    "a: " + "[{a: " * many,
    "- " * many,
    "a: {" + "a: b, " * many,
):
    document = Document(line)
    assert len(document.entries) < 2
    document.cursor(0, len(line))
"""


@pytest.mark.slow
def test_no_line_keeps_the_editor_busy() -> None:
    """The language server reads lines before anything has refused them. Half of these took more than minutes."""
    subprocess.run([sys.executable, "-c", READ_LINES], cwd=PROJECT, check=True, timeout=60)


@pytest.mark.slow  # processes without the right to ignore the permissions of files
def test_a_tree_that_may_only_be_read_is_one_message(repo: Repository, tmp_path: Path) -> None:
    repo.overlay(OVERLAY)
    repo.job(JOB)
    assert repo.render()[1] == 0
    History(repo.root).git("init", "--quiet", "--initial-branch", "main")
    History(repo.root).git("add", "--all")
    History(repo.root).git("commit", "--quiet", "--message", "start")
    repo.job(JOB.replace("train:1", "train:2"))
    (tmp_path / "home").mkdir()
    paths = [tmp_path / "home", repo.root, *repo.root.rglob("*")]
    before = repo.rendered()
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    drop = "-dac_override,-dac_read_search,-fowner"
    alone = ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"] if os.geteuid() == 0 else []
    commands = {
        "check": 1,
        "diff": 1,
        "list": 0,
        "plan --base main": 0,
        "validate rendered": 0,
        "render": 2,
        "set demo cpu=3": 2,
        "stop demo": 2,
        "new batch two --namespace team": 2,
    }
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "home"), "PYTHONPATH": str(PROJECT)}
    try:
        for command, code in commands.items():
            program = [*alone, sys.executable, "-P", "-m", "gen", *command.split()]
            done = subprocess.run(program, cwd=repo.root, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == code, (command, done.stdout, done.stderr)
            assert "Traceback" not in done.stderr
            assert code != 2 or "Permission denied" in done.stderr, command
    finally:
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert repo.rendered() == before
