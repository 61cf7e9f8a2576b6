"""What an expression can use: variables with types, and functions and macros by the version of Kubernetes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.cel.errors import UnavailableError
from gen.cel.functions import NEVER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.cel.tree import Fold
    from gen.cel.types import Type

_TWO_VARIABLES: Final = 32
"""The version with loops over two variables."""
_UNKNOWN: Final = frozenset({"cel.bind", "existsOne"})
"""Macros that API servers do not have; `existsOne` with two variables they do."""


def first_version(loop: Fold) -> int:
    """The version of Kubernetes that introduced the macro of a loop."""
    if loop.second:
        return _TWO_VARIABLES
    return NEVER if loop.macro in _UNKNOWN else 0


def unavailable(name: str, since: int, at: int) -> UnavailableError:
    """The error for a function or a macro that a version introduced."""
    return UnavailableError(name, since + 1 if since < NEVER else None, at)


class Environment(Struct, frozen=True):
    """The variables of an expression and their types."""

    variables: Mapping[str, Type]
    messages: Mapping[str, Mapping[str, Type]] = {}
    """Fields of the types that are neither basic nor of a library, by name."""
    mixed: bool = False
    """Whether lists and mappings can have values of several types; API servers reject them."""
    minor: int = 0
    """Minor version of the Kubernetes server that gets the expression as a new one; 0 for all functions of CEL."""

    def has(self, since: int) -> bool:
        """Whether new expressions can use what a version introduced: in the next, because a rollback must know it."""
        return not self.minor or since < self.minor
