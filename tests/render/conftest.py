"""Fixtures for scripts that pods run, and for searches."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.render.searches import overlay

if TYPE_CHECKING:
    from tests.support import Repository


@pytest.fixture(params=[shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def shell(request: pytest.FixtureRequest) -> list[str]:
    """The start of a command of each shell of this machine."""
    return ["busybox", "sh"] if request.param == "busybox" else [request.param]


@pytest.fixture
def team(repo: Repository) -> Repository:
    """A repository with searches granted to the namespace `team`."""
    overlay(repo)
    return repo
