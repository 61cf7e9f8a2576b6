"""Findings as data, with their places. Nothing here prints or exits; `gen.report` renders them."""

from __future__ import annotations

from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct, field

from gen.kubernetes import RUN, readable

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


class Location(Struct, frozen=True, order=True, omit_defaults=True):
    """A place in a file: a path relative to the repository with `/`, line and column counted from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Rename(Struct, frozen=True, order=True, tag=True):
    """Another name for the field at a route of the file."""

    route: Route
    name: str


class Put(Struct, frozen=True, order=True, tag=True):
    """Another value for the scalar at a route of the file. `old` is the present one."""

    route: Route
    old: str
    new: str


class Move(Struct, frozen=True, order=True, tag=True):
    """Another place in the file for the scalar at a route."""

    route: Route
    to: Route


class Respell(Struct, frozen=True, order=True, tag=True):
    """Another text for a part of a line that YAML cannot read as meant. `old` is the present text."""

    line: int
    column: int
    """Both counted from 1."""
    old: str
    new: str


Fix = Rename | Put | Move | Respell


class Diagnostic(Struct, frozen=True, order=True, omit_defaults=True):
    """One finding. `code` is stable and kebab-case; `hint` is the remedy."""

    place: Location
    code: str
    message: str
    hint: str = ""
    related: tuple[tuple[Location, str], ...] = ()
    severity: Severity = Severity.ERROR
    fixes: tuple[Fix, ...] = ()
    """The edit of the file of `place` that the author certainly meant; empty if others are possible."""

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR


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
        fixes: tuple[Fix, ...] = (),
    ) -> None:
        self.items.append(
            Diagnostic(place, code.name, message_text(message), message_text(hint), tuple(related), fixes=fixes)
        )

    def warning(
        self,
        code: Code,
        place: Location,
        message: str,
        hint: str,
        related: Iterable[tuple[Location, str]] = (),
    ) -> None:
        self.items.append(
            Diagnostic(place, code.name, message_text(message), message_text(hint), tuple(related), Severity.WARNING)
        )

    def extend(self, others: Iterable[Diagnostic]) -> None:
        self.items.extend(others)

    def failed(self) -> bool:
        """Whether any finding is an error."""
        return any(item.is_error for item in self.items)

    def __iter__(self) -> Iterator[Diagnostic]:
        """Sorted by place; equal findings for two overlays count once."""
        return iter(sorted(set(self.items)))


MAX_MESSAGE = 600
"""Characters of a message: it contains names from untrusted files."""


def message_text(text: str) -> str:
    """A message of limited length, with `<hash>` for the placeholder of the run's hash."""
    text = readable(text.replace(RUN, "<hash>"))
    return text if len(text) <= MAX_MESSAGE else text[:MAX_MESSAGE] + "…"


def with_article(noun: str) -> str:
    """`a Job`, `an Experiment`."""
    return f"{'an' if noun[:1].upper() in 'AEIO' else 'a'} {noun}"


def near(word: str, known: Iterable[str]) -> str:
    """The known name that `word` was probably meant to be, or an empty string."""
    if len(word) > _MAX_WORD:
        return ""
    lowered = {name.lower(): name for name in known}
    typed = word.lower()
    if typed in lowered:
        return lowered[typed]
    lowered = dict(islice(lowered.items(), _MAX_KNOWN))
    distances = {
        name: _distance(typed, name) for name in lowered if abs(len(name) - len(typed)) <= _allowed(typed, name)
    }
    close = [name for name, steps in distances.items() if steps <= _allowed(typed, name)]
    if close:
        return lowered[min(close, key=lambda name: (distances[name], not name.startswith(typed), name))]
    longer = [name for name in lowered if len(name) >= _PART and (typed.startswith(name) or name.startswith(typed))]
    return lowered[max(longer, key=len)] if longer and len(typed) >= _PART else ""


def only_near(word: str, known: Iterable[str]) -> str:
    """The only known name that `word` differs from by a typing mistake or two; empty if there are several or none."""
    close = {
        name: steps
        for name in islice(known, _MAX_KNOWN)
        if abs(len(name) - len(word)) <= (most := _allowed(word, name))
        and len(word) <= _MAX_WORD
        and (steps := _distance(word.lower(), name.lower())) <= most
    }
    only = next(iter(close)) if len(close) == 1 else ""
    return only if only and close[only] <= _MAX_CERTAIN else ""


_MAX_CERTAIN = 2
"""Typing mistakes in a name for which no other word was meant."""
_MAX_WORD = 100
_MAX_KNOWN = 500
"""Untrusted files choose both the words and the names."""
_PART = 3
"""Letters of a name that another one may start with."""


def _allowed(word: str, name: str) -> int:
    """The number of typing mistakes for which two words count as the same."""
    return max(len(word), len(name)) // 3


def _distance(one: str, other: str) -> int:
    """Letters to insert, delete, replace or swap with their neighbour (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        two_before, before, row = before, row, [i + 1]
        for j, another in enumerate(other):
            cost = min(before[j] + (letter != another), before[j + 1] + 1, row[j] + 1)
            if i and j and letter == other[j - 1] and one[i - 1] == another:
                cost = min(cost, two_before[j - 1] + 1)
            row.append(cost)
    return row[-1]


def counted(number: int, word: str) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


MAX_HINT_NAMES = 16
"""Names in a hint; longer lists do not help."""


def did_you_mean(
    word: str, known: Iterable[str], *, otherwise: str = "", besides: str = "", most: int = MAX_HINT_NAMES
) -> str:
    """A hint with the most similar name, else with at most so many of the names, else `otherwise`.

    `besides` is a remedy other than the names, which is added unless one of them is similar.
    """
    names = sorted(known)
    if guess := near(word, names):
        return f"did you mean `{guess}`?"
    if not names:
        return otherwise or besides
    remedy = f", or {besides}" if besides else ""
    if len(names) == 1:
        return f"expected `{names[0]}`{remedy}"
    more = f" and {len(names) - most} more" if len(names) > most + 1 else ""
    return "expected one of " + ", ".join(f"`{name}`" for name in (names[:most] if more else names)) + more + remedy
