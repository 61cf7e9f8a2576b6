"""`gen import arena`: submissions in shell scripts and command lines."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, ClassVar, Final

from gen.diagnostics import Location
from gen.findings.imports import INVALID_COMMAND_LINE, NOT_CARRIED
from gen.importers.arena.draft import Draft
from gen.importers.arena.flags import ROOT
from gen.importers.arena.kinds import CARRY
from gen.importers.arena.submission import Submission, read_submission
from gen.importers.base import Importer
from gen.importers.shell.script import Command, commands
from gen.importers.shell.words import Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gen.diagnostics import Findings
    from gen.importers.base import Given, ImportedJob

PROGRAM: Final = "arena"
_CLIENT: Final = "it concerns the client of Arena"


class ArenaImporter(Importer):
    """`arena submit` lines."""

    summary: ClassVar[str] = "`arena submit` lines of a script or the command line"

    def read(self, given: Given, found: Findings) -> Sequence[ImportedJob]:
        read = [_command(given)] if given.words else commands(given.text, given.file, PROGRAM, found)
        if not read:
            hint = "name a script with `arena submit` lines, or write `-- arena submit …` at the end"
            found.error(INVALID_COMMAND_LINE, Location(given.file), "no `arena` command found", hint)
        made = (read_submission(one.words, one.place, found) for one in read)
        return [job for one in made if one is not None for job in _imported(one, given, found)]


def _command(given: Given) -> Command:
    """The words of a command line, with their columns in it."""
    words, column = [], 1
    for text in given.words:
        words.append(Word(text, Location(given.file, 1, column)))
        column += len(shlex.quote(text)) + 1
    return Command(tuple(words), Location(given.file))


def _imported(given: Submission, source: Given, found: Findings) -> Iterator[ImportedJob]:
    namespace = source.namespace_of(given.text("namespace"))
    if given.last("name") is None:
        found.error(INVALID_COMMAND_LINE, given.place, "`--name` is missing", "add `--name=NAME`")
        return
    if not namespace:
        hint = "choose the namespace of all jobs with `gen import --namespace`"
        found.error(INVALID_COMMAND_LINE, given.place, "the command names no namespace", hint)
        return
    draft = Draft(given, namespace, found)
    carry = CARRY.get(given.type.name)
    if carry is None:
        _report_spark(given, found)
        return
    carry(draft)
    for flag in ROOT:
        draft.lose(flag.name, _CLIENT, "remove it") if flag.name != "namespace" else None
    _report_rest(given, found)
    job = draft.finished(f"Imported from `arena {'' if ' ' in given.type.name else 'submit '}{given.type.name}`.")
    if job is not None:
        yield job


def _report_spark(given: Submission, found: Findings) -> None:
    hint = "keep the SparkApplication as a manifest of its own, and check it with `gen validate`"
    message = f"gen has no kind of job for a `{given.type.name}`"
    found.error(INVALID_COMMAND_LINE, given.place, message, hint)
    _report_rest(given, found)


def _report_rest(given: Submission, found: Findings) -> None:
    """Report what nothing has read, so that no value disappears."""
    for name in given.values.keys() - given.read - {"name", "namespace"}:
        found.warning(NOT_CARRIED, given.place_of(name), f"`--{name}` is not carried: it has no field", "remove it")
