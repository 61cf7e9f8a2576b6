"""Strings as YAML scalars: without quotes if the reader returns the same string."""

from __future__ import annotations

import json

from gen.diagnostics import Findings
from gen.load import Plain
from gen.load.strict import parse
from gen.regex import regex

# characters that JSON does not escape, but YAML readers reject or take for line breaks, or terminals reorder
_ESCAPED = regex("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")

_SPECIAL = ("=", "<<")
"""Strings with a meaning in YAML 1.1 that some readers reject and others apply."""


def scalar(text: str, *, flow: bool, style: str | None = None) -> str:
    """The text as a value after `key: `, on one line. `style` is the quote of the previous value, if any."""
    if style != '"' and text.isprintable():
        if style is None and _plain(text, flow=flow):
            return text
        return "'" + text.replace("'", "''") + "'"
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _plain(text: str, *, flow: bool) -> bool:
    """Whether the text needs no quotes, as a value and as a key."""
    documents = [f"{text}: {text}\n", f"{{{text}: {text}}}"] if flow else [f"{text}: {text}\n"]
    return text not in _SPECIAL and all(_reads_as(document, text) for document in documents)


def _reads_as(document: str, text: str) -> bool:
    read = parse(document, "", Findings())
    return isinstance(read, dict) and list(read.items()) == [(text, text)] and isinstance(read[text], Plain)
