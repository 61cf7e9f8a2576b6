"""Submissions of arena: every flag of `arena submit` by job type, and the values of one command line.

Flags from kubeflow/arena 0.15.5, `pkg/argsbuilder`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct, field

from gen.base import Findings, Location, did_you_mean, regex
from gen.base.codes.imports import INVALID_COMMAND_LINE, NEEDS_SECRET, NOT_CARRIED, UNSUPPORTED_SHELL
from gen.importers.draft import JobDraft, literal

if TYPE_CHECKING:
    from gen.base.shell_words import Word

Takes = Literal["text", "list", "switch"]


class Flag(Struct, frozen=True):
    name: str
    takes: Takes = "text"
    short: str = ""


class JobType(Struct, frozen=True, kw_only=True):
    """A subcommand of `arena submit`."""

    name: str
    aliases: tuple[str, ...]
    kind: str
    """Kind of gen; empty if there is none."""
    flags: tuple[Flag, ...]
    deprecated: dict[str, str]
    """Former names of flags."""


def _flags(text: str = "", lists: str = "", switches: str = "") -> tuple[Flag, ...]:
    return (
        *(Flag(name) for name in text.split()),
        *(Flag(name, "list") for name in lists.split()),
        *(Flag(name, "switch") for name in switches.split()),
    )


ROOT: Final = (
    *_flags("loglevel arena-namespace config", switches="pprof trace helm-binary"),
    Flag("namespace", short="n"),
)
"""Flags of all commands."""

_COMMON: Final = (
    *_flags("name image gpus workers retry working-dir image-pull-policy shell scheduler model-name model-source"),
    *_flags(lists="device data-dir toleration selector config-file image-pull-secret"),
    *_flags(switches="rdma gang queue hostNetwork hostIPC hostPID"),
    Flag("env", "list", "e"),
    Flag("data", "list", "d"),
    Flag("annotation", "list", "a"),
    Flag("label", "list", "l"),
    Flag("priority", short="p"),
    *_flags("sync-mode sync-source sync-image"),
    *_flags("tensorboard-image logdir", switches="tensorboard"),
)
_COMMON_DEPRECATED: Final = {
    "workingDir": "working-dir",
    "dataDir": "data-dir",
    "syncMode": "sync-mode",
    "syncSource": "sync-source",
    "syncImage": "sync-image",
    "tensorboardImage": "tensorboard-image",
}
_TF: Final = (
    *_flags("worker-image ps-image ps worker-port ps-port chief-port"),
    *_flags("worker-cpu worker-memory ps-cpu ps-memory chief-cpu chief-memory evaluator-cpu evaluator-memory"),
    *_flags("worker-cpu-limit worker-memory-limit ps-cpu-limit ps-memory-limit chief-cpu-limit chief-memory-limit"),
    *_flags("evaluator-cpu-limit evaluator-memory-limit ps-gpus worker-affinity-policy ps-affinity-policy"),
    *_flags("worker-affinity-constraint ps-affinity-constraint success-policy clean-task-policy running-timeout"),
    *_flags("starting-timeout ttl-after-finished role-sequence share-memory", switches="chief evaluator"),
    *_flags(lists="worker-selector ps-selector chief-selector evaluator-selector"),
)
_TF_DEPRECATED: Final = {
    "workerImage": "worker-image",
    "psImage": "ps-image",
    "psPort": "ps-port",
    "workerPort": "worker-port",
    "workerCpu": "worker-cpu",
    "workerMemory": "worker-memory",
    "psCpu": "ps-cpu",
    "psMemory": "ps-memory",
    "cleanTaskPolicy": "clean-task-policy",
    "ChiefCpu": "chief-cpu",
    "ChiefMemory": "chief-memory",
    "evaluatorCpu": "evaluator-cpu",
    "evaluatorMemory": "evaluator-memory",
    "chiefPort": "chief-port",
}
_CRON: Final = _flags("schedule concurrency-policy deadline history-limit", switches="suspend")
_PYTORCH: Final = _flags("clean-task-policy cpu memory running-timeout ttl-after-finished share-memory nproc-per-node")
_MPI: Final = _flags("cpu memory clean-task-policy", switches="gputopology mounts-on-launcher")
_DEEPSPEED: Final = _flags(
    "cpu memory job-restart-policy job-backoff-limit ssh-secret",
    lists="launcher-selector launcher-annotation worker-annotation",
)
_ET: Final = (
    *_DEEPSPEED,
    *_flags("max-workers min-workers max-wait-time worker-restart-policy", switches="spot-instance"),
)
_HOROVOD: Final = _flags("ssh-port cpu memory")
_RAY: Final = (
    *_flags("ttl-after-finished active-deadline-seconds share-memory ray-version pre-stop-command"),
    *_flags("autoscaler-cpu autoscaler-memory autoscaler-image autoscaler-image-pull-policy"),
    *_flags("autoscaler-idle-timeout-seconds autoscaler-upscaling-mode"),
    *_flags("head-image head-cpu head-memory head-gpu head-service-type"),
    *_flags("worker-image worker-cpu worker-memory worker-gpu"),
    *_flags("worker-replicas worker-min-replicas worker-max-replicas worker-num-of-hosts"),
    *_flags(switches="shutdown-after-finished suspend enable-autoscaling"),
)
_METADATA: Final = (Flag("annotation", "list", "a"), Flag("label", "list", "l"))
_SPARK: Final = (
    *_flags("name image replicas main-class jar spark-version driver-cpu-request driver-memory-request"),
    *_flags("driver-service-account executor-cpu-request executor-memory-request"),
    *_METADATA,
)
_VOLCANO: Final = (
    *_flags("name min-available queue scheduler-name task-name task-images task-replicas task-cpu task-memory"),
    *_flags("task-port"),
    *_METADATA,
)
_VOLCANO_DEPRECATED: Final = {
    "minAvailable": "min-available",
    "schedulerName": "scheduler-name",
    "taskName": "task-name",
    "taskImages": "task-images",
    "taskReplicas": "task-replicas",
    "taskCPU": "task-cpu",
    "taskMemory": "task-memory",
    "taskPort": "task-port",
}


def _training(name: str, aliases: str, kind: str, own: tuple[Flag, ...], **deprecated: str) -> JobType:
    return JobType(
        name=name,
        aliases=tuple(aliases.split()),
        kind=kind,
        flags=(*_COMMON, *own),
        deprecated={**_COMMON_DEPRECATED, **deprecated},
    )


TYPES: Final = (
    _training("tfjob", "tf", "tensorflow", _TF, **_TF_DEPRECATED),
    _training("pytorchjob", "pytorch", "pytorch", _PYTORCH),
    _training("mpijob", "mpi mj", "mpi", _MPI),
    _training("etjob", "et", "mpi", _ET),
    _training("deepspeedjob", "dp", "mpi", _DEEPSPEED),
    _training("horovodjob", "horovod hj", "mpi", _HOROVOD),
    _training("rayjob", "rj", "ray", _RAY),
    JobType(name="sparkjob", aliases=("spark",), kind="", flags=_SPARK, deprecated={}),
    JobType(name="volcanojob", aliases=("vj",), kind="volcano", flags=_VOLCANO, deprecated=_VOLCANO_DEPRECATED),
)
CRON: Final = _training("cron tfjob", "", "tensorflow", (*_TF, *_CRON), **_TF_DEPRECATED)
"""`arena cron tfjob`."""
BY_NAME: Final = {name: one for one in TYPES for name in (one.name, *one.aliases)}

_HYPHENS: Final = regex("^[\u2010-\u2015\u2212]-?")
"""Dashes that word processors write in place of `--`."""
_TRUE: Final = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "false", "FALSE", "False"})
"""Values of switches that Go's `strconv.ParseBool` accepts."""
_INSTEAD: Final = {
    "list": "`gen list`",
    "get": "`gen status`",
    "logs": "`gen logs`",
    "top": "`gen top`",
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
    if _report_unknown(words, found) or _report_help(words, found):
        return None
    root = {flag.name: flag for flag in ROOT}
    options, rest = _parsed(words[1:], root, {}, found, stop=True)
    known = _job_type([word.text for word in rest], place, found)
    if options is None or known is None:
        return None
    kind, used = known
    flags = {**root, **{flag.name: flag for flag in kind.flags}}
    mistyped = _report_mistyped(rest[used:], {*flags, *kind.deprecated}, found)
    values, positional = _parsed(rest[used:], flags, kind.deprecated, found)
    if values is None or mistyped:
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
        assert word.unknown is not None  # selected above
        found.error(UNSUPPORTED_SHELL, word.place, word.unknown.reason, word.unknown.hint)
    return bool(unknown)


def _report_help(words: Sequence[Word], found: Findings) -> bool:
    """Report a flag that shows the help of Arena, and submits nothing."""
    flags = takewhile(lambda word: word.text != "--", words)
    word = next((one for one in flags if one.text in ("--help", "-h")), None)
    if word is not None:
        hint = "remove it; `gen import` reads all flags of `arena submit`"
        found.error(INVALID_COMMAND_LINE, word.place, f"`{word.text}` shows the help of Arena", hint)
    return word is not None


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


def _report_mistyped(words: list[Word], names: set[str], found: Findings) -> bool:
    """Report flags with another dash than a hyphen, and a blank behind the backslash at the end of a line."""
    failed = False
    for number, word in enumerate(words, 1):
        meant = _HYPHENS.sub("--", word.text)
        if meant != word.text and meant[2:].partition("=")[0] in names:
            message = f"`{word.text[:60]}` starts with a dash that is not a hyphen"
            found.error(INVALID_COMMAND_LINE, word.place, message, f"write `{meant[:60]}`")
            failed = True
        elif word.text.isspace() and number == len(words):
            message = "the last word is a blank: `\\` continues a line only as its last character"
            found.error(INVALID_COMMAND_LINE, word.place, message, "remove the blank behind the `\\`")
            failed = True
    return failed


def _flag(
    text: str, known: Mapping[str, Flag], short: Mapping[str, Flag], deprecated: Mapping[str, str]
) -> tuple[Flag | None, str | None]:
    """The flag of a word, and the value in the same word."""
    if text.startswith("--"):
        name, equals, value = text[2:].partition("=")
        return known.get(deprecated.get(name, name)), value if equals else None
    value = text[2:].removeprefix("=")
    return short.get(text[1:2]), value or None


class Draft(JobDraft):
    """Collects values from the flags of one submission."""

    def __init__(self, given: Submission, namespace: str, found: Findings) -> None:
        super().__init__(given.text("name"), given.type.kind, namespace, given.place, found)
        self.given = given

    def carry(self, flag: str, *route: str) -> None:
        """Set a field to the value of a flag, if that is given."""
        value = self.given.last(flag)
        if value is not None:
            self.set(literal(value.text), *route, place=value.place)

    def lose(self, flag: str, why: str, hint: str) -> None:
        """Report that a flag, if it is given, has no field."""
        if self.given.every(flag):
            self.drop(self.given.place_of(flag), f"`--{flag}`", why, hint)

    def ignore(self, *flags: str, why: str, hint: str) -> None:
        """Report flags without an effect, and forget their values."""
        for flag in flags:
            self.lose(flag, why, hint)
            self.given.values.pop(flag, None)

    def secret(self, flag: str, what: str, hint: str) -> None:
        """Report that the job reads a value from a Secret."""
        self.found.warning(NEEDS_SECRET, self.given.place_of(flag), f"{what} is a secret", hint)
