"""Findings as data, with their places. Nothing here prints or exits; `gen.report` renders them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct, field

from gen.kubernetes import RUN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from gen.findings.code import Code

Route = tuple[str | int, ...]
"""A path into nested data: mapping keys and list indices, outermost first."""


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    """Known and accepted."""


class Location(Struct, frozen=True, order=True):
    """A place in a file: a path relative to the repository with `/`, line and column counted from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Diagnostic(Struct, frozen=True, order=True):
    """One finding. `code` is stable and kebab-case; `hint` is the remedy."""

    place: Location
    code: str
    message: str
    hint: str = ""
    related: tuple[tuple[Location, str], ...] = ()
    severity: Severity = Severity.ERROR


class UsageError(Exception):
    """The command line or the repository as a whole cannot be used as asked: exit 2."""


class DefinitionError(UsageError):
    """A file of CustomResourceDefinitions that cannot be used."""

    def __init__(self, file: Path, reason: str, line: int = 1) -> None:
        super().__init__(file, reason, line)  # the arguments, so that it can be pickled
        self.file, self.reason, self.line = file, reason, line

    def __str__(self) -> str:
        return f"cannot read definitions from {self.file}: {self.reason}"


class BugError(Exception):
    """gen made something that cannot be right, though no user wrote it: exit 3."""


class Findings(Struct):
    """Collects the findings of all stages, so that one run reports everything."""

    items: list[Diagnostic] = field(default_factory=list)

    def error(
        self,
        code: Code,
        place: Location,
        message: str,
        hint: str,
        related: Iterable[tuple[Location, str]] = (),
    ) -> None:
        self.items.append(Diagnostic(place, code.name, message_text(message), message_text(hint), tuple(related)))

    def warning(self, code: Code, place: Location, message: str, hint: str) -> None:
        self.items.append(
            Diagnostic(place, code.name, message_text(message), message_text(hint), severity=Severity.WARNING)
        )

    def extend(self, others: Iterable[Diagnostic]) -> None:
        self.items.extend(others)

    def failed(self) -> bool:
        """Whether any finding is an error."""
        return any(item.severity is Severity.ERROR for item in self.items)

    def __iter__(self) -> Iterator[Diagnostic]:
        """Sorted by place; equal findings for two overlays count once."""
        return iter(sorted(set(self.items)))


MAX_MESSAGE = 600
"""Characters of a message: it contains names from untrusted files."""


def message_text(text: str) -> str:
    """A message of limited length, with `<hash>` for the placeholder of the run's hash."""
    text = text.replace(RUN, "<hash>")
    return text if len(text) <= MAX_MESSAGE else text[:MAX_MESSAGE] + "…"


def near(word: str, known: Iterable[str]) -> str:
    """The known name that is most similar to `word`, or an empty string."""
    import difflib  # noqa: PLC0415 - where nothing is wrong it is not needed

    lowered = {name.lower(): name for name in known}
    matches = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return lowered[matches[0]] if matches else ""


def counted(number: int, word: str) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


MAX_HINT_NAMES = 16
"""Names in a hint; longer lists do not help."""


def did_you_mean(word: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """A hint with the most similar name, else with all names, else `otherwise`."""
    names = sorted(known)
    if guess := near(word, names):
        return f"did you mean `{guess}`?"
    if not names:
        return otherwise
    more = f" and {len(names) - MAX_HINT_NAMES} more" if len(names) > MAX_HINT_NAMES + 1 else ""
    return "expected one of " + ", ".join(f"`{name}`" for name in (names[:MAX_HINT_NAMES] if more else names)) + more
