"""The corrections of a finding: those that are certain, or the one that its hint prints as the only one.

A hint prints `did you mean …?` or `write …`, and the finding has the place. Whether it helps is for a render to judge.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from gen.base.codes.grants import NOT_GRANTED
from gen.base.codes.jobs import INVALID_VALUE
from gen.base.findings import Diagnostic, Fix
from gen.base.lazy import regex
from gen.base.repository.layout import is_fixable

_MEANT: Final = regex(r"did you mean `([^`]+)`\?")
_WRITE: Final = regex(r"write `([^`]+)`(?:, not a list|, without `name`)?")
_QUOTED: Final = regex(r"`([^`]+)`")
_OPEN: Final = ("…", "<")
"""Signs that the author has to fill in a part."""


class PrintedCorrection(Struct, frozen=True, kw_only=True):
    """A correction at a line and a column, which count from 1."""

    line: int
    column: int
    meant: str = ""
    """The word that was meant."""
    write: str = ""
    """What to write instead, in YAML."""
    words: tuple[str, ...] = ()
    """The quoted words of the message, with the word in question."""


AnyFix = Fix | PrintedCorrection


def fixes_of(item: Diagnostic) -> tuple[AnyFix, ...]:
    """The edits of the file that correct a finding, to be tried in this order."""
    return item.fixes or printed(item)


def may_be_fixed(item: Diagnostic) -> bool:
    """Whether `gen check --fix` tries to correct a finding."""
    return is_fixable(item.place.file) and bool(fixes_of(item))


def printed(item: Diagnostic) -> tuple[PrintedCorrection, ...]:
    """The correction that a finding prints, if it is the only one, and complete."""
    if item.code == NOT_GRANTED.name:  # the name is right, and another one would do something else
        return ()
    meant, write = _MEANT.fullmatch(item.hint), _WRITE.fullmatch(item.hint)
    if meant is None and (write is None or item.code != INVALID_VALUE.name or any(one in write[1] for one in _OPEN)):
        return ()
    return (
        PrintedCorrection(
            line=item.place.line,
            column=item.place.column,
            meant=meant[1] if meant is not None else "",
            write=write[1] if write is not None else "",
            words=tuple(_QUOTED.findall(item.message)),
        ),
    )
