"""Values in templates of reports are escaped unless gen wrote them, and a template cannot change that."""

from __future__ import annotations

import pytest
from jinja2 import TemplateAssertionError, UndefinedError

from gen.report.escaping import sanitize, table_cell
from gen.report.templates import Phrase, as_markup, environment
from tests.cases import for_each

HOSTILE = "@all|<b>`\x1b[31m\n::error::x"


def rendered(template: str) -> str:
    filters = {"shout": as_markup(lambda text: table_cell(text.upper())), "plain": str.upper}
    return environment(table_cell, filters).from_string(template).render(value=HOSTILE, phrase=Phrase("a-b (1)"))


@for_each(
    "template",
    [
        "{{ value }}",
        "{% autoescape false %}{{ value }}{% endautoescape %}",
        "{% set copy = value %}{{ copy }}",
        "{% macro m(v) %}{{ v }}{% endmacro %}{{ m(value) }}",
        "{% for v in [value] %}{{ v }}{% endfor %}",
        "{{ [value] | join }}",
        "{{ value | string }}",
    ],
)
def test_an_untrusted_value_is_escaped_once(template: str) -> None:
    assert rendered(template) == table_cell(HOSTILE)


def test_the_result_of_a_filter_is_escaped_unless_the_filter_escapes() -> None:
    assert rendered("{{ value | plain }}") == rendered("{{ value | shout }}") == table_cell(HOSTILE.upper())


def test_phrases_and_numbers_are_printed_as_they_are() -> None:
    assert rendered("{{ phrase }}: {{ 1 + 2 }}") == "a-b (1): 3"


def test_a_template_cannot_declare_a_value_safe() -> None:
    with pytest.raises(TemplateAssertionError, match="safe"):
        rendered("{{ value | safe }}")
    with pytest.raises(UndefinedError):
        rendered("{{ misspelt }}")


@for_each("text", list('`|<>@[]*#\\\n\x1b&$!~/"'))
def test_a_phrase_has_no_character_with_a_special_meaning(text: str) -> None:
    with pytest.raises(ValueError, match="not a phrase"):
        Phrase(f"a{text}b")


def test_text_for_a_terminal_is_one_line_without_escapes() -> None:
    text = environment(sanitize, {}).from_string("{{ value }}").render(value=HOSTILE)
    assert text == "@all|<b>`\N{REPLACEMENT CHARACTER}[31m ::error::x"
