"""The commands of a batch script, without modules, environments and `srun`."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from gen.diagnostics import Location
from gen.findings.jobs import SECRET_VALUE
from gen.importers.draft import is_secret
from gen.importers.slurm.options import Option, name_of, options_of
from gen.regex import regex

if TYPE_CHECKING:
    from gen.importers.draft import JobDraft

_MODULE: Final = regex(r"\s*(?:module|ml)\s+(?P<rest>.*)")
_ENVIRONMENT: Final = regex(r"\s*(?:conda|mamba|micromamba)\s+activate\b|\s*(?:source|\.)\s+\S*(?:activate|conda)")
_SOURCE: Final = regex(r"\s*(?:source|\.)\s+(?P<file>\S+)")
_SRUN: Final = regex(
    r"(?P<before>^|[;&|(]\s*|\s(?:then|do|time|exec)\s+|^\s*(?:time|exec)?\s*)srun\s+(?P<rest>.*)", re.DOTALL
)
_SCRATCH: Final = regex(
    r"\$\{?(?:SCRATCH|WORK|PSCRATCH|SLURM_TMPDIR|TMPDIR|LOCAL_SCRATCH|PROJECT|STORE)\b\}?"
    r"|/(?:scratch|lustre|gpfs|work|project)\b[^\s'\";]*"
)
_VARIABLE: Final = regex(r"\$\{?(SLURM_[A-Z_]+)")
_CONTAINER: Final = regex(r"\b(?:singularity|apptainer|docker|podman|shifter)\s+(?:exec|run)\b")
_ASSIGNMENT: Final = regex(r"(?:^|[\s;&|(])(?P<name>[A-Za-z_]\w*)=(?P<value>\"[^\"]*\"|'[^']*'|[^\s;&|()\"']+)")
_ONLY_EXPORT: Final = regex(r"\s*(?:export\s+)?[A-Za-z_]\w*=\S+\s*")
_HOSTS: Final = regex(r"scontrol\s+show\s+host(?:name)?s?\b")


class Body(Struct):
    """Commands for a container."""

    lines: list[str]
    options: list[Option] = field(default_factory=list)
    """Those of the first `srun`."""
    steps: int = 0
    """Number of `srun` commands."""
    variables: set[str] = field(default_factory=set)
    """Variables of Slurm that the commands use."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")


def read_body(draft: JobDraft, text: str, file: str, start: int) -> Body:
    """The commands after the directives; `start` is the number of lines before them."""
    body = Body([])
    lines = text.split("\n")[start:]
    index = 0
    while index < len(lines):
        place = Location(file, start + index + 1)
        line, index = _whole(lines, index)
        _line(draft, body, line, place)
    used = _VARIABLE.findall(body.text)
    body.variables.update(used)
    return body


def _whole(lines: list[str], index: int) -> tuple[str, int]:
    """A line with those that continue it, and the index of the next one."""
    whole = [lines[index]]
    while whole[-1].endswith("\\") and index + 1 < len(lines):
        index += 1
        whole.append(lines[index])
    return "\n".join(whole), index + 1


def _line(draft: JobDraft, body: Body, line: str, place: Location) -> None:
    hint = "install it in the image"
    if (module := _MODULE.match(line)) is not None:
        draft.drop(place, f"`module {module['rest'].strip()}`", "a container has no modules", hint)
        return
    if _ENVIRONMENT.match(line) is not None:
        draft.drop(place, f"`{line.strip()}`", "a container has an environment of its own", hint)
        return
    if (source := _SOURCE.match(line)) is not None:
        hint = "put the file into the image, or write its variables as `env`"
        draft.drop(place, f"the file `{source['file']}`", "gen reads no files that a script names", hint)
    if (scratch := _SCRATCH.search(line)) is not None:
        hint = "mount a volume of the overlay with `data`, and use its path"
        draft.drop(place, f"the path `{scratch[0]}`", "a pod has only its volumes", hint)
    if _CONTAINER.search(line) is not None:
        hint = "set `image` to this image, and write only the program as `command`"
        draft.drop(place, "the image of the command", "a pod is a container already", hint)
    if _HOSTS.search(line) is not None:
        hint = "use `$MASTER_ADDR` and `$MASTER_PORT`; pods of `kind: mpi` have `/etc/mpi/hostfile` instead"
        draft.drop(place, "the list of nodes", "pods have no list of hosts", hint)
    if line.lstrip().startswith("#SBATCH"):
        draft.drop(place, f"`{line.strip()}`", "Slurm ignores it behind the first command", "remove it")
        return
    if not _is_secret_variable(draft, line, place):
        body.lines.append(_without_srun(draft, body, line, place))
    elif line[:1].isspace():
        body.lines.append(f"{line[: -len(line.lstrip())]}:")  # a condition or a loop needs a command


def _is_secret_variable(draft: JobDraft, line: str, place: Location) -> bool:
    """Whether a line only sets a variable to a secret, which becomes a reference. Other lines with one are errors."""
    for match in _ASSIGNMENT.finditer(line):
        name, value = match["name"], match["value"].strip("\"'")
        if "$(" in match["value"] or "`" in value or not is_secret(name, value):
            continue
        if _ONLY_EXPORT.fullmatch(line):
            draft.variable(name, value, place)
            return True
        hint = "set it on a line of its own, which becomes a reference to a Secret; revoke it if it was ever pushed"
        draft.found.error(
            SECRET_VALUE, place, f"`{name}` in the command is a secret, judging by its name or form", hint
        )
    return False


def _without_srun(draft: JobDraft, body: Body, line: str, place: Location) -> str:
    """The program of `srun`: every pod runs the command of the job."""
    match = _SRUN.match(line) or _SRUN.search(line)
    if match is None:
        return line
    body.steps += 1
    rest = match["rest"].replace("\\\n", " ")
    words = rest.split()
    count = _option_words(words)
    try:
        options, _ = options_of(shlex.split(" ".join(words[:count])), place, draft.found)
    except ValueError:
        options = []
    if not body.options:
        body.options = options
    before = line[: match.start("before")] + match["before"]
    return before + " ".join(words[count:]) if "\n" in match["rest"] else before + _after(match["rest"], words[:count])


def _after(rest: str, words: list[str]) -> str:
    """The text behind some words, with its spaces."""
    for word in words:
        rest = rest.lstrip()[len(word) :]
    return rest.lstrip()


def _option_words(words: list[str]) -> int:
    """Number of words that are options of `srun`, with their values."""
    index = 0
    while index < len(words) and words[index].startswith("-"):
        index += 2 if name_of(words[index])[2] else 1
    return min(index, len(words))
