"""Changes of a text: the requested value is read, and everything else stays."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from gen.base.findings import Findings
from gen.base.yaml.strict import parse
from gen.edit.change import Change, EditError
from gen.edit.splice import edited, scalar
from tests.cases import for_each


def read(text: str) -> Any:
    found = Findings()
    data = parse(text, "job.yaml", found)
    assert data is not None, (text, list(found))
    return data


NEVER = "\ufeff" + "".join(map(chr, range(0xFDD0, 0xFDF0)))
"""Values that the reader refuses in any spelling."""
KEYS = st.text(string.ascii_letters + "é/._-", min_size=1, max_size=6) | st.sampled_from(
    ["on", "8", "a b", "x: y", "#"]
)
VALUES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters=NEVER), max_size=12
) | st.sampled_from(
    ["", "1e-3", "on", "~", "010", "a: b", "a #b", "- x", "[", "}", "'", '"', "{{ params.x }}", "a\nb\n"]
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, list[tuple[str, ...]]]:
    """A text with comments, empty lines and both styles, and the routes of the scalars in it."""
    line_break = draw(st.sampled_from(["\n", "\r\n"]))
    step = draw(st.sampled_from([1, 2, 4]))
    routes: list[tuple[str, ...]] = []
    lines: list[str] = []

    def filler(depth: int) -> None:
        kinds = draw(st.lists(st.sampled_from(["", "# a comment", "  # one further in"]), max_size=2))
        lines.extend(" " * (step * depth) + kind if kind else "" for kind in kinds)

    def value(route: tuple[str, ...], *, flow: bool) -> str:
        routes.append(route)
        style = draw(st.sampled_from([None, "'", '"']))
        return scalar(draw(VALUES), flow=flow, style=style)

    def flow(route: tuple[str, ...]) -> str:
        keys = draw(st.lists(KEYS, min_size=1, max_size=3, unique=True))
        return "{" + ", ".join(f"{scalar(k, flow=True)}: {value((*route, k), flow=True)}" for k in keys) + "}"

    def block(route: tuple[str, ...], depth: int) -> None:
        for key in draw(st.lists(KEYS, min_size=1, max_size=4, unique=True)):
            filler(depth)
            start = " " * (step * depth) + scalar(key, flow=False) + ":"
            comment = draw(st.sampled_from(["", "  # behind"]))
            form = draw(st.sampled_from(["scalar", "scalar", "flow", "block", "literal"]))
            if form == "block" and depth < 3:
                lines.append(start + comment)
                block((*route, key), depth + 1)
            elif form == "literal":
                routes.append((*route, key))
                lines.append(f"{start} |{comment}")
                lines.extend(" " * (step * depth + 2) + text for text in ("some text", "", "  # of it"))
            elif form == "flow":
                lines.append(f"{start} {flow((*route, key))}{comment}")
            else:
                lines.append(f"{start} {value((*route, key), flow=False)}{comment}")

    block((), 0)
    filler(0)
    return line_break.join(lines) + draw(st.sampled_from(["", line_break])), routes


def at(data: Any, route: tuple[str, ...]) -> Any:
    for step in route:
        data = data[step]
    return data


def replaced(data: Any, route: tuple[str, ...], value: str) -> Any:
    return value if not route else {**data, route[0]: replaced(data[route[0]], route[1:], value)}


@given(documents(), VALUES, st.data())
def test_a_value_is_replaced_and_nothing_else(
    document: tuple[str, list[tuple[str, ...]]], value: str, data: st.DataObject
) -> None:
    text, routes = document
    route = data.draw(st.sampled_from(routes))
    new = edited(text, Change(route, value))
    old_value = at(read(text), route)
    assert read(new) == replaced(read(text), route, value)
    assert YAML(pure=True).compose(new) is not None, "another reader takes it too"
    assert new == text or old_value != value
    for comment in ("# behind", "# a comment"):
        assert new.count(comment) == text.count(comment)
    assert "\n" not in difference(text, new)[1]
    if scalar(value, flow=True) == value and scalar(old_value, flow=True) == old_value:
        assert edited(new, Change(route, old_value)) == text


def difference(old: str, new: str) -> tuple[str, str]:
    """The part that differs, without the common start and end."""
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    room = min(len(old), len(new)) - start
    end = next((i for i in range(room) if old[-1 - i] != new[-1 - i]), room)
    return old[start : len(old) - end], new[start : len(new) - end]


@given(documents(), KEYS, KEYS, VALUES, st.data())
def test_a_new_field_comes_and_goes_without_a_trace(
    document: tuple[str, list[tuple[str, ...]]], key: str, inner: str, value: str, data: st.DataObject
) -> None:
    text, routes = document
    above = data.draw(st.sampled_from(routes))[:-1]
    assume(key not in at(read(text), above))
    route = data.draw(st.sampled_from([(*above, key), (*above, key, inner)]))
    new = edited(text, Change(route, value))
    assert at(read(new), route) == value
    removed, _ = difference(text, new)
    assert removed == "", "something was only added"
    again = edited(new, Change((*above, key), None))
    assert again in (text, text + "\n", text + "\r\n")


@given(documents(), st.data())
def test_a_field_is_removed_with_its_lines(document: tuple[str, list[tuple[str, ...]]], data: st.DataObject) -> None:
    text, routes = document
    route = data.draw(st.sampled_from(routes))
    try:
        new = edited(text, Change(route, None))
    except EditError:  # a comment that would fall to the block text before it, were the field gone
        assert "  # one further in" in text
        assert "# of it" in text
        return
    assert route[-1] not in at(read(new), route[:-1])
    assert new.count("# a comment") == text.count("# a comment")
    removed, added = difference(text, new)
    assert added in ("", "{}") or len(added) < len(removed)


@given(VALUES, st.booleans(), st.sampled_from([None, "'", '"']))
def test_a_scalar_reads_back_as_the_text(text: str, flow: bool, style: str | None) -> None:
    written = scalar(text, flow=flow, style=style)
    assert read(f"{{k: {written}, l: m}}" if flow else f"k: {written}  # c\nl: m\n") == {"k": text, "l": "m"}


@pytest.mark.parametrize("text", ["=", "<<"])
def test_what_readers_take_for_an_instruction_is_quoted(text: str) -> None:
    assert scalar(text, flow=False) == f"'{text}'"


@for_each(
    ("old", "route", "value", "new"),
    [
        ("a: 1  # why\nb: 2\n", "a", "x y", "a: x y  # why\nb: 2\n"),
        ("a: 'x'\n", "a", "it's", "a: 'it''s'\n"),
        ('a: "x"\n', "a", "y", 'a: "y"\n'),
        ("a: 1", "b", "2", "a: 1\nb: 2"),
        ("a: 1\r\n\r\n# end\r\n", "b", "on", "a: 1\r\nb: on\r\n\r\n# end\r\n"),
        ("a:\n    b: 1\n", "c.d", "2", "a:\n    b: 1\nc:\n    d: 2\n"),
        ("a: {}\n", "a.b", "1", "a: {b: 1}\n"),
        ("a: {\n  b: 1,  # x\n}\n", "a.c", "2", "a: {\n  b: 1, c: 2,  # x\n}\n"),
        ("a: [x, y]\n", "a.1", "a, b", 'a: [x, "a, b"]\n'.replace('"', "'")),
        ("a:\n- x\n- y\n", "a.0", "z", "a:\n- z\n- y\n"),
        ("a:  # c\nb: 1\n", "a.k", "v", "a: {k: v}  # c\nb: 1\n"),
        ("a: {k}\n", "a.k", "v", "a: {k: v}\n"),
        ("a: |  # c\n  x\n\n# d\nb: 1\n", "a", "y", "a: y  # c\n\n# d\nb: 1\n"),
        ("a:  # c\n  x: 1\n  y: 2\nb: 1\n", "a", "v", "a: v  # c\nb: 1\n"),
        ("a: |\n  to the end", "b", "1", "b: 1\na: |\n  to the end"),
        ("a: |+\n  x\n\n", "b", "1", "b: 1\na: |+\n  x\n\n"),
        ("a: 1\n", "a", "line\nline", 'a: "line\\nline"\n'),
        ("a: 1\n", "a", "", "a: ''\n"),
        ("---\na: 1\n...\n", "b", "2", "---\na: 1\nb: 2\n...\n"),
    ],
)
def test_where_a_value_goes(old: str, route: str, value: str, new: str) -> None:
    steps = tuple(int(step) if step.isdigit() else step for step in route.split("."))
    assert edited(old, Change(steps, value)) == new


@for_each(
    ("old", "route", "new"),
    [
        ("a: 1\n# about b\nb: 2  # x\nc: 3\n", "b", "a: 1\n# about b\nc: 3\n"),
        ("a: 1\nb: 2", "b", "a: 1\n"),
        ("a: {b: 1, c: 2, d: 3}\n", "a.c", "a: {b: 1, d: 3}\n"),
        ("a: {b: 1, c: 2}\n", "a.c", "a: {b: 1}\n"),
        ("a: {b: 1}\n", "a.b", "a: {}\n"),
        ("a:  # c\n  b: 1\nd: 2\n", "a.b", "a: {}  # c\nd: 2\n"),
        ("a:\n  - b: 1\n    c: 2\n", "a.0.b", "a:\n  - c: 2\n"),
        ("a:\n  - b: 1\n", "a.0.b", "a:\n  - {}\n"),
        ("a: 1\n", "z.y", "a: 1\n"),
    ],
)
def test_where_a_field_is_removed(old: str, route: str, new: str) -> None:
    steps = tuple(int(step) if step.isdigit() else step for step in route.split("."))
    assert edited(old, Change(steps, None)) == new


@for_each(
    ("old", "change", "message"),
    [
        ("a: 1\n", Change(("a", "b"), "2"), "`a` is `1` and has no fields"),
        ("a: [x]\n", Change(("a", "b"), "2"), "`a` is a list"),
        ("a: [x]\n", Change(("a", 1), "2"), "`a` has only 1 entries"),
        ("a: [x]\n", Change(("a", 0), None), "entries of a list cannot be removed"),
        ("a: 1\n", Change(("b", 0), "2"), "`b` does not exist"),
        ("? a\n: 1\nb: 2\n", Change(("a",), None), "this value is written in a form"),
    ],
)
def test_text_that_cannot_be_edited_is_reported(old: str, change: Change, message: str) -> None:
    with pytest.raises(EditError, match=message.replace("[", r"\[")):
        edited(old, change)
