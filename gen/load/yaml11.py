"""Plain scalars as `sigs.k8s.io/yaml` reads them: YAML 1.1 as in go-yaml 2."""

from __future__ import annotations

import math
from typing import Any, Final

from gen.regex import regex


def forms(word: str) -> tuple[str, ...]:
    """The spellings of a word that is not text in YAML 1.1."""
    return word, word.title(), word.upper()


NULLS = {"", "~", "null", "Null", "NULL"}
_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(NULLS),
    **{form: True for word in ("y", "yes", "on", "true") for form in forms(word)},
    **{form: False for word in ("n", "no", "off", "false") for form in forms(word)},
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"), math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_NUMERIC = frozenset("+-.0123456789")
_INT = regex(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = regex(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


def resolved(text: str) -> Any:
    """The value of a plain scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _NUMERIC:
        plain = text.replace("_", "")
        if _INT.fullmatch(plain):
            return _whole(plain)
        if _FLOAT.fullmatch(plain):
            return float(plain)
    return text


def _whole(text: str) -> int | float:
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text.removeprefix("+"))
    if len(digits) > MAX_DIGITS:
        return float(digits) * sign if digits.isdecimal() else math.inf
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567"
    value = sign * (int(digits, 8) if octal else int(digits, 0))
    if -(2**63) <= value < 2**64:
        return value
    return float(value) if value.bit_length() <= MAX_BITS else math.inf


MAX_DIGITS = 300
MAX_BITS = 1023
"""Length of the largest finite number."""
MAX_CACHED = 50_000
CACHE: dict[str, Any] = {text: value for text, value in _WORDS.items() if not isinstance(value, float)}
"""Plain scalars seen before: manifests repeat the same few."""
