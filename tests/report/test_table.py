"""Tables for terminals of any width."""

from __future__ import annotations

from gen.report.terminal import Column, Terminal, table
from tests.cases import for_each

COLUMNS = (
    Column(name="NAME", texts=("a-run-with-a-long-name", "b"), rank=0, cut=True),
    Column(name="STATE", texts=("running", "failed"), rank=1),
    Column(name="EMPTY", texts=("", ""), rank=2),
    Column(name="AGE", texts=("3d", "12h"), rank=3, right=True),
)


def test_without_a_width_nothing_is_cut() -> None:
    made = table(COLUMNS, Terminal(), {})
    assert made.lines == (
        "NAME                    STATE    AGE",
        "a-run-with-a-long-name  running   3d",
        "b                       failed   12h",
    )
    assert made.left_out == ()


@for_each("width", [60, 30, 24, 20, 8, 1])
def test_lines_fit(width: int) -> None:
    made = table(COLUMNS, Terminal(width=width), {})
    assert all(len(line) <= max(width, 10) for line in made.lines), made


def test_texts_are_cut_before_columns_are_left_out() -> None:
    assert table(COLUMNS, Terminal(width=30), {}).lines[1] == "a-run-with-a-lo…  running   3d"
    narrow = table(COLUMNS, Terminal(width=20), {})
    assert (narrow.lines[1], narrow.left_out) == ("a-run-with…  running", ("AGE",))


def test_colours_only_where_they_are_shown() -> None:
    colours = {"STATE": ("green", "red")}
    assert "\x1b[32mrunning" in table(COLUMNS, Terminal(color=True), colours).lines[1]
    assert "\x1b" not in "".join(table(COLUMNS, Terminal(), colours).lines)
