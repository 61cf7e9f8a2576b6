"""Findings as data, with their places, and the containment of exceptions: one about one object becomes one finding.

Nothing here prints or exits; `gen.report` renders findings.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from gen.base import routes
from gen.base.placeholders import RUN, readable

if TYPE_CHECKING:
    from gen.base.codes import Code


Route = routes.Route
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
        fixes: tuple[Fix, ...] = (),
    ) -> None:
        texts = message_text(message), message_text(hint)
        self.items.append(Diagnostic(place, code.name, *texts, tuple(related), Severity.WARNING, fixes=fixes))

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
    if close := _similar(typed, lowered):
        return lowered[close[0]]
    longer = [name for name in lowered if len(name) >= _PART and (typed.startswith(name) or name.startswith(typed))]
    return lowered[max(longer, key=len)] if longer and len(typed) >= _PART else ""


def only_near(word: str, known: Iterable[str]) -> str:
    """The only similar name, if it is so similar that no other word was meant; empty otherwise."""
    lowered = {name.lower(): name for name in known}
    typed = word.lower()
    close = _similar(typed, lowered)
    return lowered[close[0]] if len(close) == 1 and close == _similar(typed, close, _CERTAIN) else ""


_MAX_WORD = 80
"""Characters. Untrusted files choose both the words and the names, and similarity takes up to cubic time."""
_MAX_KNOWN = 500
_PART = 3
"""Letters of a name that another one may start with."""
_SIMILAR = 0.75
_SIMILAR_SHORT = 0.66
"""One wrong letter of three."""
_CERTAIN = 0.8


def _similar(word: str, known: Iterable[str], least: float | None = None) -> list[str]:
    """Up to two names that are most similar to a word."""
    import difflib

    if len(word) > _MAX_WORD:
        return []
    if least is None:
        least = _SIMILAR_SHORT if len(word) == _PART else _SIMILAR
    names = [name for name in islice(known, _MAX_KNOWN) if len(name) <= _MAX_WORD]
    return difflib.get_close_matches(word, names, 2, least)


def _as_near(word: str, guess: str, known: Iterable[str]) -> str:
    """Another name that `word` is as similar to, such as `data-2` for `data-1` to `data-3`; empty if there is none."""
    import difflib

    typed = word.lower()
    if typed == guess.lower():
        return ""
    likeness = difflib.SequenceMatcher(None, guess.lower(), typed).ratio()
    if guess.lower().startswith(typed):  # such as `max` for `maxReplicas`, with any likeness
        likeness = max(likeness, _SIMILAR_SHORT)
    others = _similar(typed, [name.lower() for name in known if name != guess], likeness)
    return next((name for name in known if others and name.lower() == others[0]), "")


def counted(number: int, word: str) -> str:
    """`1 job`, `1,000 jobs`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


_PAIR = 2


def every(number: int, word: str) -> str:
    """`both jobs`, `all 3 jobs`."""
    return f"{'both' if number == _PAIR else f'all {number:,}'} {word}s"


MAX_HINT_NAMES = 16
"""Names in a hint; longer lists do not help."""


def quoted(names: Iterable[object], most: int | None = None) -> str:
    """Names in backticks: all, or the first with the number of the others."""
    several = [f"`{name}`" for name in names]
    left = 0 if most is None else max(len(several) - most, 0)
    return ", ".join(several[: len(several) - left]) + (f" and {left} more" if left else "")


def did_you_mean(
    word: str, known: Iterable[str], *, otherwise: str = "", besides: str = "", most: int = MAX_HINT_NAMES
) -> str:
    """A hint with the most similar name, else with at most so many of the names, else `otherwise`.

    `besides` is a remedy other than the names, which is added unless one of them is similar.
    """
    names = sorted(known)
    if guess := near(word, names):
        other = _as_near(word, guess, names)
        return f"did you mean `{guess}` or `{other}`?" if other else f"did you mean `{guess}`?"
    if not names:
        return otherwise or besides
    remedy = f", or {besides}" if besides else ""
    if len(names) == 1:
        return f"expected `{names[0]}`{remedy}"
    return f"expected one of {quoted(names, most if len(names) > most + 1 else None)}{remedy}"


def with_other(remedy: str, other: str) -> str:
    """A remedy, which may be a question, and another one."""
    return f"{remedy} {other[:1].upper()}{other[1:]}" if remedy.endswith("?") else f"{remedy}; {other}"


INTERNAL_ERROR: Final = "internal-error"
"""Code of the findings."""
BUG: Final = 3
"""Exit code for a bug of gen."""
_FRAMES: Final = 3
"""Calls in a message, the innermost first."""
_PASSED: Final = (UsageError, OSError)
"""Exceptions that are not bugs."""


class contained:  # noqa: N801 - reads as a statement
    """A block with an exception that is reported as one finding; UsageError and OSError pass."""

    __slots__ = ("_found", "_place", "_task")

    def __init__(self, found: Findings, place: Location, task: str) -> None:
        self._found, self._place, self._task = found, place, task

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if not isinstance(error, Exception) or is_passed(error):
            return False
        self._found.items.append(internal_error(error, self._place, self._task))
        return True


def internal_error(error: Exception, place: Location, task: str) -> Diagnostic:
    """The finding for an exception; `task` completes "gen failed to". Raises it again if it is not a bug."""
    if is_passed(error):
        raise error
    hint = f"report this finding with the input at this place: it is a bug of gen{or_of_plugins()}"
    return Diagnostic(place, INTERNAL_ERROR, message_text(f"gen failed to {task}: {origin(error)}"), hint)


def is_passed(error: BaseException) -> bool:
    """Whether a caller handles an exception, which is not a bug."""
    return isinstance(error, _PASSED) or interruption(error) is not None


def origin(error: BaseException) -> str:
    """Type of an exception, and the calls that led to it.

    Its text is shown only if gen wrote it: other texts can quote a secret.
    """
    calls = []
    traceback = error.__traceback__
    while traceback is not None:
        calls.append(f"{traceback.tb_frame.f_globals.get('__name__')}:{traceback.tb_lineno}")
        traceback = traceback.tb_next
    text = f": {error}" if isinstance(error, BugError) else ""
    return f"{type(error).__name__}{text} in {' < '.join(reversed(calls[-_FRAMES:]))}"


def interruption(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interruption that caused an exception: of typer, or while a class was defined."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def or_of_plugins() -> str:
    """` or of a plugin (…)` if plugins were loaded: gen uses their values."""
    load = sys.modules.get("gen.overlay.plugins")
    names = load.loaded_plugins() if load is not None else ()
    return f" or of a plugin ({quoted(names)})" if names else ""


def has_internal_error(findings: Iterable[Diagnostic]) -> bool:
    return any(finding.code == INTERNAL_ERROR for finding in findings)
