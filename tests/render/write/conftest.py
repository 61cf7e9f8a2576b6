"""A rendered job with a volume."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.render.write.demo import JOB

if TYPE_CHECKING:
    from tests.support import Repository


@pytest.fixture
def rendered(repo: Repository) -> Repository:
    repo.job(JOB)
    assert repo.render()[1] == 0
    return repo
