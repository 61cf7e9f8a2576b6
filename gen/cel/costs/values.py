"""The target and the arguments of a call, and the estimate of its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.cel.costs.sizes import UNKNOWN, Size
from gen.cel.tree import Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.cel.costs.paths import Path
    from gen.cel.functions import Overload
    from gen.cel.tree import Node
    from gen.cel.types import Type


class Value(Struct):
    """A part of an expression with its type, and its path and size as far as they are known."""

    node: Node
    type: Type
    path: Path | None
    known: Size | None

    @property
    def size(self) -> Size:
        return self.known if self.known is not None else UNKNOWN

    @property
    def literal(self) -> Any:
        """The value of a constant; None for any other."""
        return self.node.value if isinstance(self.node, Literal) else None


class Given(Struct):
    """A call of one overload of a function."""

    name: str
    overload: Overload | None
    target: Value | None
    arguments: list[Value]
    declared: Callable[[Path], Size | None]
    """The size that the schema allows for a path."""

    @property
    def parameter(self) -> str:
        """The name of the type of the last parameter of the overload."""
        return self.overload.parameters[-1].name if self.overload is not None and self.overload.parameters else ""

    def size_of_items(self, value: Value) -> Size:
        """The size of each item of a list."""
        found = self.declared(value.path.below("@items")) if value.path is not None else None
        return found if found is not None else UNKNOWN


class Estimate(Struct):
    """The cost of a call without that of its arguments, and the size of its result, if it is known."""

    cost: int
    size: Size | None = None
