"""Values that a script has from outside, and a job lacks: arguments, variables in the place of options or mounts, and
answers of Slurm to programs of other languages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from gen.base import Findings, Location, names, regex
from gen.importers.draft import JobDraft
from gen.importers.slurm.bash_text import closing_quote, without_heredocs
from gen.importers.slurm.containers import Lacking, container_words
from gen.importers.slurm.expansion import CLOSE, OPEN, marked
from gen.importers.slurm.lines import read_by
from gen.importers.slurm.options import DEFINED, Option, options_of
from gen.importers.slurm.programs import AnyStep, DroppedPart, Step
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.site import TEMPLATE
from gen.importers.slurm.srun import set_at
from gen.job.launchers import base

_MOST_OPTIONS: Final = 9
_OPTIONS: Final = regex(rf"{OPEN}\$\{{?\w*(?:SRUN|ARG|OPT|FLAG|RESUME|CONTAINER)\w*\}}?{CLOSE}", re.IGNORECASE)


def with_values(option: Option, values: Mapping[str, str], places: Mapping[str, Location]) -> Option:
    """An option with the values of variables: Slurm expands none, but scripts are often templates. Its place is that of
    the value, if this has one.
    """
    names = [one or other for one, other in DEFINED.findall(option.value)]
    place = next((places[name] for name in names if name in places), option.place)
    value = DEFINED.sub(lambda match: values.get(match[1] or match[2], match[0]), option.value)
    return Option(option.name, value, place)


def without_variables(words: Sequence[str]) -> list[str]:
    """The words behind `srun` without variables from outside in the place of options, which are often empty."""
    given = [*words]
    for _ in range(_MOST_OPTIONS):
        _, rest = options_of(given, Location(""), Findings())
        if not rest or not _OPTIONS.fullmatch(rest[0]):
            break
        del given[-len(rest)]
    return given


def report_unset(script: BatchScript, options: Iterable[Option], given: Collection[str]) -> None:
    """Options with a variable that the script does not set: without a value, `srun` takes the next word for it."""
    for one in options:
        name = one.value[2:-1]
        if one.name in ("nodelist", "exclude") and (name.startswith("SLURM_") or not name.isidentifier()):
            continue  # which has a value
        unset = name in script.early or name in script.kept or name not in script.variables
        if one.value == marked(f"${name}") and name.isidentifier() and name not in given and unset:
            what, why = f"the value `${name}` of `--{one.name}`", "the script gets it from outside"
            hint = f"give it with `--define {name}=VALUE`, or set it in the script"
            of_itself = script.variables.get(name) == marked(f"${name}")  # `A=$A`
            later = name in script.early & script.variables.keys() and not of_itself
            if later or name in script.kept:
                why = "the script sets it only in a later line" if later else "only a shell decides it"
                hint = "set it in the script, or remove the option"
            else:
                script.needed_values.append(name)
            script.left.append(DroppedPart(one.place, what, why, hint))


_TAKES_ARGUMENTS: Final = regex(
    r"(?m)^\s*(?:while|until)\b.*(?:\bgetopts\b|\$(?:#|\{#\}|\{?1\b))|^[^#\n]*\bgetopt\s.*\$@"
)


def report_arguments(
    draft: JobDraft, script: BatchScript, runs: Iterable[tuple[Step, int, bool]], lacking: Lacking
) -> None:
    """Report the arguments of the script that its programs get, if the user does not give them. Each program has the
    index of its launcher, and whether that is one.
    """
    if script.are_given or script.arguments or not script.has_more:
        return
    text = "\n" * (script.first_line - 1) + script.source
    starts = [(script.place(one).line - script.first_line, one) for one in script.functions.values()]
    inner = [(first, first + script.text(one).count("\n")) for first, one in starts]
    lines = [*enumerate(script.source.split("\n"))]
    outside = [(at, one) for at, one in lines if not any(first <= at <= last for first, last in inner)]
    what, why = "`$@`", "the arguments of the script are those of `sbatch`"
    hint = "give the first one with `--define 1=VALUE`, and the next one with `--define 2=VALUE`"
    loops = {name for name, one in script.functions.items() if _TAKES_ARGUMENTS.search(script.text(one))}
    takes = (at for at, one in outside if _TAKES_ARGUMENTS.search(one) or ("$@" in one and {*one.split()[:1]} & loops))
    if (line := next(takes, None)) is not None:
        draft.drop(Location(script.file, line + script.first_line), what, why, hint)
    if not _reads_arguments("\n".join(one for _, one in outside)):
        return
    for run, at, is_launcher in runs:
        if not run.words or not _reads_arguments(read := read_by(text, run.place.line)):
            continue
        what = "`$*`" if re.search(r"\$\{?\*", read) and not re.search(r"\$\{?@", read) else "`$@`"
        begins = (*_interpreters(run.words), *((at,) if is_launcher else ()))
        alone = [one for one in begins if all(word.startswith("-") for word in run.words[one + 1 :])]
        if alone:
            program = run.words[alone[0]].rpartition("/")[2]
            program = f"accelerate {program}" if program == "launch" else program
            lacking.values.append("1")
            draft.cannot_run(run.place, f"`{program}` has no script, because it is an argument of `sbatch`", hint)
        else:
            draft.drop(run.place, what, why, hint)


_INTERPRETER: Final = regex(r"(?:.*/)?(?:python[\d.]*|(?:ba)?sh)")
_STARTERS: Final = names(
    "mpirun mpiexec orterun horovodrun nohup time timeout nice stdbuf unbuffer numactl taskset env exec"
)
"""Programs that start another one behind their options."""


def _interpreters(words: Sequence[str]) -> list[int]:
    """The numbers of the words of a command that start an interpreter, such as Python behind `mpirun`."""
    starts = words[0].rpartition("/")[2] in _STARTERS
    found = (at for at, one in enumerate(words) if _INTERPRETER.fullmatch(one))
    return [at for at in found if at == 0 or starts or not words[at - 1].startswith("-")]


_MOUNTS: Final = r"(?:--(?:container-mounts|bind|volume|mount)[= ]|\s-[Bv] )[^\s]*"


def _only_in_mounts(script: BatchScript, names: Collection[str], mounts: Collection[str]) -> set[str]:
    """Those of some variables with `mounts` that the script reads in options for them only, and the variables that it
    reads in their values only.
    """
    lines = [one for one in script.source.split("\n") if not one.lstrip().startswith("#")]
    reads = {name: [one for one in lines if re.search(rf"\$\{{?{name}\b", one)] for name in names}
    option = {name: regex(rf"{_MOUNTS}\$\{{?{name}\b") for name in mounts}
    found = {name for name in mounts if reads[name] and all(map(option[name].search, reads[name]))}
    for _ in range(2):
        sets = regex("|".join([r"(?!)", *(rf"\s*(?:export\s+)?{name}=[^;&|]*" for name in sorted(found))]))
        found |= {name for name, own in reads.items() if own and all(map(sets.fullmatch, own))}
    return found


def without_mount_values(script: BatchScript, runs: list[AnyStep]) -> list[AnyStep]:
    """The programs without variables for mounts that the job does not have. Names each variable."""
    carried = container_words(script)
    last = runs[-1].exported if runs else {}
    texts = {name: value for name, value in last.items() if isinstance(value, str) and "/" in value}
    lost = {name for name, one in texts.items() if ":" in one.strip(":") and not {*one.split(",")} <= carried}
    left = _only_in_mounts(script, last.keys(), lost) if lost else set[str]()
    for name in sorted(left):
        hint = "add it to `env` if the program reads it"
        place = set_at(script, name, script.exported.get(name) or runs[-1].place)
        script.left.append(
            DroppedPart(
                place, f"the variable `{name}`", "the script reads it only for a mount that the job lacks", hint
            )
        )
    return [
        replace(one, exported={name: one.exported[name] for name in one.exported if name not in left}) for one in runs
    ]


_LANGUAGES: Final = regex(r"(?:python|perl|ruby|node|Rscript|julia)[\d.]*")
_READS_SLURM: Final = regex(r"(environ\[\s*[\"']|(?<![\w$])(?<!\$\{))(SLURM_\w+)")
_STARTS_SLURM: Final = regex(rf"(?<![\w.-])({'|'.join(sorted(base.PROGRAMS))})(?![\w.-])")


def _texts_of_programs(step: Step) -> Iterator[tuple[str, str]]:
    """The programs of other languages in the words of a command or behind `<<`, with the commands that start them."""
    names_of = [one.rpartition("/")[2] for one in (step.words or step.text.partition("\n")[0].split())]
    language = next((one for one in names_of if _LANGUAGES.fullmatch(one)), "")
    if language and not step.words and "<<" in step.text:
        yield f"{language} <<", step.text
    for option, text in pairwise(step.words if language else ()):
        if option in ("-c", "-e"):
            yield f"{language} {option}", text


def report_languages(draft: JobDraft, steps: Iterable[Step]) -> None:
    """Report what programs of other languages in the script ask Slurm for."""
    for step in steps:
        for start, text in _texts_of_programs(step):
            read = [one for one in _READS_SLURM.finditer(text) if one[2] not in draft.fields.get("env", {})]
            needed = next((one[2] for one in read if one[1]), "")
            hint = "use the variables of the kind, such as `RANK`, or give the value as an argument"
            if needed:
                draft.cannot_run(step.place, f"only Slurm sets `{needed}`, which the program of `{start}` needs", hint)
            elif read:
                draft.drop(step.place, f"`{read[0][2]}` for the program of `{start}`", "only Slurm sets it", hint)
            if (asked := _STARTS_SLURM.search(text)) is not None:
                what, why = f"`{asked[1]}` in the program of `{start}`", "no pod has the programs of Slurm"
                draft.drop(step.place, what, why, "write the value that it gives, or remove it")


_OF_ITS_NAME: Final = regex(r"([A-Za-z_][\w-]*)(?:[= ]|:-)[\"']\{\{-?\s*([\w.]+)\s*-?\}\}[\"']")
"""A value such as `--model "{{ model }}"`, which the tool of a template replaces."""


def _in_quotes(text: str) -> list[range]:
    """The positions of a script in quotes, outside of comments and here-documents."""
    text, at, made = without_heredocs(text), 0, []
    while at < len(text):
        char, end = text[at], at + 1
        if char == "\\":
            end += 1
        elif char == "#" and (at == 0 or text[at - 1].isspace()):
            end = (text.find("\n", at) + 1) or len(text)
        elif char in "\"'":
            end = (text.find(char, end) if char == "'" else closing_quote(text, at)) + 1 or len(text)
            made.append(range(at, end))
        at = end
    return made


def expression_of_template(text: str) -> re.Match[str] | None:
    """The first expression of a template. In quotes, it is a value that a program gets as it is."""
    quoted = _in_quotes(text)
    for match in TEMPLATE.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        names = (
            one[1].replace("-", "_").lower() == one[2].lower()
            for one in _OF_ITS_NAME.finditer(text, start, match.end() + 1)
        )
        inside = any(match.start() in one for one in quoted) and not any(names)
        if not inside and re.match(r"\s*#(?!SBATCH\b)", text[start : match.start()]) is None:
            return match
    return None


def _reads_arguments(text: str) -> bool:
    """Whether a text has all arguments of the script, outside of single quotes."""
    return re.search(r"(?<!\\)\$(?:[@*]|\{[@*](?!:?[-=+?]))", re.sub(r"'[^']*'|(?m:^\s*#.*)", "", text)) is not None
