"""Formats of `gen diff` show texts of strangers as text."""

from __future__ import annotations

import json

import pytest

from gen.render.write.compare import Change, Status
from gen.report.diff import MAX_LENGTH
from gen.report.formats import DIFF_REPORTERS
from gen.report.terminal import Terminal, View
from gen.review.result import RenderedDiff, object_differences

OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: team\ndata:\n  a: {value}\n"
PATH = "rendered/dev/jobs/team/{name}/configmap-{name}.yaml"
EVIL = '"\\e[31m```</details><script>@all\\u202e"'


def difference(count: int = 1, new: str = EVIL) -> RenderedDiff:
    names = [f"demo{number}" for number in range(count)]
    changes = [
        Change(
            PATH.format(name=name),
            Status.STALE,
            OBJECT.format(name=name, value="old"),
            OBJECT.format(name=name, value=new),
        )
        for name in names
    ]
    objects, rewritten = object_differences(changes)
    return RenderedDiff(objects=objects, rewritten=rewritten, summary="1 job\x1b[0m")


@pytest.mark.parametrize("name", DIFF_REPORTERS)
def test_no_control_character_gets_through(name: str) -> None:
    shown = DIFF_REPORTERS[name](View(data=difference()))
    assert "old" in shown
    assert not {"\x1b", "\u202e"} & set(shown)


def test_colors_are_those_of_a_diff() -> None:
    shown = DIFF_REPORTERS["text"](View(data=difference(new="new"), terminal=Terminal(color=True)))
    assert "\x1b[31m- data.a: old\x1b[0m" in shown
    assert "\x1b[32m+ data.a: new\x1b[0m" in shown


def test_a_comment_cannot_leave_its_blocks() -> None:
    shown = DIFF_REPORTERS["markdown"](View(data=difference()))
    assert "\n````diff\n" in shown
    assert shown.count("````") == 2


@pytest.mark.slow
def test_a_comment_is_cut() -> None:
    diff = difference(4000)
    assert len(DIFF_REPORTERS["markdown"](View(data=diff))) < MAX_LENGTH
    objects, _ = object_differences(
        Change(
            PATH.format(name=f"d{number}"),
            Status.STALE,
            OBJECT.format(name=f"d{number}", value="old"),
            OBJECT.format(name=f"d{number}", value=f"v{number}"),
        )
        for number in range(1000)
    )
    shown = DIFF_REPORTERS["markdown"](View(data=RenderedDiff(objects=objects, summary="")))
    assert len(shown) < MAX_LENGTH + 100
    assert shown.endswith(" more\n")


def test_json_has_values_of_any_type() -> None:
    (change,) = json.loads(DIFF_REPORTERS["json"](View(data=difference(new="[1, {b: null}]"))))["objects"]
    assert change["fields"] == [{"path": "data.a", "before": "old", "after": [1, {"b": None}]}]
