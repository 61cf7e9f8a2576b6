"""Edits as replacements, which a viewer of SARIF applies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen.base.line_changes import MAX_COMPARED
from gen.base.repository.files import Edit
from gen.report.findings.sarif import Position, Replacement, replacements_of
from tests.cases import for_each


def replaced(text: str, replacements: list[Replacement]) -> str:
    """The text by SARIF 2.1.0 (3.30, 3.57): lines end with a line feed, columns count code points."""
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


@for_each(
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


LINES_OF_A_JOB = 100_000


def test_a_long_file_of_equal_lines_has_its_replacement_at_once() -> None:
    """Comparing each line with each other took minutes for a file of 20,000 empty lines."""
    rest = "\n" * LINES_OF_A_JOB
    found = list(replacements_of(Edit(path="a", old=f"a: 1{rest}", new=f"b: 1{rest}")))
    assert [replaced(f"a: 1{rest}", found), len(found)] == [f"b: 1{rest}", 1]


@pytest.mark.parametrize(("lines", "replacements"), [(MAX_COMPARED - 2, 2), (MAX_COMPARED, 0), (LINES_OF_A_JOB, 0)])
def test_replacements_that_are_far_apart_are_not_offered(lines: int, replacements: int) -> None:
    """One for all lines between them would show lines that the edit does not change."""
    rest = "\n" * lines
    found = list(replacements_of(Edit(path="a", old=f"a: 1\n{rest}b: 1\n", new=f"{rest}b: 1\na: 1\n")))
    assert len(found) == replacements
