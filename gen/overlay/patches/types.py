"""A patch of an overlay, read and checked as far as it can be without an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from gen.diagnostics import Location
    from gen.kubernetes import Body
    from gen.load import Layer
    from gen.model.patches import Target


class Operation(Struct, frozen=True, kw_only=True):
    """One step of a JSON 6902 patch."""

    op: str
    path: tuple[str, ...]
    origin: tuple[str, ...] | None = None
    """`from`, of move and copy."""
    value: Any = None


class Patch(Struct, frozen=True, kw_only=True):
    """What to change, and how: strategic merge or JSON 6902."""

    target: Target
    merge: Body | None = None
    operations: tuple[Operation, ...] = ()
    layer: Layer
    """Place of the patch itself."""
    place: Location
    """The entry in the overlay."""
