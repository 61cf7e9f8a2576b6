"""Quantities as an API server reads them: looser than what a job may say, which is `gen.quantity`'s matter.

From `apimachinery/pkg/api/resource/quantity.go`, which takes even `.` and `Ki` for zero.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Context, Decimal
from functools import lru_cache
from typing import Any

from gen.rules.fault import Fault

_QUANTITY = re.compile(r"([+-]?[0-9]*(?:\.[0-9]*)?)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?[0-9]{1,3})?")
_FACTORS = {
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", 1)},
    **{suffix: Decimal(10) ** (3 * power) for power, suffix in enumerate("num", -3)},
    **{suffix: Decimal(10) ** (3 * power) for power, suffix in enumerate("kMGTPE", 1)},
}
_OF_BYTES = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([kKmMgGtTpPeE])(?:i?[bB]|i)|([0-9]{1,18}) ?[bB]")
"""As memory is often written."""
_LONGEST = 200
_EXACT = Context(prec=2000, rounding=ROUND_CEILING)
_LARGEST_BINARY = Decimal(2**63 - 1)
_NANO, _MILLI = Decimal("1e-9"), Decimal("1e-3")


@lru_cache(maxsize=4096)
def amount(value: Any) -> Decimal | None:
    """The number that a quantity stands for, rounded up to billionths; None when it is none."""
    text = str(value).strip()
    match = _QUANTITY.fullmatch(text) if 0 < len(text) <= _LONGEST else None
    if match is None:
        return None
    digits, suffix = match[1], match[2] or ""
    number = Decimal(digits if any(character.isdigit() for character in digits) else 0)
    if suffix[:1] in {"e", "E"} and len(suffix) > 1 and suffix not in _FACTORS:
        number = number.scaleb(int(suffix[1:]), _EXACT)
    elif suffix:
        number = _EXACT.multiply(number, _FACTORS[suffix])
    if suffix.endswith("i"):
        number = min(number, _LARGEST_BINARY)
    return number.quantize(_NANO, context=_EXACT) if number >= 0 else number


def in_thousandths(value: Any) -> Decimal | None:
    """What the server makes of it in a list of resources, where it rounds up (`SetDefaults_ResourceList`)."""
    number = amount(value)
    return None if number is None else number.quantize(_MILLI, context=_EXACT)


def is_whole(number: Decimal) -> bool:
    """Of any size; `%` fails for more than 28 digits."""
    return number == number.to_integral_value()


def quantity(value: Any) -> Fault | None:
    """The check that a value is a quantity at all."""
    return no_quantity(value) if amount(value) is None else None


def no_quantity(value: Any) -> Fault:
    match = _OF_BYTES.fullmatch(str(value))
    hint = "write one such as `500m`, `8` or `16Gi`"
    if match is not None:
        hint = f"write `{match[3] or match[1] + match[2].upper() + 'i'}`"
    return Fault((), f"`{value}` is no quantity", hint)


def not_negative(value: Any) -> Fault | None:
    number = amount(value)
    if number is None:
        return quantity(value)
    return Fault((), f"`{value}` is negative", "write 0 or more") if number < 0 else None


def positive(value: Any) -> Fault | None:
    number = amount(value)
    if number is None:
        return quantity(value)
    return None if number > 0 else Fault((), f"`{value}` is not more than 0", "write more than 0")
