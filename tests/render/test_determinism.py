"""The same inputs give the same bytes on any machine, in any order, with any number of processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gen.commands.new import job_text
from gen.job.kinds import KINDS
from tests.support import OVERLAY, Repository, tree

if TYPE_CHECKING:
    from pathlib import Path

GEN = [sys.executable, "-m", "gen"]
MANY = 200


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough jobs of every kind for several processes."""
    repo = Repository.at(tmp_path_factory.mktemp("many") / "repo")
    repo.overlay(OVERLAY.replace("1.34", "1.31"), name="other")
    more = "files: {/etc/a: b}\ndata: {nas: /data}\ntensorboard: true\nenv: {B: '1', A: '2'}\n"
    for index in range(MANY):
        kind = sorted(KINDS)[index % len(KINDS)]
        repo.job(job_text(kind, with_schema=False) + more, name=f"job-{index}", namespace=f"team-{index % 3}")
    return repo.root


def rendered(root: Path, *arguments: str, cwd: Path | None = None, **environment: str) -> dict[str, str]:
    shutil.rmtree(root / "rendered", ignore_errors=True)
    command = [*GEN, "render", "--root", str(root), *arguments]
    done = subprocess.run(
        command, cwd=cwd or root, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return tree(root / "rendered")


@pytest.mark.slow
def test_nothing_around_the_inputs_changes_a_byte(many: Path, tmp_path: Path) -> None:
    expected = rendered(many, "--parallel", "1", PYTHONHASHSEED="0")
    assert len(expected) > MANY
    assert rendered(many, "--parallel", "3", PYTHONHASHSEED="1") == expected
    assert rendered(many, PYTHONHASHSEED="42", LC_ALL="C", LANG="C", TZ="Asia/Kathmandu") == expected
    assert rendered(many, cwd=tmp_path, LC_ALL="C.UTF-8", TZ="America/St_Johns", PYTHONUTF8="0") == expected


def test_a_job_renders_the_same_alone_as_among_others(repo: Repository) -> None:
    text = "kind: pytorch\nimage: a:1\ncommand: x\ndata: {nas: /data}\n"
    repo.job(text, name="one")
    repo.render("team/one")
    alone = repo.rendered()
    repo.job(text, name="two")
    repo.render()
    assert alone.items() <= repo.rendered().items()


def test_the_kubernetes_version_to_check_against_changes_no_output(repo: Repository) -> None:
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    repo.render()
    assert repo.check(kubernetes="1.30")[1] == 0
