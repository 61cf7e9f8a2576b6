"""Fixtures, and the option to write the expected files of cases."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import HealthCheck, settings

from tests.history import History
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# what `yaml.safe_load` and `yaml.safe_dump` use: libyaml takes a tenth of the time
yaml.SafeLoader, yaml.SafeDumper = yaml.CSafeLoader, yaml.CSafeDumper  # type: ignore[misc,assignment] # same interface

# the programs that tests start share their compiled modules, as in an installation
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# a slow machine is not a failure
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the expected files of cases")


@pytest.fixture(scope="session", autouse=True)
def _no_cache_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The cache of gen is an empty folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository.at(tmp_path / "repo")


@pytest.fixture
def history(tmp_path: Path) -> History:
    """One overlay, and a commit with no job on `main`; the work tree is on a branch."""
    repository = History.at(tmp_path / "repo")
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.overlay(OVERLAY)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--message", "begin")
    return repository
