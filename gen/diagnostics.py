"""What is wrong and where: findings as data. Nothing here prints or exits; `gen.report` renders."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from gen.kubernetes import RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.findings.code import Code

Route = tuple[str | int, ...]
"""The way into nested data: mapping keys and list indices, outermost first."""


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    """Known and accepted."""


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file: a path relative to the repository with `/`, line and column counted from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    """One finding. `code` is stable and kebab-case; `hint` says what to do about it."""

    place: Location
    code: str
    message: str
    hint: str = ""
    related: tuple[tuple[Location, str], ...] = ()
    severity: Severity = Severity.ERROR


class UsageError(Exception):
    """The command line or the repository as a whole cannot be used as asked: exit 2."""


class BugError(Exception):
    """gen made something that cannot be right, though no user wrote it: exit 3."""


@dataclass
class Findings:
    """Collects what the stages find, so that one run reports everything."""

    items: list[Diagnostic] = field(default_factory=list)

    def error(
        self,
        code: Code | str,
        place: Location,
        message: str,
        hint: str,
        related: Iterable[tuple[Location, str]] = (),
    ) -> None:
        self.items.append(Diagnostic(place, str(code), said(message), said(hint), tuple(related)))

    def warning(self, code: Code | str, place: Location, message: str, hint: str) -> None:
        self.items.append(Diagnostic(place, str(code), said(message), said(hint), severity=Severity.WARNING))

    def extend(self, others: Iterable[Diagnostic]) -> None:
        self.items.extend(others)

    def failed(self) -> bool:
        """Whether one of them is an error."""
        return any(item.severity is Severity.ERROR for item in self.items)

    def __iter__(self) -> Iterator[Diagnostic]:
        """In order of place; the same finding made for two overlays counts once."""
        return iter(sorted(set(self.items)))


_MOST = 600
"""Characters of a message: names in it come from files that strangers write."""


def said(text: str) -> str:
    """A message on one line, without what stands for the run's hash."""
    text = text.replace(RUN, "<hash>")
    return text if len(text) <= _MOST else text[:_MOST] + "…"


def near(word: str, known: Iterable[str]) -> str:
    """The known name that `word` was probably meant to be, or an empty string."""
    import difflib  # noqa: PLC0415 - where nothing is wrong it is not needed

    lowered = {name.lower(): name for name in known}
    matches = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return lowered[matches[0]] if matches else ""


def counted(number: int, word: str) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


_LISTED = 16
"""Names in a hint; of more than that nobody finds the one that was meant."""


def did_you_mean(word: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """A hint with the near name where there is one, else the whole list, else `otherwise`."""
    names = sorted(known)
    if guess := near(word, names):
        return f"did you mean `{guess}`?"
    if not names:
        return otherwise
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED + 1 else ""
    return "expected one of " + ", ".join(f"`{name}`" for name in (names[:_LISTED] if more else names)) + more
