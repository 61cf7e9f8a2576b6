"""Messages of commits that commands propose for the files that they changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LISTED: Final = 100
"""Lines of a message; more are only counted."""


def commit_message(subject: str, lines: Sequence[str]) -> str:
    """A message with a list."""
    more = [f"and {len(lines) - MOST_LISTED} more"] if len(lines) > MOST_LISTED else []
    return "\n".join([subject, "", *(f"- {line}" for line in (*lines[:MOST_LISTED], *more)), ""])
