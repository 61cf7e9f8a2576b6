"""Fixtures of the tests about grants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.adversary.bare import OVERLAY

if TYPE_CHECKING:
    from tests.support import Repository


@pytest.fixture
def bare(repo: Repository) -> Repository:
    """A repository with an overlay that grants nothing but the namespace."""
    repo.overlay(OVERLAY)
    return repo
