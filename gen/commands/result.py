"""Results of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Output_co = TypeVar("Output_co", covariant=True)

CLEAN: Final = 0
VIOLATIONS: Final = 1
"""Exit codes of commands that ran to their end."""


class Result(Struct, Generic[Output_co], frozen=True, kw_only=True):
    """Output of a command, not formatted yet, and the exit code."""

    output: Output_co
    exit_code: int = CLEAN


class Stream(Struct, Generic[Output_co], frozen=True, kw_only=True):
    """Output of a command that goes on: each piece is printed when it comes."""

    pieces: Iterator[Output_co]
    code: Callable[[], int]
    """The exit code, after the last piece."""
    replaces: bool = False
    """Whether a piece replaces the one before it on a terminal."""
