"""The wheel alone, in a new environment of the oldest and the newest Python of this machine, renders the example."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import PROJECT, tree

pytestmark = pytest.mark.slow  # builds and installs


def pythons() -> dict[str, str]:
    """A program for each version of Python that is on the path, or that pyenv has."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    path = os.pathsep.join([*map(str, sorted(versions.glob("*/bin"))), os.environ["PATH"]])
    found = {name: shutil.which(name, path=path) for name in (f"python3.{minor}" for minor in range(11, 21))}
    return {name: program for name, program in found.items() if program is not None}


PYTHONS = pythons()


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        command, cwd=cwd, env=os.environ | {"PYTHONPATH": ""}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=PROJECT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.mark.parametrize("python", dict.fromkeys([*PYTHONS][:1] + [*PYTHONS][-1:]))
def test_the_wheel_alone_renders_the_example(python: str, wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    run(PYTHONS[python], "-m", "venv", environment, cwd=tmp_path)
    install = (environment / "bin/python", "-m", "pip", "install", "--quiet", "--no-compile", wheel)
    done = subprocess.run(install, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "No matching distribution found" in done.stderr:
        pytest.skip("no index has the dependencies of gen")
    assert done.returncode == 0, done.stderr
    for name in ("jobs", "overlays"):
        shutil.copytree(PROJECT / name, tmp_path / "example" / name)
    run(environment / "bin/gen", "render", "--no-cache", cwd=tmp_path / "example")
    assert tree(tmp_path / "example/rendered") == tree(PROJECT / "rendered")
