"""Reading and writing of error cases, and their diffs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases import for_each
from tests.error_cases import FOLDER, SUFFIX, CaseError, ErrorCase, apply, diff, encoded, error_cases

if TYPE_CHECKING:
    from collections.abc import Mapping

TEN = "".join(f"{number}\n" for number in range(10))
CASES: list[tuple[Mapping[str, str], Mapping[str, str]]] = [
    ({"a": TEN}, {"a": TEN.replace("3", "three").replace("8\n", "")}),
    ({"a": TEN}, {"a": f"first\n\n{TEN}last\n"}),
    ({"a": "same\n", "b": TEN}, {"a": "same\n"}),
    ({"a": "same\n"}, {"a": "same\n", "b": TEN}),
    ({"a": TEN}, {"b": TEN}),
    ({"a": TEN}, {"b": TEN.replace("3", "three")}),
    ({"a": "1\n", "b": "1\n"}, {"c": "1\n", "d": "1\n"}),
    ({"a": "- x\n-- y\n"}, {"a": "+ x\n"}),
    ({"a": "\n\n1\n\n\n"}, {"a": "\n\n2\n\n\n"}),
]


@for_each(("before", "after"), CASES)
def test_a_diff_gives_the_files_after_it(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    assert apply(diff(before, after), before) == after


def test_a_diff_without_line_numbers_applies_where_its_lines_are() -> None:
    header = "--- a\n+++ a\n"
    assert apply(f"{header}@@\n-3\n+three\n@@\n 7\n-8\n", {"a": TEN}) == CASES[0][1]
    for unclear in ("@@\n-x\n+y\n", "@@\n-1\n-1\n", "@@\n7\n", "7\n"):
        with pytest.raises(CaseError):
            apply(header + unclear, {"a": f"{TEN}1\n1\n1\n"})


@pytest.mark.parametrize(
    "changes", ["x\n", "--- b\n+++ b\n@@\n+x\n", "--- a\n+++ /dev/null\n@@\n-0\n", "--- /dev/null\n+++ a\n@@\n+x\n"]
)
def test_a_diff_of_other_files_is_an_error(changes: str) -> None:
    with pytest.raises(CaseError):
        apply(changes, {"a": TEN})


def test_bytes_that_are_not_utf_8_are_escaped() -> None:
    assert encoded("é \\xe9 \\x41 \\n\n") == b"\xc3\xa9 \xe9 \\x41 \\n\n"


@pytest.mark.parametrize("text", ["-- a --\n1\n", "-- expected --\n-- a --\n1\n-- a --\n2\n"])
def test_a_case_has_an_expectation_and_each_file_once(text: str) -> None:
    with pytest.raises(CaseError):
        ErrorCase.parse("x", text)


@pytest.mark.parametrize("body", ["-- a --\n", "1"])
def test_a_file_that_cannot_be_a_section_is_an_error(body: str) -> None:
    with pytest.raises(CaseError):
        assert ErrorCase(name="x", files={"a": body}, expected="").text


def test_every_file_is_a_case_in_its_normal_form() -> None:
    """`--update-golden` writes this form."""
    assert {path.name for path in FOLDER.iterdir()} == {f"{case.name}{SUFFIX}" for case in error_cases()}
    texts = {case.name: (FOLDER / f"{case.name}{SUFFIX}").read_bytes().decode() for case in error_cases()}
    assert [case.name for case in error_cases() if case.text != texts[case.name]] == []
