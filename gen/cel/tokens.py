"""The tokens of an expression. From the grammar in `doc/langdef.md` of the CEL specification."""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct

from gen.cel.errors import CompileError
from gen.cel.values import UInt
from gen.regex import regex

_STRING = r"""[rR]?(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')"""
_RAW = r"""[rR](?:\"{3}.*?\"{3}|'{3}.*?'{3}|"[^"\n\r]*"|'[^'\n\r]*')"""
_TOKENS = regex(
    rf"""
    (?P<space>[ \t\n\r\f]+|//[^\n]*)
  | (?P<bytes>[bB][rR](?:\"{{3}}.*?\"{{3}}|'{{3}}.*?'{{3}}|"[^"\n\r]*"|'[^'\n\r]*')|[bB]{_RAW}|[bB]{_STRING})
  | (?P<string>{_RAW}|{_STRING})
  | (?P<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
  | (?P<uint>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])
  | (?P<int>0x[0-9a-fA-F]+|[0-9]+)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<quoted>`[A-Za-z0-9_.\-/ ]+`)
  | (?P<sign>&&|\|\||<=|>=|==|!=|[-+*/%<>!?:.,()\[\]{{}}])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPES: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    **{sign: sign for sign in "\\?\"'`"},
}
_ESCAPE = regex(
    r"\\(?:(?P<sign>[abfnrtv\\?\"'`])|[xX](?P<hex>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})"
    r"|U(?P<long>[0-9a-fA-F]{8})|(?P<octal>[0-3][0-7]{2})|(?P<other>.|$))",
    re.DOTALL,
)
_MAX_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_LIMITS = {"int": 2**63 - 1, "uint": 2**64 - 1}


class Token(Struct, frozen=True):
    """A token with its kind, its text, its value if it is a literal, and its offset."""

    kind: str
    text: str
    at: int
    value: Any = None


def tokens_of(text: str) -> list[Token]:
    """The tokens of an expression and one for its end. CompileError at the first character that begins none."""
    found: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKENS.match(text, position)
        if match is None:
            raise CompileError(f"Syntax error: token recognition error at: '{text[position]}'", position)
        kind = match.lastgroup or ""
        if kind != "space":
            found.append(Token(kind, match[0], position, _value(kind, match[0], position)))
        position = match.end()
    found.append(Token("end", "<EOF>", len(text)))
    return found


def _value(kind: str, text: str, at: int) -> Any:
    if kind in {"int", "uint"}:
        digits = text.rstrip("uU")
        if len(digits) > len(str(2**64)) + 2:
            raise CompileError(f"invalid {kind} literal", at)
        number = int(digits, 16 if digits.startswith("0x") else 10)
        if number > _LIMITS[kind] + (kind == "int"):  # the sign of the smallest integer is a token of its own
            raise CompileError(f"invalid {kind} literal", at)
        return UInt(number) if kind == "uint" else number
    if kind == "double":
        return float(text)
    if kind == "quoted":
        return text[1:-1]
    return _string(text, at, in_bytes=kind == "bytes") if kind in {"string", "bytes"} else None


def _string(text: str, at: int, *, in_bytes: bool) -> str | bytes:
    quote = min(position for sign in "\"'" if (position := text.find(sign)) >= 0)
    prefix, body = text[:quote].lower(), text[quote:]
    size = 3 if body[:3] in {'"""', "'''"} else 1
    body = body[size:-size].replace("\r\n", "\n").replace("\r", "\n")
    if "r" in prefix:
        return body.encode() if in_bytes else body
    if not in_bytes:
        return _ESCAPE.sub(lambda match: _character(match, at), body)
    parts = []
    last = 0
    for match in _ESCAPE.finditer(body):
        parts += [body[last : match.start()].encode(), _byte(match, at)]
        last = match.end()
    return b"".join([*parts, body[last:].encode()])


def _character(match: re.Match[str], at: int) -> str:
    if match["sign"]:
        return _ESCAPES[match["sign"]]
    if match["octal"]:
        return chr(int(match["octal"], 8))
    digits = match["hex"] or match["short"] or match["long"]
    code = int(digits, 16) if digits else -1
    if not 0 <= code <= _MAX_CODE_POINT or code in _SURROGATES:
        raise CompileError("Syntax error: invalid escape sequence in a string", at)
    return chr(code)


def _byte(match: re.Match[str], at: int) -> bytes:
    if match["octal"] or match["hex"]:
        return bytes([int(match["octal"], 8) if match["octal"] else int(match["hex"], 16)])
    if match["sign"]:
        return _ESCAPES[match["sign"]].encode()
    raise CompileError("Syntax error: invalid escape sequence in bytes", at)
