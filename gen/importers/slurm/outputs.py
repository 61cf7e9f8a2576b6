"""Outputs of commands: values of a pod, or variables of the command if other programs start before their use."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from gen.base import names, regex
from gen.importers.slurm.expansion import ADDRESS, CLOSE, NODES, OPEN, START, is_known, marked, sources
from gen.importers.slurm.programs import BETWEEN, VARIABLE, Step, absolute, joined

ASKS: Final = names(
    "awk basename bc cd cksum comm cut date dig dirname echo egrep expr gawk getent grep head host hostname id "
    "ifconfig ip lsof md5sum netstat nproc nslookup nvidia-smi od paste printf pwd readlink realpath rev scontrol sed "
    "seq sha1sum shuf sort srun ss ssh tac tail tr uniq uuidgen wc which whoami xargs"
)
"""Programs with an output that depends on nodes, ids, random numbers and folders only, or on that of the others."""
FIRST: Final = regex(r"(?:^|[|(`])\s*(?:head\s+-n?\s*1\b|sed\s+(?:-n\s+)?['\"]?1p|awk\s+'NR==1|cut\s+-d\S*\s+-f\s*1\b)")
SEQUENCE: Final = regex(r"seq((?: -?\d{1,3}){1,3})")
SUM: Final = regex(r"expr ((?:\d{1,9} [-+*/%] ){1,9}\d{1,9})")
COUNTS: Final = regex(r"\|\s*wc\s+-l\s*$")
TO_FILE: Final = regex(r"(?<![2&])>\s*(?![\s&]|/dev/)")
_HOST: Final = regex(r"\bhostname\b|\bgetent\b|\bnslookup\b|\bdig\b|\bhost\s|scontrol\s+getaddrs|\bifconfig\b|\bip\s+a")


OF_JOB: Final = regex(r"^scontrol\s+(?:-\S+\s+)*show\s+job\b.*\b(Command|WorkDir)\b")
"""The path of the script itself, or its folder."""


def answer_of(command: str, expanded: str, folder: str, gpus: str | None, *, in_task: bool) -> str | None:
    """The output of a command that asks for nodes, GPUs or a folder, as a value of a pod."""
    listed = "scontrol" in command and "hostname" in command
    if listed or ("SLURM_JOB_NODELIST" in expanded and not in_task) or "SLURM_NODELIST" in command:
        return ADDRESS if FIRST.search(command) or "getent" in command else NODES
    if (_HOST.search(command) and (not in_task or ADDRESS in expanded)) or "MASTER_ADDR" in expanded:
        return ADDRESS
    if re.match(r"nvidia-smi\b.*wc\s+-l", command):
        return gpus
    if (base := re.fullmatch(r"basename\s+(\S+)(?:\s+(\S+))?", expanded)) is not None:
        name = base[1].strip("\"'").rstrip("/").rpartition("/")[2]
        if not {START, OPEN} & {*name}:
            return name.removesuffix(base[2] or "")
    if re.match(r"(?:dirname|readlink|realpath|cd|pwd)\b", command):
        return _folder(expanded, folder)
    return command.split()[1] if re.fullmatch(r"which\s+\S+", command) else None


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


def with_variables(
    step: Step, before: Sequence[Step], outputs: Mapping[str, Step], programs: Collection[str], *, stops: bool
) -> tuple[Step, set[str]]:
    """A program that reads outputs which the script computes before another program: from the variables that lines of
    their own set. `outputs` has the line of each; those of `programs` may fail, which `stops` the script, or depend on
    files. Returns the names of the variables, too.
    """
    values = (*step.words, *step.options, *(value for _, value in step.assigned))
    read = {one.strip('"') for value in values for one in sources(value)} & outputs.keys()
    computed = {
        part: outputs[part].sets
        for part in sorted(read)
        if _starts_program(before, outputs[part], changes=part in programs) or (stops and part in programs)
    }

    def with_names(word: str) -> str:
        for part, name in computed.items():
            word = word.replace(marked(part), marked(f"${name}")).replace(marked(f'"{part}"'), marked(f'"${name}"'))
        return word

    words, options = (tuple(map(with_names, one)) for one in (step.words, step.options))
    assigned = tuple((name, with_names(value)) for name, value in step.assigned)
    return replace(step, words=words, options=options, assigned=assigned), {*computed.values()}


def _starts_program(steps: Sequence[Step], line: Step, *, changes: bool) -> bool:
    """Whether a program starts behind a line, such as one that only `changes` folders."""
    behind = steps[steps.index(line) :] if line in steps else ()  # it may be in a loop that is not followed
    others = [one for one in BETWEEN if not (changes and one == ("mkdir",))]
    return any(not one.sets and one.words[:1] not in others for one in behind)


def first_needing(name: str, text: str, steps: Sequence[Step]) -> int:
    """The number of the first program, or output of one, that gets an exported variable, behind what sets its value."""
    lines = [number for number, one in enumerate(steps) if one.sets in {*VARIABLE.findall(text)} - {name}]
    late = max(lines, default=-1) + 1
    needs = (number for number, one in enumerate(steps) if name in one.exported and (not one.sets or "$(" in one.text))
    return next((number for number in needs if number >= late), 0)
