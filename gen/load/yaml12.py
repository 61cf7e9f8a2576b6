"""Scalars of the YAML 1.2 core schema, for the parts of a strict file that are Kubernetes data: patches."""

from __future__ import annotations

from typing import Any

from gen.load.strict import Data, Plain
from gen.regex import regex

_INTEGER = regex(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = regex(r"[-+]?(?:\.[0-9]{1,30}|[0-9]{1,30}(?:\.[0-9]{0,30})?)(?:[eE][-+]?[0-9]{1,2})?")
MAX_EXACT = 2**53
"""Up to here each float equals exactly one integer."""
_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip


def typed(data: Data) -> Any:
    """The same data with numbers, booleans and nulls for the plain scalars that YAML 1.2 reads as such."""
    if isinstance(data, dict):
        return {key: typed(value) for key, value in data.items()}
    if isinstance(data, list):
        return [typed(value) for value in data]
    return _scalar(data) if isinstance(data, Plain) else data


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and not _leading_zero(text):
        return _number(float(text))
    return str(text)


def _number(value: float) -> float:
    """`3.0` is the integer 3, as for a server that gets it as JSON."""
    return int(value) if value.is_integer() and abs(value) < MAX_EXACT else value


def _leading_zero(text: str) -> bool:
    """`010` is 8, 10 or text, depending on the reader: it stays text."""
    digits = text.lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
