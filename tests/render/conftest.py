"""Fixtures for scripts that pods run."""

from __future__ import annotations

import shutil

import pytest


@pytest.fixture(params=[shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)])
def shell(request: pytest.FixtureRequest) -> list[str]:
    """The start of a command of each shell of this machine."""
    return ["busybox", "sh"] if request.param == "busybox" else [request.param]
