"""Forged runs that are behind the platform, in a repository created by `gen init`: CI of both hosts fails."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.commands.init.support import GEN, committed, git, run, wheel_source
from tests.commands.init.test_ci import first_line, github_steps, gitlab_job, merged, proposed
from tests.history import History
from tests.review.test_kept_runs import FORGERIES, JOB, fall_behind
from tests.support import initialised

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.slow

REASONS = {
    "body_edited_by_hand": "hand-edited",
    "second_document": "hand-edited",
    "metadata_for_the_engine": "stale",
}
"""The code in the first line of the plan, where it is another one."""
OF_EACH_ORIGIN = (
    "body_with_valid_digest",
    "older_version_of_the_run",
    "new_job_with_a_forged_run",
    "run_of_another_job",
)
"""Forgeries of content, of the time, of a job, and of a run that is up to date."""


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs on the host: a run that is behind the platform, and one that is not."""
    folder = tmp_path_factory.mktemp("forged")
    work = folder / "work"
    assert initialised(work, source=wheel_source(folder / "index"))[1] == 0
    for name in ("jobs", "overlays", "rendered"):
        shutil.rmtree(work / name)
    committed(work)
    fall_behind(History(work))
    git("clone", "--quiet", "--bare", work, "origin.git", cwd=folder)
    return folder / "origin.git"


@pytest.fixture
def clone(origin: Path, tmp_path: Path) -> History:
    """Author's runs, from another host."""
    shutil.copytree(origin, tmp_path / "origin.git")
    git("clone", "--quiet", tmp_path / "origin.git", "clone", cwd=tmp_path)
    repo = History(tmp_path / "clone")
    assert len(repo.plan(check=True).behind) == 1
    return repo


def propose(clone: History, change: Callable[[History], None]) -> Path:
    """Commit the change on a branch. A forgery can need a newer base branch, which the host gets."""
    change(clone)
    proposed(clone.root)
    git("push", "--quiet", "origin", "main", cwd=clone.root)
    return clone.root


def on_github(clone: Path, temp: Path) -> tuple[int, str]:
    """Exit code of check.yml for the merge commit, with the depth that it asks for, and the first line of its plan."""
    git("clone", "--quiet", "--depth", "2", "--branch", "main", f"file://{merged(clone)}", "merge", cwd=temp)
    assert (temp / "merge/.git/shallow").exists()
    base, check, _ = (step for step, _ in github_steps(temp / "merge"))
    environment = {"BASE": "HEAD^1", "RUNNER_TEMP": str(temp)}
    assert run("bash", "-eo", "pipefail", "-c", base, cwd=temp / "merge", **environment).returncode == 0
    done = run("bash", "-eo", "pipefail", "-c", check, cwd=temp / "merge", GEN=GEN, **environment)
    return done.returncode, first_line(temp / "gen/plan.md")


def on_gitlab(clone: Path) -> tuple[int, str]:
    return gitlab_job(clone, "gen", GEN=GEN).returncode, first_line(clone / "gen-report/plan.md")


def assert_refused(line: str, forgery: str) -> None:
    assert line.startswith("### Refused: "), line
    assert f"`{REASONS.get(forgery, 'kept-run-differs')}`" in line


@pytest.mark.parametrize("forgery", list(FORGERIES))
def test_ci_of_github_refuses_a_forged_run(clone: History, tmp_path: Path, forgery: str) -> None:
    code, line = on_github(propose(clone, FORGERIES[forgery]), tmp_path)
    assert code == 1
    assert_refused(line, forgery)


@pytest.mark.parametrize("forgery", OF_EACH_ORIGIN)
def test_ci_of_gitlab_refuses_a_forged_run(clone: History, forgery: str) -> None:
    code, line = on_gitlab(propose(clone, FORGERIES[forgery]))
    assert code == 1
    assert_refused(line, forgery)


@pytest.mark.parametrize("host", ["github", "gitlab"])
def test_ci_accepts_what_the_base_has(clone: History, tmp_path: Path, host: str) -> None:
    def harmless(repo: History) -> None:
        repo.job(JOB.replace("a:1", "a:2"), name="more")
        repo.rendering()

    root = propose(clone, harmless)
    code, line = on_github(root, tmp_path) if host == "github" else on_gitlab(root)
    assert code == 0
    assert line.startswith("### No errors: 1 run starts (2 pods, 2 GPUs), no run stops"), line
