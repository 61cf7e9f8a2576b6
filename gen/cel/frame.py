"""The variables of an evaluation, and the cost that is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from gen.cel.errors import CostError

PER_CALL: Final = 1_000_000
"""Cost of one evaluation (`PerCallLimit` of `apiserver/pkg/apis/cel/config.go`)."""

LIST_COST: Final = 10
MAP_COST: Final = 30

"""Cost of making one (`common/costs.go` of cel-go)."""


class Frame:
    """The variables of an evaluation, and the cost that is left."""

    __slots__ = ("left", "values")

    def __init__(self, values: dict[str, Any], left: float = PER_CALL) -> None:
        self.values = values
        self.left = left

    def spend(self, cost: float) -> None:
        self.left -= cost
        if self.left < 0:
            raise CostError("operation cancelled: actual cost limit exceeded")


Step = Callable[[Frame], Any]
"""A part of an expression as a function."""
