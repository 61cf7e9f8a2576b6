"""Outputs of commands: values of a pod, or variables of the command behind other programs; the
files that a script writes and that its programs read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, Location, names, regex
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.expansion import (
    ADDRESS,
    CLOSE,
    MARKED,
    NODES,
    OPEN,
    RUN,
    START,
    Value,
    is_known,
    items_of,
    marked,
    shown,
    source_text,
    sources,
)
from gen.importers.slurm.options import options_of
from gen.importers.slurm.programs import (
    BETWEEN,
    SCRIPT,
    VARIABLE,
    AnyStep,
    DroppedPart,
    Step,
    absolute,
    joined,
    value_in_command,
)
from gen.importers.slurm.site import file_of_slurm

ASKS: Final = names(
    "awk basename bc cd cksum comm cut date dig dirname echo egrep expr gawk getent grep head host hostname id "
    "ifconfig ip lsof md5sum netstat nproc nslookup nvidia-smi od paste printf pwd readlink realpath rev scontrol sed "
    "seq sha1sum shuf sort srun ss ssh tac tail tr uniq uuidgen wc which whoami xargs"
)
"""Programs with an output that depends on nodes, ids, random numbers and folders only, or on that of the others."""
FIRST: Final = regex(r"(?:^|[|(`])\s*(?:head\s+-n?\s*1\b|sed\s+(?:-n\s+)?['\"]?1p|awk\s+'NR==1|cut\s+-d\S*\s+-f\s*1\b)")
SEQUENCE: Final = regex(r"seq(?: -s ?([^\s\ue000]+))?((?: -?\d{1,3}){1,3})")
SUM: Final = regex(r"expr ((?:\d{1,9} [-+*/%] ){1,9}\d{1,9})")
COUNTS: Final = regex(r"\|\s*wc\s+-l\s*$")
LOOKS_UP: Final = regex(r"which\s+([\w.+/-]+)")
"""A command for the path of a program, which each pod finds by its name."""
TO_FILE: Final = regex(r"(?<![2&])>\s*(?![\s&]|/dev/)")
_HOST: Final = regex(r"\bhostname\b|\bgetent\b|\bnslookup\b|\bdig\b|\bhost\s|scontrol\s+getaddrs|\bifconfig\b|\bip\s+a")
_OF_NAMES: Final = regex(r"\b(?:getent\s+a?hosts(?:v[46])?|nslookup|dig|host)\s")
"""Programs that ask for the address of the host that they name."""
_DOMAIN: Final = regex(r"\bhostname\s+(?:-\w*[dy]\w*|--(?:domain|yp|nis))\b")
_PART: Final = regex(
    r"\|\s*(?:cut\s+(?:-\S+\s+)*-[bc]|cut\s+-d\s*[\"']?[^\s\"'./%:,\\]|tr\s+-\w*d\w*\s+[\"']?(?!\\|\[:(?:space|blank)|[\s\"'])"
    r"|sed\s+(?:-[Er]\s+)*[\"']?s(.)(?!\\\.|\s|\[\[:space)|grep\s+-\w*o\w*\s+[\"']?[^.|\"']*[\"']?\s*(?:$|\|)"
    r"|(?:md5sum|cksum|sha1sum|od|wc|rev)\b|g?awk\s+(?:-F\s*[\"']?[-_\w]|[^|]*\bg?sub))"
)
"""Filters that leave a part or a number of a name."""
_ADDRESSES: Final = regex(r"inet|addr:|-[46]\b|\bcut\s+-d\s*[\"']?/|\\\.")


OF_JOB: Final = regex(r"^scontrol\s+(?:-\S+\s+)*show\s+job\b.*\b(Command|WorkDir)\b")
"""The path of the script itself, or the folder of `sbatch`."""
FOLDER_OF_SCRIPT: Final = "the folder of the script"


_READS_FILE: Final = regex(
    r"(?<![<&])<\s*(?![<(&]|/dev/)|(?<![\w-])(?:wc|head|tail|sort|shuf|tac|cut|md5sum|cksum|sha1sum|(?:e?grep|g?awk|sed)\s[^|;]*)"
    r"\s(?:[^|;]*\s)?\"?(?![\d.]+(?:\s|$))[\w${}/-]*[./][\w${}./-]*\"?\s*(?:$|[|;)])"
)


SHOWS_FILES: Final = regex(r"(?:cat|head|tail)\s[^|&;<>]*$")
"""A line that only shows files."""


def results_of(steps: Sequence[Step], shown_behind: Iterable[tuple[int, Step]], others: Collection[str]) -> list[Step]:
    """The lines behind all programs that show files of these: their text is the result of the run. `others` are files
    that the script writes, and logs, which the cluster keeps.
    """
    words = " ".join(source_text(word) for one in steps for word in (*one.words, *one.options, one.text))
    outputs = {posixpath.normpath(one.output[1]) for one in steps if one.output[1]}

    def is_result(path: str) -> bool:
        if not is_known(path.replace(RUN, "")) or path in others or posixpath.normpath(path) in outputs:
            return False
        return posixpath.basename(path) in words or not path.startswith(("/", "~", "..", START))

    last = [one for number, one in shown_behind if number == len(steps)]
    files = [
        (one, [word for word in one.words[1:] if not word.startswith("-") and not word.isdecimal()]) for one in last
    ]
    kept = [one for one, paths in files if paths and all(map(is_result, paths)) and not file_of_slurm(paths, others)]
    return kept if words.strip() else []


def reads_file(command: str) -> bool:
    """Whether a command reads a file, whose path depends on the folder of now."""
    return _READS_FILE.search(command) is not None


def _is_of_first_host(command: str, expanded: str, asked: set[str]) -> bool:
    """Whether a command of the batch part gives the name or the address of its host, which is the first one. Notes
    other names in `asked`, which a pod has in another way.
    """
    is_first = any(one in expanded for one in (ADDRESS, NODES, "localhost", marked("$HOSTNAME")))
    words = expanded.split()
    for at, one in enumerate(words):
        host = next((word for word in words[at + 1 :] if not word.startswith("-") and "=" not in word), "")
        if one == "ssh" and is_known(host) and host.rpartition("@")[2] not in ("localhost", "127.0.0.1"):
            return False
    steps = [options_of(words[at + 1 :], Location(""), Findings())[0] for at, one in enumerate(words) if one == "srun"]
    nodes = [one.value for options in steps for one in options if one.name == "nodelist"]
    if any(is_known(one) for one in nodes):
        return False
    other = ""
    if _OF_NAMES.search(command):
        return is_first or "hostname" in command
    if "getent" in command:
        other = "the answer of `getent`"
    elif "hostname" in command:
        other = "the domain of the host" if _DOMAIN.search(command) else ""
        other = other or ("a part of the name of the host" if _PART.search(command) else "")
    elif "getaddrs" not in command and not _ADDRESSES.search(command):
        other = "the interface of the network"
    asked |= {other} if other else set()
    return not other


def answer_of(
    command: str, expanded: str, folder: str, gpus: str | None, asked: set[str], *, in_task: bool
) -> str | None:
    """The output of a command that asks for nodes, GPUs or a folder, as a value of a pod. Notes in `asked` what a pod
    has in another way.
    """
    asked |= {FOLDER_OF_SCRIPT} if (field := OF_JOB.search(command)) is not None and field[1] == "Command" else set()
    listed = "scontrol" in command and "hostname" in command
    if listed or ("SLURM_JOB_NODELIST" in expanded and not in_task) or "SLURM_NODELIST" in command:
        return ADDRESS if FIRST.search(command) or "getent" in command else NODES
    is_given = "MASTER_ADDR" in expanded
    if is_given or (_HOST.search(command) and (not in_task or ADDRESS in expanded)):
        return ADDRESS if is_given or _is_of_first_host(command, expanded, asked) else None
    if re.match(r"nvidia-smi\b.*wc\s+-l", command):
        return gpus
    if (base := re.fullmatch(r"basename\s+(\S+)(?:\s+(\S+))?", expanded)) is not None:
        name = base[1].strip("\"'").rstrip("/").rpartition("/")[2]
        if not {START, OPEN} & {*name}:
            return name.removesuffix(base[2] or "").removeprefix("." if name == SCRIPT else "")
    if re.match(r"(?:dirname|readlink|realpath|cd|pwd)\b", command):
        return _folder(expanded, folder)
    looked_up = LOOKS_UP.fullmatch(expanded)
    return looked_up[1] if looked_up is not None else None


def _folder(command: str, folder: str) -> str | None:
    """The output of a command that asks for a folder."""
    command = re.sub(r"\s*(?:[12&]?>\s*/dev/null|2>&1)", "", command)
    if re.fullmatch(r"pwd(?:\s+-[LP])?", command):
        return folder
    asked = re.fullmatch(
        r"(cd|dirname|readlink|realpath)(?:\s+-[\w-]*)*\s+(\S+)(?:\s*(?:&&|;)\s*pwd(?: -P)?)?", command
    )
    is_name = asked is not None and asked[1] == "dirname" and "/" in asked[2].rpartition(CLOSE)[2]
    if asked is None or not (is_known(asked[2]) or is_name):
        return None
    if asked[1] == "dirname":
        return f"{START}/.." if asked[2] == START else posixpath.dirname(asked[2]) or "."
    return absolute(joined(folder.removeprefix(START).lstrip("/") if folder.startswith(START) else folder, asked[2]))


def counts_with(name: str, source: str) -> bool:
    """Whether a script computes with a variable."""
    return name != "" and re.search(rf"\(\([^\n]*(?<!\w){name}(?!\w)", source) is not None


class OutputLine(Struct, frozen=True, kw_only=True):
    """A line of the command that sets a variable to an output, or to a list of files."""

    text: str
    others: tuple[str, ...] = ()
    """Items of an array behind the output."""
    is_single: bool = False
    """Whether one program alone reads it, which can have the output itself."""


def line_of_output(name: str, value: str, known: Value, source: str, *, splits: bool) -> OutputLine | None:
    """The line for a variable of a script with the items `known`; None if its value can always take its place, which
    needs a shell that `splits` at blanks.
    """
    parts = sources(value)
    is_output = any(re.match(r"(?s)(?:\$\(\(.*)?\$\((?!\()|\$.*\b(?:RANDOM|SECONDS)\b", one) for one in parts)
    is_item = any(one.strip('"').startswith("${") and "[" in one for one in parts)
    lists_files = isinstance(known, tuple) and not {"*", "?"}.isdisjoint(parts)
    others = known[1:] if isinstance(known, tuple) and known[:1] == (value,) else ()
    written = value_in_command(name, value if others else known, source, is_output=is_output)
    if written is not None and lists_files:
        return None  # the pod takes one of its items
    if written is not None and (is_output or is_item):
        return OutputLine(text=written, others=others)
    if isinstance(known, tuple) and (is_output or lists_files):
        return OutputLine(text=f"({' '.join(map(shown, known))})", is_single=splits)
    if isinstance(known, str) and is_output and MARKED.fullmatch(known):
        return OutputLine(text=shown(known), is_single=splits)
    return None


def with_variables(
    step: Step, before: Sequence[Step], outputs: Iterable[tuple[Step, Value]], programs: Collection[str], *, stops: bool
) -> tuple[Step, set[str]]:
    """A program that reads outputs which the script computes before another program: from the variables that lines of
    their own set. `outputs` has these lines with the values. Those of `programs` may fail, which `stops` the script, or
    depend on files, as lists of files do. Returns the names of the variables, too.
    """
    computed = set[str]()
    for line, value in outputs:
        parts = {one.strip('"') for item in items_of(value) for one in sources(item)}
        of_files = not parts.isdisjoint({*programs, "*", "?"})
        is_late = _starts_program(before, line, changes=of_files)
        may_end = stops and line.sets != "MASTER_PORT"  # which the launcher has from the operator
        if is_late or (of_files and (may_end or step.folder != line.folder)):
            changed = _with_variable(step, line.sets, value)
            computed |= {line.sets} if changed != step else set()
            step = changed
    return step, computed


def _with_variable(step: Step, name: str, value: Value) -> Step:
    """A program with a variable in the place of its value."""

    def in_words(words: tuple[str, ...]) -> tuple[str, ...]:
        if isinstance(value, str):
            return tuple(map(in_word, words))
        at = next((at for at in range(len(words)) if value and words[at : at + len(value)] == value), None)
        every = marked(f'"${{{name}[@]}}"')
        return words if at is None else (*words[:at], every, *words[at + len(value) :])

    def in_word(word: str) -> str:
        part = str(value)[1:-1]
        word = word.replace(marked(part), marked(f"${name}")).replace(marked(f'"{part}"'), marked(f'"${name}"'))
        return word.replace(part, f"${name}")  # in an integer expression

    assigned = tuple((other, in_word(text) if isinstance(value, str) else text) for other, text in step.assigned)
    return replace(step, words=in_words(step.words), options=in_words(step.options), assigned=assigned)


def _starts_program(steps: Sequence[Step], line: Step, *, changes: bool) -> bool:
    """Whether a program starts behind a line, such as one that only `changes` folders."""
    behind = steps[steps.index(line) :] if line in steps else ()  # it may be in a loop that is not followed
    others = [one for one in BETWEEN if not (changes and one == ("mkdir",))]
    return any(not one.sets and one.words[:1] not in others for one in behind)


STARTS_SCRIPT: Final = regex(
    r"\$\(\s*(?:\w+=\S+\s+)*((?:\S*/)?(?:python[\d.]*\s+(?:-(?!c\b|-?[vV])\w+\s+)*\S+\.py\b|(?:ba)?sh\s+\S+\.sh\b"
    r"|\.?/(?!(?:usr|bin|sbin)/)[^\s)]+|srun\s(?![^)]*\b(?:hostname|nvidia-smi|date|env|printenv|uname|scontrol)\b))[^)]*)"
)
"""An output of a file of the user."""
NOT_STARTED: Final = "write it into `command`, if the run needs it"


def unread_outputs(steps: Iterable[Step], needed: Sequence[Step], named: Collection[str]) -> Iterator[DroppedPart]:
    """Programs with an output that no program reads, so the job does not start them, other than those with a name."""
    texts = "\n".join(source_text(part) for one in needed for part in (one.text, one.input, *_values_of(one)))
    for one in steps:
        name, _, value = one.text.partition("=")
        started = STARTS_SCRIPT.match(value.strip('"'))
        if started is None or one.sets != name or one in needed or value.strip('"') in texts:
            continue
        what = f"`{cut(started[1])}`"
        if what not in named:
            yield DroppedPart(one.place, what, "no program reads its output", NOT_STARTED)


def _values_of(step: Step) -> Iterator[str]:
    exported = (item for value in step.exported.values() for item in items_of(value))
    return chain(step.words, step.options, exported, (value for _, value in step.assigned))


def without_idle_separators(steps: Sequence[AnyStep]) -> list[AnyStep]:
    """The steps without changes of `IFS` behind which the shell splits nothing."""
    needed, splits = list[AnyStep](), False
    for step in reversed(steps):
        if step.sets != "IFS":
            splits = splits or _SPLITS.search(step.text) is not None
            needed.append(step)
        elif splits or any(one.sets == "IFS" for one in needed):
            needed.append(step)
            splits = False
    return needed[::-1]


_SPLITS: Final = regex(r"=\([^)]{0,999}\$|\bfor\s+\w+\s+in\b[^;\n]{0,999}\$|\bread\b")


def is_of_program(steps: Iterable[Step], path: str, variables: Mapping[str, Value]) -> bool:
    """Whether a program of the script gets a path, or a folder above it, so that it may make or remove the file."""
    path = path.removeprefix("./")
    around = {path[:at] for at in range(1, len(path)) if path[at] == "/"} | {path}
    around -= {".", "..", "", START}
    for step in steps:
        if step.words[:1] in BETWEEN or step.words[:1] in _OF_FILES or step.sets:
            continue
        words = [one for one in (*step.words[1:], *step.options) if not one.startswith("--container")]
        words += [value for name in VARIABLE.findall(step.text) for value in items_of(variables.get(name, ()))]
        words += step.text.replace('"', " ").replace("'", " ").split()
        values = (one.rstrip("/").removeprefix("./") for word in words for one in (word, word.partition("=")[2]))
        if not around.isdisjoint(values):
            return True
    return False


_OF_FILES: Final = [(one,) for one in ("mkdir", "rm", "rmdir", "touch", "chmod")]


def file_of_tee(*, hides: bool) -> tuple[str, str, str]:
    """The finding about `| tee`, which `hides` the status of its program."""
    status = ", and the status is that of the program instead of `tee`" if hides else ""
    hint = "read the logs with `gen logs`, or redirect the output in `command`"
    return "the file of `tee`", f"the cluster keeps the logs{status}", hint


_MANY: Final = regex(r"[;|&\n]")
_WHOLE: Final = regex(r"(?:if|for|while|until|case|\{|\()(?!\w)")
"""A construct whose redirection is that of all its programs."""


def with_output(steps: Sequence[Step], output: tuple[str, str]) -> list[Step] | None:
    """The programs of a loop, function or shell with its file, to which each but the first one appends; None if only
    the construct itself can have it.
    """
    made, sign = list[Step](), output[0]
    if ">>" not in sign and any(one.background for one in steps[:-1]):
        return None  # the first one can empty the file behind the output of another one
    for one in steps:
        is_last = one is steps[-1] and not made
        if not is_last and (one.sets or one.output[1] or one.words[:1] in (*BETWEEN, *_OF_FILES, ("cd",))):
            made.append(one)
            continue
        if one.text and len(steps) > 1 and _MANY.search(one.text) and not _WHOLE.match(one.text):
            return None
        made.append(replace(one, output=(sign, output[1])))
        sign = output[0] if ">>" in output[0] else f"{output[0]}>"
    return made


def output_of_tee(parts: Sequence[str]) -> tuple[str, str]:
    """`| tee` and its file as the output of a program. `parts` are those of a pipeline of both; others have no file."""
    match = _TEE.fullmatch(parts[-1])
    if match is None or parts[2:] != parts[-1:]:
        return "", ""
    merges = parts[1] == "|&" or "2>&1" in parts[0]
    return f"{'2>&1 ' * merges}| tee{' -a' * bool(match[1])}", match[2].strip("\"'")


_TEE: Final = regex(r"tee\s+(-a\s+|--append\s+)?([^\s-]\S*|\"[^\s\"]+\")")
