"""Linters of workflows and scripts find nothing in what `gen init` writes."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.commands.init.support import committed, run, shared_source
from tests.support import initialised

PATHS = (os.environ["PATH"], str(Path(sys.executable).parent), str(Path.home() / "go/bin"))


def tool(name: str, remedy: str) -> str:
    if (found := shutil.which(name, path=os.pathsep.join(PATHS))) is None:
        pytest.skip(f"{name} is not installed: {remedy}")
    return found


@pytest.fixture(scope="module", params=[None, shared_source()], ids=["scripts", "action"])
def root(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path_factory.mktemp("linters") / "new"
    assert initialised(folder, retire=True, pins=True, vendor=True, renovate=True, source=request.param)[1] == 0
    return committed(folder)


def test_zizmor_finds_nothing(root: Path) -> None:
    done = run(tool("zizmor", "pip install zizmor"), "--offline", "--no-progress", "--no-exit-codes", ".", cwd=root)
    assert done.returncode == 0, done.stderr
    assert "No findings to report" in done.stdout + done.stderr, done.stdout


def test_actionlint_finds_nothing(root: Path) -> None:
    remedy = "go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"
    done = run(tool("actionlint", remedy), "-no-color", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr


def test_shellcheck_finds_nothing(root: Path) -> None:
    scripts = sorted((root / "ci").glob("*.sh"))
    done = run(tool("shellcheck", "apt-get install shellcheck"), *scripts, cwd=root)
    assert done.returncode == 0, done.stdout
