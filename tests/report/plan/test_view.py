"""Hostile text in any field of the view has no effect in a terminal, a log or a comment."""

from __future__ import annotations

import re
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from msgspec import Struct

from gen.base.findings import Diagnostic, Location
from gen.report import diff
from gen.report.plan import view
from gen.report.plan.markdown import comment
from gen.report.plan.text import text
from gen.report.plan.view import PlanView
from gen.report.templates import Phrase
from gen.review.field_changes import FieldChange

HOSTILE = (
    "x\x1b[31m\u202e@everyone <img src=x> [x](javascript:a) **b** </details> | `tick` ``` www.evil.example.com "
    "##[error]no\n::error::no\n```\n\x1e\x1f| a |"
)
NAMES = {"Diagnostic": Diagnostic, "FieldChange": FieldChange, **vars(diff), **vars(view)}

SAMPLES: dict[Any, Any] = {
    Phrase: Phrase("phrase"),
    bool: True,
    str: HOSTILE,
    FieldChange: FieldChange((f".{HOSTILE}",), HOSTILE, {HOSTILE: HOSTILE}),
    Diagnostic: Diagnostic(Location(HOSTILE), HOSTILE, HOSTILE, HOSTILE, ((Location(HOSTILE), HOSTILE),)),
}


def hostile(annotation: Any) -> Any:
    """A value of the type, with hostile text in each of its strings."""
    if annotation in SAMPLES:
        return SAMPLES[annotation]
    if get_origin(annotation) is tuple:
        inner = [one for one in get_args(annotation) if one is not Ellipsis]
        return tuple(hostile(one) for one in inner)
    assert issubclass(annotation, Struct), annotation
    hints = get_type_hints(annotation, NAMES)
    return annotation(**{name: hostile(hints[name]) for name in annotation.__struct_fields__})


PLAN: PlanView = hostile(PlanView)


@pytest.mark.parametrize("written", [text(PLAN), comment(PLAN)], ids=["text", "markdown"])
def test_no_value_has_an_effect_in_a_terminal_or_log(written: str) -> None:
    assert [char for char in ("\x1b", "\u202e", "\x1e", "\x1f", "##[") if char in written] == []
    assert [line for line in written.splitlines() if line.lstrip().startswith("::")] == []
    assert written.count("everyone") > 15


def test_every_value_in_a_comment_is_inside_a_code_span_or_block() -> None:
    outside = re.sub(r"(?ms)^(`{3,})diff\n.*?^\1$", "", comment(PLAN))
    rows = [re.split(r"(?<!\\)\|", line) if line.startswith("|") else [line] for line in outside.splitlines()]
    cells = [re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", cell) for row in rows for cell in row]
    words = ("@", "<img", "javascript", "evil", "**b**", "`", "error")
    assert [cell for cell in cells if any(word in cell for word in words)] == []
    assert "".join(cells).count("<details>") == "".join(cells).count("</details>") > 0


def test_a_comment_fits_into_any_limit() -> None:
    for limit in range(2200, 9000, 400):
        assert len(comment(PLAN, limit)) <= limit
    assert "Omitted" in comment(PLAN, 2200)
