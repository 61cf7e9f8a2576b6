"""Untrusted text in terminals, logs and Markdown.

In terminals and logs, control characters and misleading ones become visible. In Markdown, text is in code spans and
code blocks with a fence longer than any inside them, where Markdown, HTML, links and mentions have no effect.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

import orjson

from gen.base import regex

MAX_CODE_UNIT: Final = 0xFFFF

_INVISIBLE = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff"
)
_UNSAFE = regex(rf"[{_INVISIBLE}]|##(?=\[)")
"""Control, zero-width and bidirectional characters, and `##[`, which CI logs interpret inside a line."""


def json_document(data: object) -> str:
    """A value as an indented JSON document."""
    try:
        text = orjson.dumps(data, option=orjson.OPT_INDENT_2).decode()
    except TypeError:  # such as names of files that are not UTF-8
        text = json.dumps(data, indent=2, ensure_ascii=False)
    return escape_json(text) + "\n"


def escape_json(document: str) -> str:
    """Write unsafe characters of a JSON document as escapes, so that its values stay the same."""
    if is_safe(document.replace("\n", " ")):
        return document
    return _UNSAFE.sub(lambda found: "".join(map(_json_escape, found[0])), document)


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass") if ord(char) > MAX_CODE_UNIT else b""
    if units:
        return f"\\u{units[:2].hex()}\\u{units[2:].hex()}"
    return f"\\u{ord(char):04x}"


def sanitize(line: str) -> str:
    """Return the text on one line, with each unsafe character replaced by U+FFFD."""
    line = line.replace("\n", " ")
    return line if is_safe(line) else _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", line)


def is_safe(line: str) -> bool:
    """Whether a line has no unsafe character, as nearly every one."""
    return line.isascii() and line.isprintable() and "##[" not in line


def code_span(text: str) -> str:
    """A code span that its content cannot end: on one line and never empty. Not for tables."""
    line = sanitize(text).strip() or "(empty)"
    fence = "`" * (_longest_fence(line) + 1)
    edge = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{edge}{line}{edge}{fence}"


def code_link(code: str, page: str) -> str:
    """The code of a finding, as a link to its explanation unless that has no address."""
    return f"[{code_span(code)}]({page})" if page else code_span(code)


def table_cell(text: str) -> str:
    """A code span in a table, where an unescaped `|` ends the cell even inside a code span."""
    return code_span(text).replace("|", "\\|")


def code_block(lines: Iterable[str], language: str = "") -> str:
    """A code block that its content cannot end."""
    text = "".join(f"{sanitize(line)}\n" for line in lines)
    fence = "`" * max(3, _longest_fence(text) + 1)
    return f"{fence}{language}\n{text}{fence}\n"


def diff_block(lines: Iterable[str]) -> str:
    """A code block of diff lines."""
    return code_block(lines, "diff")


def _longest_fence(text: str) -> int:
    return max((len(ticks) for ticks in re.findall("`+", text)), default=0)
