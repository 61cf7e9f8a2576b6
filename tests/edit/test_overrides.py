"""Entries of `sweep.overrides` are added to a file, and nothing else of it changes."""

from __future__ import annotations

from typing import Any

import pytest

from gen.base.findings import Findings
from gen.base.yaml.strict import parse
from gen.edit.change import EditError, with_finished
from tests.cases import for_each

ENTRY = {"when": {"lr": "0.10", "note": "1e3"}, "state": "finished"}


@for_each(
    ("before", "old"),
    [
        ("sweep:\n  # rates\n  matrix: {lr: [0.10]}\n", []),
        ("sweep: {matrix: {lr: [0.10]}}\n", []),
        ("sweep:\n  matrix:\n    lr: [0.10]\n  overrides:\n  - when: {lr: 0.10}\n    attempt: 2  # again\n", [1]),
        ("sweep:\n  overrides: []\n  matrix: {lr: [0.10]}\n", []),
        ("kind: batch\nsweep:\n    matrix:\n        lr:\n            - 0.10\nimage: a:1  # last\n", []),
    ],
)
def test_entries_are_added(before: str, old: list[Any]) -> None:
    after = with_finished(before, [ENTRY["when"]])  # type: ignore[list-item]
    data: Any = parse(after, "", Findings())
    assert data["sweep"]["overrides"][len(old) :] == [ENTRY]
    assert [line for line in before.splitlines() if "#" in line] == [line for line in after.splitlines() if "#" in line]


@for_each("text", ["kind: batch\n", "sweep: 1\n", "sweep: {overrides: 3}\n", "- a\n", ""])
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(EditError):
        with_finished(text, [{"lr": "1"}])
