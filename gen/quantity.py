"""Kubernetes quantities and durations: read, compared, and written in the one form the API server keeps.

A custom resource keeps `1000m` as it was written while a core type turns it into `1`; GitOps engines then see an
endless difference, so only canonical forms are rendered (`apimachinery/pkg/api/resource/quantity.go`).
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?")
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_LARGEST = 2**63 - 1
_DURATION = re.compile(r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s)?")


@lru_cache(maxsize=4096)
def amount(text: str) -> Decimal:
    """The number that a non-negative quantity stands for. ValueError when it is none."""
    match = _QUANTITY.fullmatch(text)
    if match is None or len(text) > 32:  # noqa: PLR2004 - the API server keeps 18 digits
        raise ValueError(f"no quantity: {text}")
    number, suffix = Decimal(match[1]), match[2] or ""
    if suffix in _BINARY:
        value = number * Decimal(1024) ** Decimal(_BINARY[suffix])
    elif suffix in _DECIMAL:
        value = number * Decimal(1000) ** _DECIMAL[suffix]
    else:
        value = number.scaleb(int(suffix[1:]))
    if value > _LARGEST:
        raise ValueError(f"no quantity: {text} is more than 64 bits hold")
    return value


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """The form that the API server would write: no fraction, and the largest suffix of the same family."""
    value = amount(text)
    if value == 0:
        return "0"
    if text[-1] == "i":
        return _binary(value)
    exponent = next((e for e in range(6, -3, -1) if _whole(value / Decimal(1000) ** e)), -3)
    suffix = next(s for s, e in _DECIMAL.items() if e == exponent)
    return f"{_ceiling(value / Decimal(1000) ** exponent)}{suffix}"


def _binary(value: Decimal) -> str:
    if not _whole(value):  # below one byte the family changes, as in the API server
        return canonical(f"{value:f}")
    exponent = next(e for e in range(6, -1, -1) if _whole(value / 1024**e))
    suffix = next((s for s, e in _BINARY.items() if e == exponent), "")
    return f"{int(value / 1024**exponent)}{suffix}"


def _whole(value: Decimal) -> bool:
    return value == value.to_integral_value() and value >= 1


def _ceiling(value: Decimal) -> int:
    """Below a nano the API server rounds up."""
    return int(value.to_integral_value(rounding="ROUND_CEILING"))


def seconds(text: str) -> int:
    """`12h`, `1d12h`, `90m`, `30s`, or a bare number of seconds. ValueError when it is none of these, or zero."""
    match = _DURATION.fullmatch(text + "s" if text.isascii() and text.isdigit() else text)
    if match is None:
        raise ValueError(f"no duration: {text}")
    total = sum(int(part or 0) * unit for part, unit in zip(match.groups(), (86400, 3600, 60, 1), strict=True))
    if total == 0:
        raise ValueError(f"no duration: {text}")
    return total
