"""Kubernetes quantities and durations: one grammar, read strictly for jobs or as API servers read it.

A custom resource keeps `1000m` as it was written, but a core type turns it into `1`; GitOps engines then see an endless
difference. So gen renders canonical forms only (`apimachinery/pkg/api/resource/quantity.go`).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from gen.base import regex

_QUANTITY = regex(
    r"(?P<sign>[+-]?)(?P<digits>[0-9]*(?:\.[0-9]*)?)"
    r"(?P<suffix>Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?(?P<exponent>[0-9]{1,3}))?"
)
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_FACTORS = {
    **{suffix: Decimal(1024) ** power for suffix, power in _BINARY.items()},
    **{suffix: Decimal(1000) ** power for suffix, power in _DECIMAL.items()},
}
_EXACT = Context(prec=2000, rounding=ROUND_CEILING)
_NANO, _MILLI = Decimal("1e-9"), Decimal("1e-3")
MAX_AMOUNT = 2**63 - 1
MAX_STRICT_LENGTH = 32
"""Length limit of quantities in a job: the API server keeps 18 digits."""
MAX_STRICT_EXPONENT = 2
"""Digits of an exponent in a job."""
MAX_LENGTH = 200

_DURATION = regex(r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s)?")


class _Quantity(NamedTuple):
    """The parts of a quantity."""

    sign: str
    digits: str
    suffix: str
    exponent: str

    @property
    def has_digits(self) -> bool:
        return any(character.isdigit() for character in self.digits)

    def number(self) -> Decimal:
        """The exact number; the API server reads `.` and `Ki` as 0."""
        number = Decimal(f"{self.sign}{self.digits}" if self.has_digits else 0)
        if self.exponent:
            return number.scaleb(int(self.suffix[1:]), _EXACT)
        return _EXACT.multiply(number, _FACTORS[self.suffix])


def _parse(text: str, longest: int) -> _Quantity | None:
    match = _QUANTITY.fullmatch(text) if 0 < len(text) <= longest else None
    if match is None:
        return None
    return _Quantity(match["sign"], match["digits"], match["suffix"] or "", match["exponent"] or "")


@lru_cache(maxsize=4096)
def amount(text: str) -> Decimal:
    """The number of a quantity in a job: digits without a sign, at most 64 bits. ValueError for anything else."""
    quantity = _parse(text, MAX_STRICT_LENGTH)
    if quantity is None or quantity.sign or not quantity.has_digits or len(quantity.exponent) > MAX_STRICT_EXPONENT:
        raise ValueError(f"invalid quantity `{text}`")
    number = quantity.number()
    if number > MAX_AMOUNT:
        raise ValueError(f"quantity `{text}` does not fit into 64 bits")
    return number


@lru_cache(maxsize=4096)
def server_amount(value: object) -> Decimal | None:
    """The number that an API server reads, rounded up to billionths; None if it refuses the quantity."""
    quantity = _parse(str(value).strip(), MAX_LENGTH)
    if quantity is None:
        return None
    number = quantity.number()
    if quantity.suffix in _BINARY:
        number = min(number, Decimal(MAX_AMOUNT))
    return number.quantize(_NANO, context=_EXACT) if number >= 0 else number


def in_thousandths(value: object) -> Decimal | None:
    """The number that an API server keeps in a list of resources, rounded up (`SetDefaults_ResourceList`)."""
    number = server_amount(value)
    return None if number is None else number.quantize(_MILLI, context=_EXACT)


def is_whole(number: Decimal) -> bool:
    """Whether a number of any size is an integer; `%` fails for more than 28 digits."""
    return number == number.to_integral_value()


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """The form that the API server keeps: no fraction, and the largest suffix of its family that the amount has."""
    value = amount(text)
    if value == 0:
        return "0"
    if text[-1] == "i":
        return _binary(value)
    exponent = next((e for e in range(6, -3, -1) if _is_multiple(value / Decimal(1000) ** e)), -3)
    suffix = next(s for s, e in _DECIMAL.items() if e == exponent)
    return f"{_ceiling(value / Decimal(1000) ** exponent)}{suffix}"


def total(texts: Sequence[str]) -> str:
    """The sum of quantities, in the form of the API server. ValueError for an invalid quantity."""
    if len(texts) == 1:
        return texts[0]
    value = sum(map(amount, texts), Decimal())
    return _binary(value) if any(text.endswith("i") for text in texts) else canonical(f"{value:f}")


def half(text: str) -> str:
    """Half of an amount of bytes, in whole MiB if it is more than one."""
    whole = int(amount(text)) // 2
    return canonical(f"{whole >> 20}Mi" if whole >> 20 else str(whole))


def _binary(value: Decimal) -> str:
    if not _is_multiple(value):  # the API server writes fractions of a byte in the decimal family
        return canonical(f"{value:f}")
    exponent = next(e for e in range(6, -1, -1) if _is_multiple(value / 1024**e))
    if exponent == 0:  # without a suffix, it is read in the decimal family
        return canonical(f"{value:f}")
    suffix = next(s for s, e in _BINARY.items() if e == exponent)
    return f"{int(value / 1024**exponent)}{suffix}"


def _is_multiple(value: Decimal) -> bool:
    return is_whole(value) and value >= 1


def _ceiling(value: Decimal) -> int:
    """The API server rounds up below a billionth."""
    return int(value.to_integral_value(rounding=ROUND_CEILING))


_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


HOUR: Final = _SECONDS["h"]
MONTH_HOURS: Final = 730
"""Hours of a month: a twelfth of 365 days."""
MONTH: Final = MONTH_HOURS * HOUR


def seconds(text: str) -> int:
    """`12h`, `1d12h`, `90m`, `30s`, or a number of seconds. ValueError for anything else, and for zero."""
    match = _DURATION.fullmatch(text + "s" if text.isascii() and text.isdigit() else text)
    if match is None:
        raise ValueError(f"invalid duration `{text}`")
    total = sum(int(part or 0) * unit for part, unit in zip(match.groups(), _SECONDS.values(), strict=True))
    if total == 0:
        raise ValueError(f"duration `{text}` is zero")
    return total


def duration(whole: int) -> str:
    """Seconds in the form that `seconds` reads, such as `1d12h`."""
    parts = []
    for unit, size in _SECONDS.items():
        count, whole = divmod(whole, size)
        parts += [f"{count}{unit}"] if count else []
    return "".join(parts) or "0s"
