"""Jinja2 environments for reports, and HTML pages.

Every value that a template prints is escaped; a template cannot turn that off. It prints phrases and numbers, which gen
wrote itself; `Markup`, the result of a filter that escapes; and untrusted values of every other type, which pass
through the escape function of the format. A page is one file without requests. Its policy permits its own style and
script only, by their digests, so that a script in a text of a job could not run even if it were not escaped.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, Self

from gen.base import regex
from gen.report.escaping import is_safe, sanitize

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_PHRASE: Final = regex(r"[\w ,;:.()%'→+-]*")


class Phrase(str):
    """Words and numbers that gen wrote. Printed unescaped, so characters with a special meaning are not allowed."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if not _PHRASE.fullmatch(text):
            raise ValueError(f"not a phrase: {text!r}")
        return super().__new__(cls, text)


def environment(escape: Callable[[str], str], filters: Mapping[str, object]) -> Environment:
    """Templates of one format. `escape` receives every untrusted value; `filters` return `Markup` if they escape."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

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
    from markupsafe import Markup

    return lambda *arguments: Markup(function(*arguments))  # noqa: S704 - escaped by the function


_LEVEL: Final = 9
_CODE: Final = regex("`([^`]+)`")


def escape(text: str) -> str:
    """A text for HTML, also in a quoted attribute."""
    return html.escape(sanitize(text), quote=True)


def coded(text: str) -> str:
    """A message for HTML, with its values in backticks as code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def lines(text: str) -> str:
    """A text of several lines for HTML."""
    if is_safe(text.replace("\n", "")):
        return html.escape(text, quote=True)
    return "\n".join(map(escape, text.split("\n")))


@cache
def _environment() -> Environment:
    return environment(escape, {"coded": as_markup(coded), "lines": as_markup(lines)})


def page(template: str, styles: tuple[str, ...], scripts: tuple[str, ...], values: Mapping[str, object]) -> str:
    """A page from a template in `templates/`, with the files of its style and script."""
    return _environment().get_template(template).render({**values, **_frame(styles, scripts)})


@cache
def _frame(styles: tuple[str, ...], scripts: tuple[str, ...]) -> dict[str, Markup]:
    """The style and the script of pages, and the policy that permits them."""
    from markupsafe import Markup

    made = _environment()
    style, script = ("".join(_source(made, name) for name in names) for names in (styles, scripts))
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return {"style": Markup(style), "script": Markup(script), "policy": Markup(policy)}  # noqa: S704 - constants of gen


def packed(data: object) -> str:
    """Data as compressed JSON in base64, which has no character with a meaning in HTML."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), _LEVEL, mtime=0)).decode()


def _source(made: Environment, name: str) -> str:
    assert made.loader is not None  # environments of gen have one
    return made.loader.get_source(made, name)[0]


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
