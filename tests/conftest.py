"""Fixtures, and the one switch that lets a test write what it expects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.history import History
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the expected files of cases anew")


@pytest.fixture(scope="session", autouse=True)
def _no_cache_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The program keeps its cache in a folder of the tests, and starts without one."""
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
