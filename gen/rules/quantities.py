"""Checks of quantities, as API servers read them."""

from __future__ import annotations

from typing import Any

from gen.quantity import server_amount
from gen.regex import regex
from gen.rules.fault import Fault

_BYTES = regex(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([kKmMgGtTpPeE])(?:i?[bB]|i)|([0-9]{1,18}) ?[bB]")
"""Spellings of memory that are common outside of Kubernetes."""


def quantity(value: Any) -> Fault | None:
    """Check that a value is a quantity."""
    return invalid_quantity(value) if server_amount(value) is None else None


def invalid_quantity(value: Any) -> Fault:
    match = _BYTES.fullmatch(str(value))
    hint = "use a form like `500m`, `8` or `16Gi`"
    if match is not None:
        hint = f"write `{match[3] or match[1] + match[2].upper() + 'i'}`"
    return Fault((), f"`{value}` is not a valid quantity", hint)


def not_negative(value: Any) -> Fault | None:
    number = server_amount(value)
    if number is None:
        return quantity(value)
    return Fault((), f"`{value}` is negative", "write 0 or more") if number < 0 else None


def positive(value: Any) -> Fault | None:
    number = server_amount(value)
    if number is None:
        return quantity(value)
    return None if number > 0 else Fault((), f"`{value}` is not more than 0", "write more than 0")
