"""Rules about objects that no schema states: one file each, and the one list of them. See `docs/extending.md`.

They are those that a real API server or an operator applies when the object, or a pod made of it, is created.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from gen.diagnostics import Route
from gen.validate.rules.names import names
from gen.validate.rules.pods import pods
from gen.validate.rules.quantities import quantities
from gen.validate.view import View

Rule = Callable[[View], Iterator[tuple[Route, str]]]
"""Yields the route and a sentence for each fault of an object that fits its schema."""

RULES: Final[dict[str, Rule]] = {
    "names": names,
    "pods": pods,
    "quantities": quantities,
}

__all__ = ["RULES", "Rule"]
