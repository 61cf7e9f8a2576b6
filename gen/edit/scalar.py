"""How a text is written as one YAML scalar: without quotes where the reader gives the same text back."""

from __future__ import annotations

import json
import re

from gen.diagnostics import Findings
from gen.load import Plain
from gen.load.strict import parse

# what JSON leaves bare and a YAML reader refuses, takes for a line break, or shows in another order
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")

_SPECIAL = ("=", "<<")
"""YAML 1.1 gives them a meaning that its readers either refuse or act upon."""


def scalar(text: str, *, flow: bool, style: str | None = None) -> str:
    """The text as it stands behind `key: `, on one line; `style` is the quote that stood there before, if any."""
    if style != '"' and text.isprintable():
        if style is None and _plain(text, flow=flow):
            return text
        return "'" + text.replace("'", "''") + "'"
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _plain(text: str, *, flow: bool) -> bool:
    """Whether the text needs no quotes, as a value and as a key."""
    documents = [f"{text}: {text}\n", f"{{{text}: {text}}}"] if flow else [f"{text}: {text}\n"]
    return text not in _SPECIAL and all(_says(document, text) for document in documents)


def _says(document: str, text: str) -> bool:
    read = parse(document, "", Findings())
    return isinstance(read, dict) and list(read.items()) == [(text, text)] and isinstance(read[text], Plain)
