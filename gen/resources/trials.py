"""Types for the facts of searches: the objects of trials, and the pod of a trial with its metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping

Path = tuple[str, ...]
"""A route through mappings."""


class Trial(Struct, frozen=True, kw_only=True, eq=False):
    """How Katib finds the pod of a trial that prints the metrics."""

    index: Mapping[str, str] = field(default_factory=dict)
    """Labels of the operator for the first pod of a role."""
    roles: Path = ()
    """Roles that can have rank 0, the first choice first. Empty for the order of the object."""


class Held(Struct, frozen=True, kw_only=True, eq=False):
    """An object of another kind that an object makes several times."""

    route: Path
    at_once: Path
    """Route of the number that exist at the same time."""
    in_all: Path
    """Route of the number that are made in all."""
    ended: tuple[Path, ...] = ()
    """Routes of the numbers of those that have ended."""
