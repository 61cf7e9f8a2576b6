"""Places of findings about a changed text, in the file as it is."""

from __future__ import annotations

from gen.base.findings import Diagnostic, Findings, Location
from gen.base.yaml.source import Source, source_of
from gen.edit.checks import in_old_file
from tests.cases import for_each
from tests.work import lines_run

LINES = 50_000


def source(text: str) -> Source:
    made = source_of(text.encode(), "job.yaml", Findings())
    assert made is not None
    return made


def lines_of(old: Source, new: Source, *lines: int) -> list[int]:
    items = [Diagnostic(Location("job.yaml", line), "code", "message") for line in lines]
    return [item.place.line for item in in_old_file(items, old, new, ())]


@for_each(
    ("old", "new", "expected"),
    [
        ("a: 1\nb: 2\n", "a: 1\nb: 2\n", [1, 2]),
        ("a: 1\nb: 2\n", "a: 1\nx: 1\nb: 2\n", [1, 1, 2]),
        ("a: 1\nb: 2\nc: 3\n", "a: 1\nc: 3\n", [1, 3]),
        ("a: 1\nb: 2\n", "a: 1\nb: 3\n", [1, 2]),
        ("a: 1\n", "a: 1\nb: 3\n", [1, 1]),
    ],
)
def test_a_line_is_the_equal_one_or_the_one_before_it(old: str, new: str, expected: list[int]) -> None:
    assert lines_of(source(old), source(new), *range(1, len(expected) + 1)) == expected


def test_a_long_file_of_equal_lines_is_compared_once() -> None:
    old = source("a: 1\n" + "#\n" * LINES + "b: 1\n")
    new = source("b: 1\n" + "#\n" * LINES + "a: 1\n")
    lines = [1, 7, 100, LINES]

    def compare() -> None:
        assert lines_of(old, new, *lines * 100) == lines * 100

    assert lines_run(compare, "difflib") < 10 * LINES
