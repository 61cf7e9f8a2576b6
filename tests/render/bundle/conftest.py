"""A repository with jobs of several kinds."""

from __future__ import annotations

import pytest

from tests.render.bundle.support import JOB
from tests.support import Repository


@pytest.fixture
def jobs(repo: Repository) -> Repository:
    for kind in ("pytorch", "tensorflow", "mpi", "batch"):
        repo.job(JOB.format(kind=kind), name=kind)
    return repo
