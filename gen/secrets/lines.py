"""Detects secrets in pieces of files that people read: YAML of any form, and commands in it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from gen.regex import regex
from gen.secrets.names import is_harmless, names_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME: Final = r"([\w./-]{1,256})[\"']?"
_SPACE: Final = r"(?:\s|\\\n){0,300}"
"""Also the end of the line of a command that goes on."""
_NAMED: Final = (
    # `name=value`, `name: value`; the value can be in the next line
    regex(rf"{_NAME}(?:=|\s{{0,300}}:{_SPACE}(?:[|>][-+0-9]{{0,3}}\s{{1,300}})?)[\"']?(?=(\S.*))"),
    # `{name: NAME, value: VALUE}`, also in two lines
    regex(
        rf"\bname[\"']?\s{{0,300}}:\s{{0,300}}[\"']?{_NAME}\s{{0,300}},?{_SPACE}[\"']?value[\"']?\s{{0,300}}:{_SPACE}"
        r"[\"']?(?=(\S.*))"
    ),
    # `--name value`, `["--name", "value"]`, and entries of a list in two lines
    regex(rf"(?<![\w-])--?{_NAME}\s{{0,300}}(?:,|\s|\\\n){_SPACE}(?:- )?[\"']?(?=([^\s\"'-][^\s\"',\]]*))"),
)
_CREDENTIALS: Final = regex(
    r"(?i:\b(?:bearer|basic)\s{1,300})(?=([^\s<$*{\"'][^\s\"']{3}))|\s-u\s{0,300}[\"']?[^\s:\"'$]{1,256}:(?=([^\s$*{]))"
)
"""Headers of requests, and users with passwords as curl takes them."""


def shows_secret(text: str, before: str = "") -> bool:
    """Whether a text may show the value of a secret, which the text before it can name."""
    return any(
        start >= len(before) and names_secret(name) and not is_harmless(name, value)
        for name, value, start in _values(before + text)
    )


def _values(text: str) -> Iterator[tuple[str, str, int]]:
    """Names and values, with the position of the value."""
    for match in chain.from_iterable(form.finditer(text) for form in _NAMED):
        yield match[1], match[2].rstrip("]}\"' "), match.end()
    for match in _CREDENTIALS.finditer(text):
        yield "credentials", match[1] or match[2], match.end()
