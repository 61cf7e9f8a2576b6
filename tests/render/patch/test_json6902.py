"""JSON 6902, with the cases of the specification's appendix that apply to objects."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from gen.overlay.patch import Operation
from gen.render.patch.apply import DoesNotApply, apply
from tests.cases import for_each

BODY = {"a": {"b": [1, {"c": "d"}], "x/y": "slash"}, "e": "f"}


def operation(op: str, path: str, value: Any = None, origin: str | None = None) -> Operation:
    steps = tuple(step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/"))
    source = tuple(origin[1:].split("/")) if origin else None
    return Operation(op=op, path=steps, value=value, origin=source)


@for_each(
    ("given", "expected", "route"),
    [
        (operation("add", "/n", 1), {**BODY, "n": 1}, ("n",)),
        (operation("add", "/a/b/0", 0), {**BODY, "a": {"b": [0, 1, {"c": "d"}], "x/y": "slash"}}, ("a", "b", 0)),
        (operation("add", "/a/b/-", 2), {**BODY, "a": {"b": [1, {"c": "d"}, 2], "x/y": "slash"}}, ("a", "b", 2)),
        (operation("add", "/e", "g"), {**BODY, "e": "g"}, ("e",)),
        (operation("replace", "/a/x~1y", 1), {**BODY, "a": {"b": [1, {"c": "d"}], "x/y": 1}}, ("a", "x/y")),
        (operation("replace", "/a/b/0", 9), {**BODY, "a": {"b": [9, {"c": "d"}], "x/y": "slash"}}, ("a", "b", 0)),
        (operation("remove", "/a/b/1/c"), {**BODY, "a": {"b": [1, {}], "x/y": "slash"}}, ("a", "b", 1, "c")),
        (operation("remove", "/e"), {"a": BODY["a"]}, ("e",)),
        (operation("move", "/n", origin="/e"), {"a": BODY["a"], "n": "f"}, ("n",)),
        (operation("copy", "/n", origin="/e"), {**BODY, "n": "f"}, ("n",)),
        (operation("test", "/e", "f"), BODY, ("e",)),
        (operation("test", "/a/b", [1.0, {"c": "d"}]), BODY, ("a", "b")),
    ],
)
def test_an_operation_changes_a_copy(given: Operation, expected: Any, route: Any) -> None:
    before = copy.deepcopy(BODY)
    assert apply(BODY, given) == (expected, route)
    assert before == BODY


@for_each(
    "given",
    [
        operation("remove", "/n"),
        operation("replace", "/n", 1),
        operation("add", "/n/m", 1),
        operation("add", "/a/b/9", 1),
        operation("remove", "/a/b/-"),
        operation("remove", "/a/b/01"),
        operation("test", "/e", "g"),
        operation("test", "/a/b/0", True),  # `True == 1` in Python
        operation("test", "/a/b", [True, {"c": "d"}]),
        operation("test", "/a/b/0", "1"),
        operation("copy", "/n", origin="/m"),
        operation("add", "/e/f", 1),
    ],
)
def test_an_operation_without_its_place_does_not_apply(given: Operation) -> None:
    with pytest.raises(DoesNotApply):
        apply(BODY, given)
