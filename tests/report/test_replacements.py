"""Edits as replacements, which a viewer of SARIF applies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen.report.replacements import Position, Replacement, replacements_of
from gen.report.report import Edit


def replaced(text: str, replacements: list[Replacement]) -> str:
    """The text as SARIF 2.1.0 says (3.30, 3.57): lines end with a line feed, columns count code points."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offset(at: Position) -> int:
        return starts[at.line - 1] + at.column - 1

    for one in reversed(replacements):
        text = text[: offset(one.start)] + one.text + text[offset(one.end) :]
    return text


LINES = st.lists(st.sampled_from(["gpus: 8", "gpu: 8", "", "a: ü\u2028b", "x\r"]), max_size=6).map("\n".join)


@given(LINES, LINES, st.sampled_from(["", "\n"]))
def test_the_replacements_make_the_new_text(old: str, new: str, end: str) -> None:
    found = list(replacements_of(Edit(path="a", old=old + end, new=new)))
    assert replaced(old + end, found) == new
    assert (found == []) == (old + end == new)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a: 1\ngpu: 8\n", "a: 1\ngpus: 8\n", [(2, 4, 2, 4, "s")]),
        ("a: 1\nb: 2\nc: 3\n", "a: 1\nc: 3\n", [(2, 1, 3, 1, "")]),
        ("a: one two\n", "a: 'one two'\n", [(1, 4, 1, 11, "'one two'")]),
        ("\ufeffa: 1\n", "\ufeffb: 1\n", [(1, 1, 1, 2, "b")]),
        ("a: 1", "a: 1\nb: 2\n", [(1, 5, 1, 5, "\nb: 2\n")]),
        ("a: 1\nb: 2\nc: 3\n", "x: 1\nb: 2\ny: 3\n", [(1, 1, 1, 2, "x"), (3, 1, 3, 2, "y")]),
    ],
)
def test_only_what_differs_is_replaced(old: str, new: str, expected: list[tuple[int, int, int, int, str]]) -> None:
    found = replacements_of(Edit(path="a", old=old, new=new))
    assert [(one.start.line, one.start.column, one.end.line, one.end.column, one.text) for one in found] == expected
