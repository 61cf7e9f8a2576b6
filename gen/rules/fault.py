"""Faults of objects, as reported by rules, field checks and value checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.diagnostics import Route, did_you_mean, near

if TYPE_CHECKING:
    from collections.abc import Iterable


class Fault(Struct, frozen=True):
    """One invalid value of an object."""

    route: Route
    """To the value, or to where a missing value belongs. Relative to the checked value in value checks."""
    message: str
    hint: str = ""
    """The remedy: an imperative in lower case, without a full stop. Empty if the rule's remedy is enough."""

    def at(self, route: Route) -> Fault:
        """The fault of a value that is at `route` of a larger one."""
        return Fault((*route, *self.route), self.message, self.hint)


Faults = Iterator[Fault]
Check = Callable[[Any], Fault | None]
"""Returns the fault of a value, or None."""


def not_one_of(value: object, allowed: Iterable[str]) -> Fault:
    """The fault of a value that is not one of the allowed words, with the nearest word as hint."""
    allowed = tuple(allowed)
    guess = near(str(value), allowed)
    several = len(allowed) > 1
    hint = f"did you mean `{guess}`?" if guess else "use one of these" if several else f"use `{allowed[0]}`"
    expected = f"one of {', '.join(f'`{word}`' for word in allowed)}" if several else f"`{allowed[0]}`"
    return Fault((), f"`{value}` is not allowed; expected {expected}", hint)


def unknown_name(message: str, name: object, known: Iterable[str], otherwise: str) -> Fault:
    """The fault of a reference to a missing name. The hint is the nearest name, all known names, or `otherwise`."""
    return Fault((), message, did_you_mean(str(name), known, otherwise=otherwise))
