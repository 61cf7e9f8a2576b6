"""The words of an `arena submit` command as flags with values, as pflag reads them (spf13/pflag, `flag.go`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from gen.diagnostics import did_you_mean
from gen.findings.imports import INVALID_COMMAND_LINE, NOT_CARRIED, UNSUPPORTED_SHELL
from gen.importers.arena.flags import BY_NAME, CRON, ROOT, Flag, JobType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.diagnostics import Findings, Location
    from gen.importers.shell.words import Word

_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "false", "FALSE", "False"})
"""Values of switches that Go's `strconv.ParseBool` accepts."""
_INSTEAD: Final = {
    "list": "`gen list`",
    "get": "`kubectl describe`",
    "logs": "`kubectl logs`",
    "top": "`gen list`, or `kubectl top`",
    "delete": "remove the job file, or set `state: finished`",
    "scalein": "change `workers` of the job",
    "scaleout": "change `workers` of the job",
}


class Value(Struct, frozen=True):
    """A value of a flag, and where it is written."""

    text: str
    place: Location


class Submission(Struct, kw_only=True):
    """One command. Unread flags are reported at the end."""

    type: JobType
    place: Location
    values: dict[str, list[Value]]
    command: tuple[Value, ...]
    read: set[str] = field(default_factory=set)

    def every(self, name: str) -> list[Value]:
        """All values of a flag."""
        self.read.add(name)
        return self.values.get(name, [])

    def last(self, name: str) -> Value | None:
        """The value of a flag that counts; None if it is not given or empty."""
        given = self.every(name)
        return given[-1] if given and given[-1].text else None

    def text(self, name: str) -> str:
        value = self.last(name)
        return "" if value is None else value.text

    def on(self, name: str) -> bool:
        """Whether a switch is on."""
        return self.text(name) in _TRUE

    def place_of(self, *names: str) -> Location:
        """Place of the first of the flags that is given; otherwise of the command."""
        return next((self.values[name][-1].place for name in names if self.values.get(name)), self.place)


def read_submission(words: tuple[Word, ...], place: Location, found: Findings) -> Submission | None:
    """The submission in a command of `arena`; None, with a finding, for other commands and after an error."""
    if _report_unknown(words, found):
        return None
    root = {flag.name: flag for flag in ROOT}
    options, rest = _parsed(words[1:], root, {}, found, stop=True)
    known = _job_type([word.text for word in rest], place, found)
    if options is None or known is None:
        return None
    kind, used = known
    flags = {**root, **{flag.name: flag for flag in kind.flags}}
    values, positional = _parsed(rest[used:], flags, kind.deprecated, found)
    if values is None:
        return None
    for name, given in options.items():
        values.setdefault(name, []).extend(given)
    return Submission(
        type=kind, place=place, values=values, command=tuple(Value(word.text, word.place) for word in positional)
    )


def _report_unknown(words: Iterable[Word], found: Findings) -> bool:
    """Report words with unknown text."""
    unknown = [word for word in words if word.unknown is not None]
    for word in unknown:
        assert word.unknown is not None  # noqa: S101 - selected above
        found.error(UNSUPPORTED_SHELL, word.place, word.unknown.reason, word.unknown.hint)
    return bool(unknown)


def _job_type(words: list[str], place: Location, found: Findings) -> tuple[JobType, int] | None:
    """The job type, and the number of words that name it."""
    action = words[0] if words else ""
    if words[:2] == ["cron", "tfjob"]:
        return CRON, 2
    if action != "submit":
        hint = f"use {_INSTEAD[action]}" if action in _INSTEAD else "only `arena submit` makes jobs of gen"
        found.warning(NOT_CARRIED, place, f"`arena {action}` is not imported", hint)
        return None
    name = words[1] if len(words) > 1 else ""
    if name not in BY_NAME:
        hint = did_you_mean(name, BY_NAME)
        found.error(INVALID_COMMAND_LINE, place, f"unknown job type `{name}`", hint)
        return None
    return BY_NAME[name], 2


def _parsed(
    words: tuple[Word, ...] | list[Word],
    known: Mapping[str, Flag],
    deprecated: Mapping[str, str],
    found: Findings,
    *,
    stop: bool = False,
) -> tuple[dict[str, list[Value]] | None, list[Word]]:
    """Values by flag, and the other words. With `stop`, flags end at the first other word. None after an error."""
    values: dict[str, list[Value]] = {}
    short = {flag.short: flag for flag in known.values() if flag.short}
    rest: list[Word] = []
    failed = False
    todo = list(reversed(words))
    while todo:
        word = todo.pop()
        if word.text == "--":
            rest += reversed(todo)
            break
        if not word.text.startswith("-") or word.text == "-":
            rest.append(word)
            if stop:
                rest += reversed(todo)
                break
            continue
        flag, value = _flag(word.text, known, short, deprecated)
        if flag is None:
            name = word.text.partition("=")[0]
            names = [f"--{one}" for one in (*known, *deprecated)]
            otherwise = "put the command of the job in quotes, or write `--` before it"
            hint = did_you_mean(name, names) if len(name) > 2 else ""  # noqa: PLR2004 - a short flag
            hint = hint if hint.startswith("did you mean") else otherwise
            found.error(INVALID_COMMAND_LINE, word.place, f"unknown flag `{name}`", hint)
            failed = True
            continue
        if value is None and flag.takes == "switch":
            value = "true"
        if value is None:
            if not todo:
                hint = f"write `--{flag.name}=VALUE`"
                found.error(INVALID_COMMAND_LINE, word.place, f"`--{flag.name}` has no value", hint)
                failed = True
                continue
            value = todo.pop().text
        if flag.takes == "switch" and value not in _TRUE | _FALSE:
            found.error(INVALID_COMMAND_LINE, word.place, f"`--{flag.name}`: expected `true` or `false`", "write one")
            failed = True
        values.setdefault(flag.name, []).append(Value(value, word.place))
    return (None if failed else values), rest


def _flag(
    text: str, known: Mapping[str, Flag], short: Mapping[str, Flag], deprecated: Mapping[str, str]
) -> tuple[Flag | None, str | None]:
    """The flag of a word, and the value in the same word."""
    if text.startswith("--"):
        name, equals, value = text[2:].partition("=")
        return known.get(deprecated.get(name, name)), value if equals else None
    value = text[2:].removeprefix("=")
    return short.get(text[1:2]), value or None
