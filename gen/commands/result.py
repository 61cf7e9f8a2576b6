"""Results of commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Output_co = TypeVar("Output_co", covariant=True)

CLEAN: Final = 0
VIOLATIONS: Final = 1
"""Exit codes of commands that ran to their end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Generic[Output_co]):
    """Output of a command, not formatted yet, and the exit code."""

    output: Output_co
    exit_code: int = CLEAN


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream(Generic[Output_co]):
    """Output of a command that goes on: each piece is printed when it comes."""

    pieces: Iterator[Output_co]
    code: Callable[[], int]
    """The exit code, after the last piece."""
    replaces: bool = False
    """Whether a piece replaces the one before it on a terminal."""
