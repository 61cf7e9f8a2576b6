"""Answers of the wrong shape or size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gen.live.client import _lines
from gen.live.pods import pod_of
from gen.live.snapshot import Snapshot, slim
from tests.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

WRONG: list[Any] = [None, 5, "x", [], [1], {}, {"a": [None]}]


class Endless:
    """A program that ends no line, for 64 MiB."""

    def stream(self, size: int) -> Iterator[bytes]:
        for _ in range((64 << 20) // size):
            yield b"x" * size


@pytest.mark.slow
def test_a_line_without_an_end_is_cut() -> None:
    sizes = [len(line) for line in _lines(Endless())]
    assert sum(sizes) == 64 << 20
    assert max(sizes) < 17 << 20


@for_each("value", WRONG)
@for_each("field", ["metadata", "status", "spec"])
def test_an_object_with_a_field_of_another_type(field: str, value: Any) -> None:
    body = {"metadata": {"name": "web", "uid": "u"}, field: value}
    assert pod_of(body).phase == "Pending"
    snapshot = Snapshot()
    for one in (body, slim(body)):
        snapshot.add(one, "batch/v1", "Job")
    assert all(isinstance(one["metadata"], dict) for one in snapshot.runs.values())
