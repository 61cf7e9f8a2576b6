"""What is wrong with one object, before it is known where in a file that stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.kubernetes import OWN

if TYPE_CHECKING:
    from gen.diagnostics import Route


SILENCE = f"{OWN}ignore-"
"""Of annotations that silence a rule: the rule's name follows, and the value is the reason."""

DAMAGED = (TypeError, AttributeError, KeyError, ValueError, IndexError, ArithmeticError)
"""What an object that does not fit its schema leads to in code that trusts it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of an object."""

    rule: str
    """The id that `gen explain` knows."""
    route: Route
    """To the offending value, or to where a missing one should stand."""
    message: str
    hint: str = ""
    """What to do, where it is more than the rule's own remedy."""


def dotted(route: Route) -> str:
    """`spec.containers[0].name`, for messages."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in route)
    return text.removeprefix(".")
