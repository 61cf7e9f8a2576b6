"""`{{ … }}`: values inside texts, and nothing more."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gen.base.placeholders import RUN
from gen.render import expressions as expression
from gen.render.expressions import ExpressionError, FollowingError, evaluate, evaluate_with_jinja
from tests.cases import for_each
from tests.regular_expressions import Search
from tests.work import is_linear, lines_run

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from tests.support import Repository

LONG = 2000
LOOKUP: re.Pattern[str] = vars(expression)["_LOOKUP"]
VALUES = {
    "params": {"lr": "1e-3", "dotted.name": "x", "path": "/a/b/", "long": "a" * 40_000},
    "job": {"name": "demo"},
    "run": {"id": f"demo-{RUN}", "hash": RUN},
    "overlay": {"name": "ack"},
}


@for_each(
    ("text", "expected"),
    [
        ("--lr {{ params.lr }}", "--lr 1e-3"),
        ("{{params.lr}}{{ job.name }}", "1e-3demo"),
        ("{{ params['dotted.name'] }}", "x"),
        ("{{ '{{' }}.Names}}", "{{.Names}}"),
        ("{{ overlay.name | upper }}", "ACK"),
        ("{{ params.path | basename }}", "b"),
        ("{{ job.name | replace('d', 'D') | trim }}", "Demo"),
        ("/out/{{ run.id }}", f"/out/demo-{RUN}"),
        ("a\r\n{{ params.lr }}\r\n", "a\r\n1e-3\r\n"),
        ("{{ params.lr }}\n", "1e-3\n"),
        ("${#list[@]} {% x %} {{ params.lr }} {# y #}", "${#list[@]} {% x %} 1e-3 {# y #}"),
    ],
)
def test_values_are_put_in(text: str, expected: str) -> None:
    assert evaluate(text, VALUES) == expected


@for_each(
    ("text", "message"),
    [
        ("{{ params.rl }}", "`params.rl` is not defined"),
        ("{{ parms.lr }}", "unknown name `parms`"),
        ("{{ params }}", "`params` is not a complete expression"),
        ("{{ params.lr * 2 }}", "unsupported expression: mul"),
        ("{{ steps.make-data.results.path }}", "unsupported expression: `-`"),
        ("{{ params.lr() }}", "unsupported expression: function call"),
        ("{{ params.lr.__class__ }}", "unsupported expression: nested attribute access"),
        ("{{ [1, 2] }}", "unsupported expression: list"),
        ("{{ 1 }}", "unsupported expression: constant that is not a string"),
        ("{{ params.lr if true else 1 }}", "unsupported expression: condition"),
        ("{{ params.lr | tojson }}", "unknown filter `tojson`"),
        ("{{ params.lr | upper('x') }}", "takes 0 arguments"),
        ("{{ params.lr | replace('a') }}", "takes 2 arguments"),
        ("{{ run.id | upper }}", "`run` takes no filters"),
        ("{{ params.lr", "invalid expression"),
        ("{{.Names}}", "invalid expression"),
        ("{{ }}", "invalid expression"),
        ("{{ params.lr | upper(*job) }}", "unsupported expression: filter"),
        ("{{ params.lr | upper(**job) }}", "unsupported expression: filter"),
        ("{{ params.lr | replace('1', new='2') }}", "unsupported expression: filter"),
        ("{{ params.lr\r\n }}", "it contains a carriage return"),
        ("{{ 'a\rb' }}", "a string literal contains a carriage return"),
        ("{{ " + "(" * 100_000 + " }}", "too large"),
        ("{{ " + "1" * 5000 + " }}", "too large"),
        ("{{ params.lr" + " | trim" * 10_000 + " }}", "nested too deeply"),
        ("{{ params.lr" + ".lr" * 10_000 + " }}", "unsupported expression: nested attribute access"),
        ("{{ '\\0' }}", "the character U+0000 is not allowed"),
        ("{{ '\\ud800' }}", "the character U+D800 is not allowed"),
        ("{{ '\\u202e' }}", "the character U+202E is not allowed"),
        ("{{ '\\ufdd0' }}", "the character U+FDD0 is not allowed"),
        ("{{ params.lr | replace('1', '\\ufdd0') }}", "the character U+FDD0 is not allowed"),
        ("{{ params['\\ufdd0'] }}", "is not defined"),
        ("{{ params.long }}{{ params.long }}", "more than 65536 characters"),
        ("{{ params.long | replace('a', 'aa') }}", "more than 65536 characters"),
        ("{{ 'a'" + " | replace('a', 'aaaaaaaaaaaaaaaaaaaa')" * 100 + " }}", "more than 65536 characters"),
    ],
    ids=lambda text: text[:40],
)
def test_everything_else_is_refused(text: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, VALUES)
    assert message in caught.value.message


@for_each(
    ("text", "offset"),
    [
        ("{{ params.rl }}", 0),
        ("a {{ params.lr }} {{ params.rl }}", 18),
        ("a\r\n{{ '}}' }}  {{- params.rl }}", 15),
        ("a\nb {{ params.lr }}\nc {{ params.lr", 22),
        ("{{ params.lr }} {{", 0),
    ],
)
def test_an_error_has_the_start_of_its_expression(text: str, offset: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, VALUES)
    assert caught.value.offset == offset


def test_what_was_found_wrong_already_is_an_error_of_its_own() -> None:
    with pytest.raises(FollowingError):
        evaluate("{{ params.wrong }}", {"params": {"wrong": None}})


@for_each("unit", ["{{ params.lr }} ", "{{", "{{ '", "{{ params.", "{{ params.lr", "{", "x", "{{ a"])
def test_the_work_for_a_text_is_linear(unit: str) -> None:
    def work(size: int) -> int:
        text = unit * size + "{{ params.lr }}"

        def evaluation() -> None:
            with contextlib.suppress(ExpressionError):
                evaluate(text, VALUES)

        evaluation()
        return lines_run(evaluation, "jinja2")

    assert is_linear(work, 500)
    text = unit * (LONG // len(unit))
    assert Search(LOOKUP.pattern, LOOKUP.flags, text, 100 * LONG).run("finditer") == spans(LOOKUP, text)


def spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


def result(evaluation: Callable[..., str], text: str) -> object:
    try:
        return evaluation(text, VALUES)
    except ExpressionError as error:
        return type(error), error.message, error.hint, error.offset


PIECES = [
    *("{{ params.lr }}", "{{params.path}}", "{{ job.name}}", "{{ run.id }}", "{{ params.long }}", "{{ params.no }}"),
    *("{{ nothing.x }}", "{{ params }}", "{{  params.lr }}", "{{- job.name }}", "{{ job.name | upper }}", "{{ '{{' }}"),
    *("{", "}", "{{", "}}", " ", "\n", "\r\n", "$", "a", "{%", "{#", "#}", "-}}", "true.x", "params.lr"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=6).map("".join))
@example("{{{ params.lr }}")
@example("{{ params.lr }}}")
@example("{{ params.lr }}{{ params.long }}{{ params.long }}")
@example("{{ params.lr }}{{")
def test_simple_lookups_are_evaluated_as_jinja_would_parse_them(text: str) -> None:
    assert result(evaluate, text) == result(evaluate_with_jinja, text)


@pytest.mark.parametrize(("expression", "imported"), [("{{ params.lr }}", False), ("{{ params.lr | upper }}", True)])
@pytest.mark.slow
def test_jinja_is_imported_only_for_more_than_lookups(repo: Repository, expression: str, imported: bool) -> None:
    text = f"kind: pytorch\nimage: a:1\ncommand: train {expression}\nparams: {{lr: 1e-3}}\n"
    repo.job(text)
    script = (
        "import sys\nfrom pathlib import Path\nfrom gen.render.run import render\n"
        "findings = render(Path('.'), (), ()).findings\nprint(findings.failed(), 'jinja2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=repo.root, capture_output=True, text=True, check=True)
    assert done.stdout == f"False {imported}\n"


@given(st.text(max_size=60))
def test_any_text_gives_a_text_or_a_finding(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        assert isinstance(evaluate("{{" + text, VALUES), str)
