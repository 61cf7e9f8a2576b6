"""A fault of an object with the rule that it breaks, before its place in a file is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.kubernetes import OWN

if TYPE_CHECKING:
    from gen.diagnostics import Route


SILENCE = f"{OWN}ignore-"
"""Prefix of annotations that silence a rule: the rest is the rule's name, the value is the reason."""

DAMAGED = (TypeError, AttributeError, KeyError, ValueError, IndexError, ArithmeticError)
"""Exceptions that code raises for objects that do not match their schema."""


class Problem(Struct, frozen=True):
    """A fault with the rule that it breaks."""

    rule: str
    """Its id in `gen explain`."""
    route: Route
    """To the invalid value, or to where a missing value belongs."""
    message: str
    hint: str = ""
    """The remedy, if it is more specific than the rule's."""


def dotted(route: Route) -> str:
    """`spec.containers[0].name`, for messages."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in route)
    return text.removeprefix(".")
