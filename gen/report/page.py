"""Self-contained HTML pages: one file without requests, whose policy permits its own style and script only.

Every value that a template prints is escaped. Style and script are constants of gen, permitted by their digests, so
that a script in a text of a job could not run even if it were not escaped.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from gen.regex import regex
from gen.report.sanitize import sanitize
from gen.report.templates import as_markup, environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Environment

_LEVEL: Final = 9
_CODE: Final = regex("`([^`]+)`")


def escape(text: str) -> str:
    """A text for HTML, also in a quoted attribute."""
    return html.escape(sanitize(text), quote=True)


def coded(text: str) -> str:
    """A message for HTML, with its values in backticks as code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


@cache
def _environment() -> Environment:
    return environment(escape, {"coded": as_markup(coded)})


def page(template: str, styles: tuple[str, ...], scripts: tuple[str, ...], values: Mapping[str, Any]) -> str:
    """A page from a template below `templates/`, with files of style and script beside it."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with Jinja2

    made = _environment()
    style, script = ("".join(_source(made, name) for name in names) for names in (styles, scripts))
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    own = {"style": Markup(style), "script": Markup(script), "policy": Markup(policy)}  # noqa: S704 - constants of gen
    return made.get_template(template).render({**values, **own})


def packed(data: Any) -> str:
    """Data as compressed JSON in base64, which has no character with a meaning in HTML."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), _LEVEL, mtime=0)).decode()


def _source(made: Environment, name: str) -> str:
    assert made.loader is not None  # noqa: S101 - environments of gen have one
    return made.loader.get_source(made, name)[0]


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
