"""A patch of an overlay, read and checked as far as it can be without an object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gen.diagnostics import Location
    from gen.kubernetes import Body
    from gen.load import Layer
    from gen.model.patches import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One step of a JSON 6902 patch."""

    op: str
    path: tuple[str, ...]
    origin: tuple[str, ...] | None = None
    """`from`, of move and copy."""
    value: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """What to change, and how: strategic merge or JSON 6902."""

    target: Target
    merge: Body | None = None
    operations: tuple[Operation, ...] = ()
    layer: Layer
    """Place of the patch itself."""
    place: Location
    """The entry in the overlay."""
