"""Options of `sbatch` and `srun`: the `#SBATCH` lines of a script, and what each option means."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec import Struct

from gen.base import Findings, Location, names, regex
from gen.base.codes.imports import INVALID_COMMAND_LINE, NOT_CARRIED
from gen.importers.slurm.programs import joined, relative
from gen.importers.slurm.site import TEMPLATE, TO_COMPLETE

SHORT: Final = {
    "A": "account", "a": "array", "B": "extra-node-info", "b": "begin", "C": "constraint", "c": "cpus-per-task",
    "D": "chdir", "d": "dependency", "E": "preserve-env", "e": "error", "F": "nodefile", "G": "gpus", "H": "hold",
    "I": "immediate", "i": "input", "J": "job-name", "K": "kill-on-bad-exit", "k": "no-kill", "L": "licenses",
    "l": "label", "M": "clusters", "m": "distribution", "N": "nodes", "n": "ntasks", "O": "overcommit", "o": "output",
    "p": "partition", "Q": "quiet", "q": "qos", "r": "relative", "S": "core-spec", "s": "oversubscribe", "T": "threads",
    "t": "time", "u": "unbuffered", "v": "verbose", "W": "wait", "w": "nodelist", "X": "disable-status", "x": "exclude",
    "V": "version", "Z": "no-allocate",
}  # fmt: skip
SWITCHES: Final = names(
    "async bcast compress consolidate-segments container-entrypoint container-entrypoint-log container-mount-home "
    "container-readonly container-remap-root container-writable contiguous debugger-test disable-status exact "
    "exclusive external external-launcher get-user-env help hold ignore-pbs immediate interactive kill-on-bad-exit "
    "label mpi-combine multi-prog nice no-allocate no-container-entrypoint no-container-mount-home "
    "no-container-remap-root no-kill no-requeue no-shell oom-kill-step overcommit overlap oversubscribe parsable "
    "preserve-env propagate pty quiet quit-on-interrupt reboot requeue resv-ports send-libs spread-job "
    "spread-segments stepmgr test-only unbuffered usage use-min-nodes verbose version wait-for-children whole x11"
)
"""Options of `srun` without a value, or with one behind `=` only, also those of Pyxis."""
OF_SBATCH: Final = SWITCHES | {"wait"}
_WITH_VALUE: Final = names(
    "acctg-freq argv batch bb bbf bcast-exclude cluster container container-id container-save context "
    "delay-boot epilog extra gid gres-flags het-group ignore-signals kill-on-invalid-dep mcs-label mem-update mincpus "
    "msg-timeout network ntasks-per-tres pack-group prefer priority profile prolog resources runtime slurmd-debug "
    "task-epilog task-prolog time-min treewidth tres-bind tres-per-task uid"
)
STARTS: Final = (
    r"^-|(^|/)(python[0-9.]*|(ba|da|z)?sh|env|exec|time|nice|timeout|numactl|nsys|torchrun|accelerate|deepspeed|mpirun"
    r"|mpiexec|horovodrun|uv|conda|ray|apptainer|singularity|shifter|enroot|docker)$|[.](py|sh)$"
)
"""A word behind an option that gen does not know, which is not its value; bash reads the pattern, too."""
_DIRECTIVE: Final = regex(r"#SBATCH\s+(.*)")
_NEXT_COMPONENT: Final = ("hetjob", "packjob")
"""Lines between the components of a heterogeneous job. `srun` starts the first one by default."""
_COMMENT: Final = regex(r"(?:^|\s)#.*")
MAX_LINES: Final = 10_000


class Option(Struct, frozen=True):
    """A value of an option, and its place."""

    name: str
    value: str
    place: Location


PLACEHOLDER: Final = regex(
    rf"(?<![\"']){TEMPLATE.pattern}(?![\"'])|(?<![\"'])<[A-Za-z][^<>\"']*>|(?<!\$)\{{ ?[A-Z_a-z]\w* ?}}"
)
"""A part that people replace with a word."""
_STATEMENT: Final = regex(r"\{%[^%]*%\}")


def directives(text: str, file: str, found: Findings) -> tuple[list[Option], int]:
    """Options of the `#SBATCH` lines, and the number of lines before the first command: Slurm ignores later ones."""
    options: list[Option] = []
    first = True
    lines = text.split("\n")[:MAX_LINES]
    for number, line in enumerate(lines):
        stripped = _STATEMENT.sub("", line).strip()
        if stripped and not stripped.startswith("#"):
            return options, number
        if (match := _DIRECTIVE.match(stripped)) is None:
            continue
        if match[1].strip() not in _NEXT_COMPONENT:
            options += parsed(match[1], Location(file, number + 1), found) if first else ()
        elif first:
            first = False
            hint = "write another job, or a role of this one, for the options below it"
            message = f"`{match[1].strip()}` is not carried: the job has the options above it"
            found.warning(NOT_CARRIED, Location(file, number + 1), message, hint)
    return options, len(lines)


DEFINED: Final = regex(r"\$\{(\w+)\}|\$(\w+)")


def parsed(text: str, place: Location, found: Findings) -> Iterator[Option]:
    """Options in a line, without those that only a template has."""
    mark = TO_COMPLETE.match(text)
    try:
        text = PLACEHOLDER.sub(lambda match: f"'{match[0]}'", text[mark.end() :] if mark is not None else text)
        words = shlex.split(_COMMENT.sub("", text))
    except ValueError:
        found.error(INVALID_COMMAND_LINE, place, "a quote is not closed", "close it")
        return
    if mark is not None:
        message = f"`{mark[0].strip()}` is a placeholder, and not an option"
        found.error(INVALID_COMMAND_LINE, place, message, "replace it with options, or remove it")
    options, left = options_of(words, place, found, OF_SBATCH)
    if left:
        hint = "write the name of an option with `--`"
        found.warning(NOT_CARRIED, place, f"`{left[0]}` is not carried: it is not an option", hint)
    yield from (one for one in options if not TEMPLATE.search(one.value))


def options_of(
    words: list[str], place: Location, found: Findings, switches: Collection[str] = SWITCHES
) -> tuple[list[Option], list[str]]:
    """Options at the start of a command, and its other words. `switches` are those of its tool."""
    options: list[Option] = []
    left = list(words)
    while left and left[0].startswith("-") and left[0] != "-":
        word = left.pop(0)
        if word == "--":
            break
        name, value, is_whole = name_of(word)
        is_unknown = name not in VALUED and (not left or re.search(STARTS, left[0]) is not None)
        if is_whole or name in switches or is_unknown:
            options.append(Option(name, value, place))
        elif left:
            options.append(Option(name, left.pop(0), place))
        else:
            found.error(INVALID_COMMAND_LINE, place, f"`{word}` has no value", "add it")
    return options, left


def local_words(words: Sequence[str], folder: str) -> tuple[str, ...]:
    """The words of `srun` with paths from a folder; those of its program from that of `--chdir`."""
    known, rest = options_of([*words], Location(""), Findings())
    inner = next((relative(one.value, folder) for one in reversed(known) if one.name == "chdir"), "")
    at = len(words) - len(rest) if inner else len(words)
    of_program = joined(folder, inner)
    return (*(relative(one, folder) for one in words[:at]), *(relative(one, of_program) for one in words[at:]))


def name_of(word: str) -> tuple[str, str, bool]:
    """Name and value of an option, and whether the word has its value."""
    if word.startswith("--"):
        written, equals, value = word[2:].partition("=")
        near = [one for one in _KNOWN if one.startswith(written)]  # getopt completes them
        return near[0] if len(near) == 1 else written, value, equals != ""
    rest = word[2:].removeprefix("=")
    return SHORT.get(word[1:2], word[1:2]), rest, rest != ""


_LOGS: Final = ("the cluster keeps the logs", "read them with `gen logs`, or redirect the output in `command`")
_MAIL: Final = ("gen sends no messages", "set up notifications of Argo CD or Flux")
_NODES: Final = ("jobs do not name nodes", "set `placement.nodeSelector` of the job to labels that the overlay grants")
_BLOCKS: Final = ("an overlay places pods", "set `queue` to one of the overlay with a `topology`")
_START: Final = ("jobs start on their own", "keep `state: suspended` until the job may start")
_CPUS: Final = ("Kubernetes has no field for it", "ask the platform owner about CPU and topology policies of the nodes")
_PRIORITY: Final = (
    "a quality of service is not a PriorityClass",
    "set `priority` to a PriorityClass that the overlay grants",
)
_ENTRYPOINT: Final = ("`command` replaces the one of the image", "remove it")
_CLIENT: Final = ("it concerns the client of Slurm", "remove it")
REASONS: Final[dict[str, tuple[str, str]]] = {
    **dict.fromkeys(("output", "error", "input", "open-mode", "label", "unbuffered"), _LOGS),
    **dict.fromkeys(("mail-type", "mail-user"), _MAIL),
    **dict.fromkeys(names("nodelist exclude nodefile relative cluster-constraint"), _NODES),
    **dict.fromkeys(("segment", "switches"), _BLOCKS),
    "constraint": ("nodes have labels of their own", "map it with `constraints` of a site file, or set `placement`"),
    **dict.fromkeys(("dependency", "begin", "hold"), _START),
    "deadline": ("Kubernetes has no time by which a run must end", "set `timeout` of the job"),
    **dict.fromkeys(
        names(
            "cpu-bind cpu_bind mem-bind mem_bind distribution extra-node-info hint core-spec threads-per-core "
            "accel-bind sockets-per-node gpu-bind cores-per-socket cpu-freq contiguous thread-spec ntasks-per-socket "
            "ntasks-per-core ntasks-per-gpu gpus-per-socket gpu-freq overcommit"
        ),
        _CPUS,
    ),
    **dict.fromkeys(
        names(
            "exact jobid overlap quiet verbose parsable wait wrap test-only mpi kill-on-bad-exit bcast "
            "compress disable-status immediate interactive no-allocate preserve-env propagate pty quit-on-interrupt "
            "resv-ports send-libs threads version wait-for-children whole x11"
        ),
        _CLIENT,
    ),
    **dict.fromkeys(("qos", "nice"), _PRIORITY),
    "exclusive": ("a pod shares its node", "request all GPUs or the memory of a node"),
    "oversubscribe": ("a pod requests its resources", "remove it"),
    "reservation": ("a cluster has no reservations", "use a queue of the overlay"),
    "licenses": ("a cluster has no licenses", "use a queue of the overlay with a quota for them"),
    "signal": ("a pod gets SIGTERM at its end", "save checkpoints on SIGTERM"),
    "tmp": ("a pod has no scratch disk of its own", "mount a volume of the overlay with `data`"),
    "clusters": ("an overlay is one cluster", "choose the overlay with `clusters` of the job"),
    "export-file": ("gen reads no files that a script names", "write the variables as `env`"),
    "no-kill": ("an operator decides about failed nodes", "use `elastic` of `kind: pytorch`"),
    "comment": ("a job has no description", "write it as a comment into the job file"),
    "wckey": ("a job has no accounting key", "set `labels` of the job"),
    "container-name": ("a pod has one image", "set `image` of the job"),
    "container-entrypoint": ("`command` replaces the one of the image", "start it there, if the program needs it"),
    **dict.fromkeys(("container-entrypoint-log", "no-container-entrypoint"), _ENTRYPOINT),
    "container-env": ("a variable of the job precedes that of the image", "remove it"),
    "no-container-remap-root": ("a container has the user of its image", "set it there"),
    "wait-all-nodes": ("only a gang scheduler starts all pods together", "set `queue` of one, if the program needs it"),
    "no-container-mount-home": ("a container has no home of the user", "remove it"),
    "environment": ("gen does not read the file of the container", "set `image` and `data` of the job as it has them"),
    "container-writable": ("the file system of a container is writable", "remove it"),
    "container-mount-home": ("a container has no home of the user", "mount a volume of the overlay with `data`"),
}
"""Options that no field has: the reason and the remedy."""
HANDLED: Final = names(
    "account array chdir image container-image container-mounts container-workdir cpus-per-gpu cpus-per-task export "
    "gpus gpus-per-node gpus-per-task gres job-name mem mem-per-cpu mem-per-gpu no-requeue nodes ntasks "
    "ntasks-per-node partition requeue tasks-per-node time"
)
"""Options that fields have."""
VALUED: Final = (HANDLED | REASONS.keys() | _WITH_VALUE) - SWITCHES
"""Options that take the next word for their value, if they have none behind `=`."""
_KNOWN: Final = sorted(VALUED | SWITCHES)
