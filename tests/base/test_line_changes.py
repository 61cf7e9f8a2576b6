"""Lines that differ: the same as those of difflib, and few comparisons for long files of equal lines."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen.base.line_changes import MAX_COMPARED, changed_lines, unified
from tests.work import lines_run

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=30)
LINES_OF_A_FILE = 100_000


@given(LINES, LINES)
def test_the_parts_lead_from_the_old_text_to_the_new_one(old: list[str], new: list[str]) -> None:
    found: list[str] = []
    at = 0
    for begin, end, first, last in changed_lines(old, new):
        assert old[begin:end] != new[first:last]
        found += [*old[at:begin], *new[first:last]]
        at = end
    assert [*found, *old[at:]] == new


@given(st.lists(st.integers(0, 99), max_size=9), st.integers(0, 4))
def test_a_diff_of_a_long_text_is_that_of_difflib(changed: list[int], context: int) -> None:
    old = [f"line {number}" for number in range(MAX_COMPARED + 100)]
    new = list(old)
    for number in sorted(changed, reverse=True):
        new[number : number + number % 3] = ["new"] * (number % 4)
    expected = difflib.unified_diff(old, new, "a", "b", n=context, lineterm="")
    assert list(unified(old, new, "a", "b", context)) == list(expected)


@pytest.mark.parametrize("lines", [["x"], [str(number % 150) for number in range(150)], ["x", "y"]])
def test_a_long_file_of_equal_lines_is_not_compared_line_by_line(lines: list[str]) -> None:
    """Difflib takes hours for 100,000 equal lines."""
    old = ["a", *lines * (LINES_OF_A_FILE // len(lines))]
    new = [*old[1:], "b"]

    def compare() -> None:
        assert changed_lines(old, new) == [(0, len(old), 0, len(new))]
        assert len(list(unified(old, new))) == 3 + len(old) + len(new)

    assert lines_run(compare, "difflib") < 20 * len(old)


def test_a_change_in_a_long_file_of_equal_lines_is_found() -> None:
    old = ["x"] * LINES_OF_A_FILE
    new = [*old[:70], "y", *old[71:]]
    assert changed_lines(old, new) == [(70, 71, 70, 71)]
    assert list(unified(old, new, context=1))[2:] == ["@@ -70,3 +70,3 @@", " x", "-x", "+y", " x"]


def test_equal_texts_have_no_difference() -> None:
    old = ["x"] * LINES_OF_A_FILE
    assert changed_lines(old, list(old)) == []
    assert list(unified(old, list(old))) == []
