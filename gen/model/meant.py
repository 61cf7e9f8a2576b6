"""Values that people write for numbers, booleans, amounts of memory and durations, in the form that gen expects."""

from __future__ import annotations

import re
import unicodedata
from math import ceil
from typing import TYPE_CHECKING

from gen import quantity
from gen.regex import regex

if TYPE_CHECKING:
    from decimal import Decimal

_WHOLE = regex(r"(?P<digits>[1-9][0-9]{0,8}|[1-9][0-9]{0,2}(?:[_,][0-9]{3})+|0)(?:\.0+)?(?:[,;]|\s+[A-Za-z]+)?")
_POWER = regex(r"(?P<digits>[1-9][0-9]?)[eE]\+?(?P<zeros>[0-9])")
_TRUTHS = {"true": ("yes", "on", "y", "1", "enabled"), "false": ("no", "off", "n", "0", "disabled")}
_BYTES = regex(r"(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[KMGTP])(?:i?B?|iB|ib|bytes?)", re.IGNORECASE)
_DURATION = regex(r"(?P<number>[0-9]+)\s*(?P<unit>[a-z]+)", re.IGNORECASE)
_CLOCK = regex(r"(?:([0-9]{1,4})-)?([0-9]{1,4}):([0-9]{2}):([0-9]{2})")
"""Days, hours, minutes and seconds, as for Slurm. Of `12:00`, the unit is unclear."""
_DIGITS = 100
_BINARY = {"Ti": 1 << 40, "Gi": 1 << 30, "Mi": 1 << 20}
_UNITS = {
    "d": ("days", "day", "d"),
    "h": ("hours", "hour", "hrs", "hr", "h"),
    "m": ("minutes", "minute", "mins", "min", "m"),
    "s": ("seconds", "second", "secs", "sec", "s"),
}


def whole_meant(text: str) -> str:
    """`8` for `8.0`, `8,`, `8 GPUs`, `1_000` or full-width digits; empty if the number is not obvious."""
    plain = unicodedata.normalize("NFKC", text).strip()
    if (match := _POWER.fullmatch(plain)) is not None:
        return match["digits"] + "0" * int(match["zeros"])
    match = _WHOLE.fullmatch(plain)
    return re.sub(r"[_,]", "", match["digits"]) if match is not None else ""


def truth_meant(text: str) -> str:
    """`true` for `yes`, `True`, `on` or `1`; empty if it could mean anything else."""
    word = text.strip().lower()
    return next((truth for truth, others in _TRUTHS.items() if word == truth or word in others), "")


def bytes_meant(text: str) -> str:
    """`64Gi` for `64GB`, `64g`, `64 Gi` or `64GiB`; empty if there is no unit of memory."""
    match = _BYTES.fullmatch(unicodedata.normalize("NFKC", text).strip())
    return f"{match['number']}{match['unit'].upper()}i" if match is not None else ""


def binary_bytes(text: str) -> str:
    """`64Gi` for `64 Gi`, `64gi` or `64GiB`; empty without the `i`, since `64GB` can be less than `64Gi`."""
    return bytes_meant(text) if "i" in text.lower() else ""


def rounded_up(amount: Decimal) -> str:
    """The next whole number of bytes in a binary unit, with at least three digits, such as `1229Gi` for 1.2Ti."""
    unit, size = next(((unit, size) for unit, size in _BINARY.items() if amount >= _DIGITS * size), ("Mi", 1 << 20))
    return f"{ceil(amount / size)}{unit}"


def duration_meant(text: str) -> str:
    """`12h` for `12 hours`, `12hrs` or `12H`, `1d12h` for `1 day 12 hours` or `1-12:00:00`; empty for anything else."""
    plain = unicodedata.normalize("NFKC", text).strip()
    if (match := _CLOCK.fullmatch(plain)) is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        return quantity.duration(whole) if whole else ""
    if _DURATION.sub("", plain).strip(" ,"):
        return ""
    parts = [(match["number"].lstrip("0"), _unit(match["unit"])) for match in _DURATION.finditer(plain)]
    order = [list(_UNITS).index(unit) for _, unit in parts if unit]
    if not parts or len(order) < len(parts) or order != sorted(set(order)) or not all(number for number, _ in parts):
        return ""
    return "".join(f"{number}{unit}" for number, unit in parts)


def _unit(word: str) -> str:
    return next((unit for unit, words in _UNITS.items() if word.lower() in words), "")
