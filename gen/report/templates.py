"""Jinja2 environments for reports. Every value that a template prints is escaped; a template cannot turn that off.

A template prints phrases and numbers, which gen wrote itself; `Markup`, the result of a filter that escapes; and
untrusted values of every other type, which pass through the escape function of the format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2 import Environment

_PHRASE: Final = regex(r"[\w ,;:.()%'→-]*")


class Phrase(str):
    """Words and numbers that gen wrote. Printed unescaped, so characters with a special meaning are not allowed."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if not _PHRASE.fullmatch(text):
            raise ValueError(f"not a phrase: {text!r}")
        return super().__new__(cls, text)


def environment(escape: Callable[[str], str], filters: Mapping[str, Any]) -> Environment:
    """Templates of one format. `escape` receives every untrusted value; `filters` return `Markup` if they escape."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - 40 ms that most runs do not need
    from markupsafe import Markup  # noqa: PLC0415 - comes with Jinja2

    def escaped(value: object) -> Markup:
        if isinstance(value, Markup):
            return value
        return Markup(value if isinstance(value, (Phrase, int)) else escape(str(value)))  # noqa: S704 - escaped right here

    made = Environment(
        loader=PackageLoader("gen", "templates"),
        autoescape=True,  # so that macros return Markup, which is not escaped again
        finalize=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    del made.filters["safe"]
    made.filters |= filters
    return made


def as_markup(function: Callable[..., str]) -> Callable[..., str]:
    """A filter of templates from a function that escapes its argument."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with Jinja2

    return lambda *arguments: Markup(function(*arguments))  # noqa: S704 - escaped by the function
