"""Fixtures, and the one switch that lets a test write what it expects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the expected files of cases anew")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return Repository.at(tmp_path / "repo")
