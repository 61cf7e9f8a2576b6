"""Generated histories of jobs and overlays: no pod starts with more than the overlay of today grants.

`python -m tests.adversary.histories 0 112` runs 200,000 cases, and says which job of which history escapes.
"""

from __future__ import annotations

import pytest

from tests.adversary.histories import STEPS, history


def test_no_pod_starts_with_more_than_is_granted() -> None:
    ended = history(2, range(12))
    assert ended.found == []
    assert ended.count["started"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_no_pod_of_many_starts_with_more(number: int) -> None:
    ended = history(number)
    assert ended.found == []
    assert ended.count["cases"] == 300 * STEPS
    assert ended.count["started"] > 100
