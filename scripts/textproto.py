"""Read the text format of protocol buffers, as far as the CEL specification's tests use it."""

from __future__ import annotations

import re
from typing import Any

_TOKEN = re.compile(
    r"""(?P<skip>\s+|\#[^\n]*)|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<open>[{<])|(?P<close>[}>])"""
    r"""|(?P<extension>\[[\w./\-]+\])|(?P<sign>[:;,\[\]])|(?P<word>-?[\w.+\-]+)""",
)

_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SIGNS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}


def _unescaped(match: re.Match[bytes]) -> bytes:
    if match[1] or match[2]:
        return bytes([int(match[1], 8) if match[1] else int(match[2], 16)])
    if match[3] or match[4]:
        return chr(int(match[3] or match[4], 16)).encode(errors="surrogatepass")
    return _SIGNS.get(match[5], match[5])


def read_textproto(text: str) -> dict[str, list[Any]]:
    """The fields of a message: each a list of its values, which are texts, bytes or messages."""
    tokens = [(match.lastgroup, match[0]) for match in _TOKEN.finditer(text) if match.lastgroup != "skip"]
    message, _ = _message(tokens, 0)
    return message


def _message(tokens: list[tuple[str | None, str]], at: int) -> tuple[dict[str, list[Any]], int]:
    found: dict[str, list[Any]] = {}
    while at < len(tokens) and tokens[at][0] != "close":
        if tokens[at][1] in {",", ";"}:
            at += 1
            continue
        name = tokens[at][1]
        at += 1
        if tokens[at][1] == ":":
            at += 1
        values, at = _values(tokens, at)
        found.setdefault(name, []).extend(values)
    return found, at


def _values(tokens: list[tuple[str | None, str]], at: int) -> tuple[list[Any], int]:
    kind, text = tokens[at]
    if kind == "sign" and text == "[":
        found: list[Any] = []
        at += 1
        while tokens[at][1] != "]":
            if tokens[at][1] == ",":
                at += 1
                continue
            one, at = _values(tokens, at)
            found += one
        return found, at + 1
    if kind == "open":
        message, at = _message(tokens, at + 1)
        return [message], at + 1
    if kind == "text":
        parts = []
        while at < len(tokens) and tokens[at][0] == "text":
            parts.append(_ESCAPE.sub(_unescaped, tokens[at][1][1:-1].encode()))
            at += 1
        return [b"".join(parts)], at
    return [text], at + 1
