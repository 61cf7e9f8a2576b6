"""Containment of exceptions: one about one object becomes one finding, and the other objects get theirs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Final

from gen.base.findings import BugError, Diagnostic, Findings, Location, UsageError, message_text

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
    return f" or of a plugin ({', '.join(f'`{name}`' for name in names)})" if names else ""


def has_internal_error(findings: Iterable[Diagnostic]) -> bool:
    return any(finding.code == INTERNAL_ERROR for finding in findings)
