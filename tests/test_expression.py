"""`{{ … }}`: values inside texts, and nothing more."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gen.expression import ExpressionError, evaluate
from gen.kubernetes import RUN

VALUES = {
    "params": {"lr": "1e-3", "dotted.name": "x", "path": "/a/b/"},
    "job": {"name": "demo"},
    "run": {"name": f"demo-{RUN}", "hash": RUN},
    "overlay": {"name": "ack"},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--lr {{ params.lr }}", "--lr 1e-3"),
        ("{{params.lr}}{{ job.name }}", "1e-3demo"),
        ("{{ params['dotted.name'] }}", "x"),
        ("{{ '{{' }}.Names}}", "{{.Names}}"),
        ("{{ overlay.name | upper }}", "ACK"),
        ("{{ params.path | basename }}", "b"),
        ("{{ job.name | replace('d', 'D') | trim }}", "Demo"),
        ("/out/{{ run.name }}", f"/out/demo-{RUN}"),
        ("a\r\n{{ params.lr }}\r\n", "a\r\n1e-3\r\n"),
        ("{{ params.lr }}\n", "1e-3\n"),
        ("${#list[@]} {% x %} {{ params.lr }} {# y #}", "${#list[@]} {% x %} 1e-3 {# y #}"),
    ],
)
def test_values_are_put_in(text: str, expected: str) -> None:
    assert evaluate(text, VALUES) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ params.rl }}", "`params.rl` is not defined"),
        ("{{ parms.lr }}", "there is no `parms`"),
        ("{{ params }}", "`params` alone has no value"),
        ("{{ params.lr * 2 }}", "cannot do this (mul)"),
        ("{{ params.lr() }}", "cannot do this (call)"),
        ("{{ params.lr.__class__ }}", "cannot do this (getattr)"),
        ("{{ [1, 2] }}", "cannot do this (list)"),
        ("{{ 1 }}", "cannot do this (const)"),
        ("{{ params.lr if true else 1 }}", "cannot do this (condexpr)"),
        ("{{ params.lr | tojson }}", "there is no filter `tojson`"),
        ("{{ params.lr | upper('x') }}", "takes 0 arguments"),
        ("{{ params.lr | replace('a') }}", "takes 2 arguments"),
        ("{{ run.name | upper }}", "`run` takes no filters"),
        ("{{ params.lr", "this is no expression"),
        ("{{.Names}}", "this is no expression"),
        ("{{ }}", "this is no expression"),
    ],
)
def test_everything_else_is_refused(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, VALUES)
    assert message in caught.value.message


@given(st.text(max_size=60))
def test_any_text_gives_a_text_or_a_finding(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        assert isinstance(evaluate("{{" + text, VALUES), str)
