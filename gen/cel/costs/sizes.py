"""Sizes and costs: numbers of 64 bits without a sign that do not overflow.

From `SizeEstimate` and `CostEstimate` of `checker/cost.go` of cel-go. Only the highest cost of a range decides.
"""

from __future__ import annotations

import math
from typing import Final

from msgspec import Struct

UNLIMITED: Final = 2**64 - 1


def plus(*numbers: int) -> int:
    """The sum, or the largest number."""
    return min(sum(numbers), UNLIMITED)


def times(one: int, other: int) -> int:
    """The product, or the largest number."""
    return min(one * other, UNLIMITED)


def scaled(number: int, factor: float) -> int:
    """A number times a factor, rounded up, as doubles are: large numbers lose their last digits."""
    if number > 0 and factor > 0 and float(number) > UNLIMITED / factor:
        return UNLIMITED
    return min(math.ceil(float(number) * factor), UNLIMITED)


class Size(Struct, frozen=True):
    """The fewest and the most characters, items or entries of a value."""

    least: int
    most: int

    def plus(self, other: Size) -> Size:
        return Size(plus(self.least, other.least), plus(self.most, other.most))

    def times(self, other: Size) -> Size:
        return Size(times(self.least, other.least), times(self.most, other.most))

    def joined(self, other: Size) -> Size:
        """The size of one of the two values."""
        return Size(min(self.least, other.least), max(self.most, other.most))

    def read(self, factor: float) -> int:
        """The cost of a function that reads the value, with a factor for each character."""
        return scaled(self.most, factor)


UNKNOWN: Final = Size(0, UNLIMITED)
NOTHING: Final = Size(0, 0)
ONE: Final = Size(1, 1)
