"""Loops over lists and mappings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.cel.errors import CelError, CostError
from gen.cel.tree import Call, Fold

if TYPE_CHECKING:
    from gen.cel.frame import Frame, Step


class Loop:
    """The functions of the parts of a loop."""

    __slots__ = ("absorbs", "condition", "names", "node", "over", "result", "start", "step")

    def __init__(self, node: Fold, over: Step, start: Step, condition: Step, step: Step, result: Step) -> None:
        self.node, self.over, self.start, self.condition, self.step, self.result = (
            *(node, over, start, condition, step, result),
        )
        self.names = [name for name in (node.variable, node.second, node.result_name) if name]
        self.absorbs = isinstance(node.condition, Call)
        """Whether a later item can decide although one is an error."""

    def run(self, items: Any, frame: Frame) -> None:
        first, second, name, values = self.node.variable, self.node.second, self.node.result_name, frame.values
        for key, item in _pairs(items, both=bool(second)):
            if not self.condition(frame):
                return
            values[first] = key
            if second:
                values[second] = item
            values[name] = self.guarded(self.step, frame) if self.absorbs else self.step(frame)

    def guarded(self, step: Step, frame: Frame) -> Any:
        """The value of a part, or its error."""
        try:
            return step(frame)
        except CostError:
            raise
        except CelError as error:
            return error


def _pairs(items: Any, *, both: bool) -> Any:
    """Keys and values of a mapping, or indices and items of a list; with one variable, keys or items."""
    if not both:
        return ((item, None) for item in items)
    return items.items() if isinstance(items, dict) else enumerate(items)
