"""Generated histories of jobs and overlays: no pod starts with more than the overlay of today grants.

`python -m tests.adversary.histories 0 75` runs 200,000 cases, and says which job of which history escapes.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.adversary.histories import JOBS, STEPS, history
from tests.support import PROJECT


def test_no_pod_starts_with_more_than_is_granted() -> None:
    ended = history(7, range(16), steps=4)
    assert ended.found == []
    assert ended.count["started"] > 5


@pytest.mark.slow
def test_no_pod_of_many_starts_with_more() -> None:
    """Half of the jobs of a history, which has two overlays."""
    ended = history(0, range(JOBS // 2))
    assert ended.found == []
    assert ended.count["cases"] == JOBS // 2 * STEPS
    assert ended.count["started"] > 100


@pytest.mark.slow
def test_no_pod_of_a_plugin_starts_with_more() -> None:
    """In a process of its own: plugins extend the registries of a process."""
    plugin = PROJECT / "tests/overlay/plugins/acme"
    command = [sys.executable, "-m", "tests.adversary.histories", "1", "--jobs", "120", "--plugin", str(plugin)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
