"""Make untrusted text safe to print in a terminal or a log: control characters and misleading ones become visible."""

from __future__ import annotations

from typing import Final

from gen.regex import regex

MAX_CODE_UNIT: Final = 0xFFFF

_INVISIBLE = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff"
)
_UNSAFE = regex(rf"[{_INVISIBLE}]|##(?=\[)")
"""Control, zero-width and bidirectional characters, and `##[`, which CI logs interpret inside a line."""


def escape_json(document: str) -> str:
    """Write unsafe characters of a JSON document as escapes, so that its values stay the same."""
    return _UNSAFE.sub(lambda found: "".join(map(_json_escape, found[0])), document)


def _json_escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass") if ord(char) > MAX_CODE_UNIT else b""
    if units:
        return f"\\u{units[:2].hex()}\\u{units[2:].hex()}"
    return f"\\u{ord(char):04x}"


def sanitize(line: str) -> str:
    """Return the text on one line, with each unsafe character replaced by U+FFFD."""
    line = line.replace("\n", " ")
    if line.isascii() and line.isprintable() and "##[" not in line:  # as nearly every line
        return line
    return _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", line)
