"""Programs as lines of the command of a job, in the way a person writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gen.base import regex
from gen.importers.draft import literal
from gen.importers.slurm.expansion import shown
from gen.importers.slurm.programs import STATUS, text_of_words
from gen.importers.slurm.site import OF_KIND
from gen.importers.slurm.steps import WRAPPERS, Run, is_left_out

_SETTING: Final = regex(r"[\"']?[+~]{0,2}[A-Za-z][\w./@]*\.[\w./@]+=")
"""A setting of a program with Hydra, such as `model.lr=1`."""
WIDE: Final = 110  # characters of a line, beyond which each option gets its own
_NEEDLESS: Final = ("exit", "exit 1")  # behind the last program, whose failure ends the pod


def line_of(run: Run) -> str:
    """The command as a person writes it."""
    if run.background:
        return f"{line_of(replace(run, background=False))} &"
    if run.text:
        return " ".join((run.text, *_ends(replace(run, input=""))))  # it has its input
    variables_of = (f"{name}={shown(value)}" for name, value in (*run.numbers, *of_program(run)))
    line = " ".join(words := [*variables_of, *text_of_words(run.words), *_ends(run)])
    if len(line) <= WIDE:
        return line
    at = 1
    if words[0] in ("mpirun", *WRAPPERS):  # its own options stay before the program
        while at < len(words) and (words[at].startswith("-") or words[at - 1] in ("-np", "-npernode", "-x")):
            at += 1
    parts = [" ".join(words[: at if at == 1 else at + 1])]
    for word in words[at if at == 1 else at + 1 :]:
        short = re.fullmatch(r"-[A-Za-z]\w*", word) and len(parts) > 1 and not parts[-1].startswith("-- ")
        program = word.endswith((".py", ".sh")) and re.match(r"--[^\s=]+[ =]", parts[-1])  # behind a value
        starts = word.startswith(("--", "'--", '"--')) or short or program or _SETTING.match(word)
        parts[-1:] = [parts[-1], word] if starts else [f"{parts[-1]} {word}"]
    return " \\\n  ".join(parts)


def _ends(run: Run) -> list[str]:
    """The files and the other command of a program, behind its words."""
    files = [*(("<", shown(run.input)) if run.input else ())]
    sign, path = run.output
    files += [sign.removeprefix("&"), shown(path), *(("2>&1",) if sign.startswith("&") else ())] if path else ()
    return [*files, *(("||", run.otherwise) if run.otherwise and STATUS not in run.otherwise else ())]


def of_program(run: Run) -> list[tuple[str, str]]:
    """The variables that are set for a program alone, without those of the machines and of the kind."""
    return [one for one in run.assigned if not is_left_out(run, *one) and one[0] not in OF_KIND]


def text_of_command(runs: Sequence[Run]) -> str:
    """The text of all programs, with expressions only for the id of the run and parameters."""
    lines: list[str] = []
    last = re.sub(f"^{STATUS}", "exit ", runs[-1].otherwise) if runs else ""
    runs = [*runs[:-1], *(replace(one, otherwise=last * (last not in _NEEDLESS)) for one in runs[-1:])]
    for one in runs:
        lines[-1:] = [f"{line} &&" if one.joined else line for line in lines[-1:]]
        lines.append(line_of(one))
    text = literal("\n".join(lines).replace("{{ run.id }}", "\ue002").replace("{{ params.task }}", "\ue003"))
    return re.sub(r"\ue002|\$GEN_RUN_ID", "{{ run.id }}", text).replace("\ue003", "{{ params.task }}")
