"""Answers of the wrong shape or size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from msgspec import Struct

from gen.live.client import _lines
from gen.live.pods import pod_of
from gen.live.requests import Decode, Metadata, Page, only, with_metadata
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


class Named(Struct):
    metadata: Metadata


class Names(Page):
    items: list[Named] = []


FORMS: dict[str, Decode] = {"all": with_metadata(Metadata), "some": only(Names)}


@for_each("form", FORMS)
@for_each("value", WRONG)
@for_each("field", ["metadata", "items"])
def test_a_list_with_a_field_of_another_type(field: str, value: Any, form: str) -> None:
    """An answer without a list of objects is decoded whole, and read with the same care."""
    answer = {"items": [{"metadata": {"name": "web"}}], "metadata": {}, field: value}
    read = FORMS[form](orjson.dumps(answer))
    assert {key: read.get(key) or None for key in answer} == {key: item or None for key, item in answer.items()}


def test_only_the_parts_of_objects_that_are_read_are_decoded() -> None:
    metadata = {
        "name": "web",
        "labels": {"a": "b"},
        "managedFields": [{"manager": "kubectl"}],
        "deletionTimestamp": "x",
    }
    answer = {"items": [{"metadata": metadata, "spec": {"a": 1}, "data": [1]}], "metadata": {"continue": "more"}}
    raw = orjson.dumps(answer)
    kept = {"name": "web", "labels": {"a": "b"}, "deletionTimestamp": "x"}
    page = {"continue": "more"}
    assert FORMS["all"](raw) == {"metadata": page, "items": [{"metadata": kept, "spec": {"a": 1}, "data": [1]}]}
    assert FORMS["some"](raw) == {"metadata": page, "items": [{"metadata": kept}]}
    assert [read(b"no JSON") for read in FORMS.values()] == [{}, {}]
