"""Findings about the command of a job: values, ranks and shells that a pod does not have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from gen.base import Location, names, regex
from gen.base.shell_script import assigned_in, nodes_below, syntax_tree
from gen.importers.draft import JobDraft
from gen.importers.slurm.apptainer import PROGRAMS
from gen.importers.slurm.bash_text import MAX_LEVELS, cut, expanded_part, without_escaped, without_shown
from gen.importers.slurm.expansion import CLOSE, OPEN, RUN_ID, marked, shown, source_text, sources
from gen.importers.slurm.inputs import READS
from gen.importers.slurm.programs import (
    SCRIPT,
    VARIABLE,
)
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.site import (
    OF_KIND,
    WITHOUT_SRUN,
)
from gen.importers.slurm.steps import (
    GIVEN,
    PYTHON,
    RENDEZVOUS,
    WRAPPERS,
    Run,
    parts_of,
)
from gen.importers.slurm.traps import INNER_SRUN, OF_OUTPUT, STARTS_SRUN
from gen.job.launchers import base

_ID_AS_NUMBER: Final = regex(r"(?i)\$\(\((?:\)?[^)]){0,999}?\{\{ run\.id|seed[ =][\"']?\{\{ run\.id \}\}(?![\w-])")
_LOST: Final = regex(r"the variable `(\w+)` is not carried: the command has its value")
_ASKS_OTHERS: Final = regex(rf"\$\(\s*({'|'.join(sorted((*base.PROGRAMS, 'ssh')))})\b")
_TEXT_ASKS_SLURM: Final = regex(
    r"(?m)(?:^|[;&|({`!]|\b(?:then|do|else|if|elif|while|until)\b)[ \t]*"
    r"(scontrol(?=\s+(?:-\S+\s+)*show\b)|squeue|sinfo|sacct)\s"
    r"|(?:\$\(|[{`!]|\b(?:if|elif|while|until)\b)\s*(sbatch)\s"
)
_RANKS: Final = frozenset({marked("$RANK"), marked("$OMPI_COMM_WORLD_RANK")})
_PASSED: Final = regex(r"\bRANK=|((?i:rank)\w*[= ]|\s(?!--)[^\s=]+ )[\"']?\$\{?(OMPI_COMM_WORLD_)?RANK\b(?![^\"'}\s])")
_OWN_FILE: Final = regex(r"^/(?!(?:usr|opt|bin|sbin)/).*/[\w-]+$")
"""A program without an extension in a folder of the user, which may be a script of the shell."""
_INTERPRETED: Final = regex(r"python[\d.]*|(?:ba)?sh|.*\.(?:py|sh)")
_OF_SHELL: Final = regex(r"(?:(?:(?:ba)?sh|source) )?([\w./-]+\.sh)(?: .*)?", re.DOTALL)
_OF_MPI: Final = regex(r"(?m)^(?!\s*#).*(?:mpi4py|horovod|\bhvd\b)")


def report_ranks(draft: JobDraft, source: str, runs: Sequence[Run], command: str) -> None:
    """Report the variables of Slurm that give each task its rank, if a program can read them itself."""
    passes = re.search(r"SLURM_(?:PROC|LOCAL|NODE)ID", source) is not None  # the ranks in variables of its own
    for run in (one for one in runs if one.by_srun and one.tasks == 1 and not passes):
        if (file := _OF_SHELL.fullmatch(" ".join(map(source_text, run.words)) or run.text)) is not None:
            what = f"the rank of `{cut(file[1].rpartition('/')[2])}` in `$SLURM_PROCID` and `$SLURM_LOCALID`"
            draft.drop(
                run.place, what, "a pod has no variables of Slurm", "set them to 0 in `env`, if the file reads them"
            )
            break
    for run in (one for one in runs if one.by_srun and one.launcher is None and one.tasks > 1):
        words = [shown(one).rpartition("/")[2] for one in run.words]
        known = _INTERPRETED if {*words[:1]} & WRAPPERS else PYTHON
        starts = any(_INTERPRETED.fullmatch(one) for one in words[:1]) or any(map(known.fullmatch, words))
        starts = starts or any(map(sources, run.words[:1]))  # a variable has the program
        by_mpi = any(one.startswith("--mpi=") and one != "--mpi=none" for one in run.options)  # which a compiler made
        starts = starts or (not by_mpi and any(_OWN_FILE.search(shown(one)) for one in run.words[:1]))
        is_of_mpi = "--mpi" in " ".join(run.options) and _OF_MPI.search(source)
        passed = _RANKS & {*run.exported.values(), *(one for _, one in run.assigned)} or _PASSED.search(command)
        if not starts or is_of_mpi or passed:
            continue
        of_mpi = draft.fields["kind"] == "mpi"
        why = "a process has it in `$OMPI_COMM_WORLD_RANK`" if of_mpi else "a pod has it in `$RANK`"
        hint = "if the program reads it, `$SLURM_LOCALID` or `$SLURM_NTASKS`, as that of Lightning does, "
        hint += "start it with `torchrun`"
        draft.drop(run.place, "the rank in `$SLURM_PROCID`", why, hint)
        return


_OF_NUMBERS: Final = "give a number with `--define NAME=VALUE`, or compute one in `command`"


def _report_single(draft: JobDraft, run: Run, drawn: str) -> None:
    """Report a number that is `drawn`, and a check: the script has them once, and each of several pods has its own."""
    if drawn:
        draft.drop(run.place, f"the single value of `{cut(drawn)}`", "each pod draws its own", _OF_NUMBERS)
    if (check := OF_OUTPUT.match(run.text)) is not None:
        what, why = f"the single check `{cut(check[0].strip())}`", "each pod checks what its own program writes"
        draft.drop(run.place, what, why, "let only the first pod check it in `command`, if only that writes it")


_STARTS_CONTAINER: Final = regex(
    r"\b(?:timeout|nohup|nice|env|stdbuf|time|numactl|taskset)\s(?:[^;&|\n'\"]*\s)?((?:docker|podman)\s+(?:run|exec))\s"
)
"""A container behind the program that starts it."""
_OF_STATUS: Final = regex(r"\w+=\$\?|exit \$\w+")
"""A line about the status of tasks, which `mpirun` has, too."""


def report_shells(draft: JobDraft, script: BatchScript, runs: Sequence[Run]) -> None:
    """Report shells that start nothing in a pod or ask Slurm, constructs of a shell in tasks of MPI, and numbers."""
    several = draft.fields["kind"] != "mpi" and any(one.nodes > 1 for one in runs)
    lost = {match[1] for one in draft.found if (match := _LOST.match(one.message))}
    for run in runs:
        exported = (one for one in run.exported.items() if one[0] not in lost)
        values = (f"{name}={value}" for name, value in (*run.assigned, *exported))
        text = re.sub(f"[{OPEN}{CLOSE}]", "", " ".join((run.text, *run.words, *values)))
        if _ID_AS_NUMBER.search(text):
            draft.cannot_run(run.place, "the id of a run is not a number, which the script needs here", _OF_NUMBERS)
        if several:
            _report_single(
                draft, run, next((one for one in sorted(script.once) if "RANDOM" in one and one in text), "")
            )
        _report_inner_srun(draft, script, run)
        _report_container(draft, run)
        if asked := next((one[1] for part in parts_of(run) if (one := _ASKS_OTHERS.search(part)) is not None), ""):
            why = f"`{asked}` has no answer in a pod, and only a shell decides this value"
            draft.cannot_run(run.place, why, "write the value that it gives")
        if (within := _TEXT_ASKS_SLURM.search(run.text)) is not None:
            why = f"`{within[1] or within[2]}` has no answer in a pod, and only a shell decides this part"
            draft.cannot_run(run.place, why, "write the value that it gives")
        if run.text and run.by_srun and draft.fields["kind"] == "mpi" and not _OF_STATUS.fullmatch(run.text):
            why = "only a shell in each task decides this part, and `mpirun` starts programs only"
            draft.cannot_run(run.place, why, "write it into a file of the image, and start that with `srun`")
        words = run.words[1:] if run.words[:1] == ("mpirun",) else run.words
        started = words[1:2] if READS.fullmatch("".join(words[:1])) else words[:1]
        if any(source_text(one).strip('"').rpartition("/")[2] == SCRIPT for one in started):
            draft.cannot_run(
                run.place,
                "the script starts itself, and no pod has it",
                "write its commands into `command`",
            )
        if READS.fullmatch(" ".join(words)) and not run.input:
            why = "reads its commands from a terminal, which a pod does not have"
            draft.cannot_run(run.place, f"`{' '.join(words)}` {why}", "name the script that it runs")


_OUTPUT: Final = regex(r"^(?:export\s+)?\w+=\"?(?:\$\(|`)")


def _report_container(draft: JobDraft, run: Run) -> None:
    """Report a container that a shell of the pod starts, such as a function behind `||`, or another program."""
    tree = syntax_tree(source_text(run.text).encode("utf-8", "replace"), MAX_LEVELS)
    called = {
        (one.text or b"").decode("utf-8", "replace").rpartition("/")[2] for one in nodes_below(tree, "command_name")
    }
    for one in sorted(called & {*PROGRAMS, "shifter"}):
        why = f"`{one}` does not work in a pod, and only its shell decides this part"
        draft.cannot_run(run.place, why, "write its programs without it: the pod has their image")
    if (starts := _STARTS_CONTAINER.search(source_text(f"{run.text} {' '.join(run.words)}"))) is not None:
        hint = "start its program itself; the fields of the job replace the options"
        draft.cannot_run(run.place, f"`{starts[1]}` does not work in a pod, which has no container runtime", hint)


def _report_inner_srun(draft: JobDraft, script: BatchScript, run: Run) -> None:
    """Report `srun` that a shell of the pod or another program starts."""
    later = run.words[1:2] if run.words[:1] == ("trap",) else ()
    if any(map(INNER_SRUN.search, (run.text, *later, *parts_of(run)))):
        why = "`srun` does not work in a pod, and only its shell decides this part"
        head = run.text.partition("\n")[0]
        outputs = {name for one in script.steps if _OUTPUT.search(one.text) for name in assigned_in(one.text)}
        name = next((one for one in VARIABLE.findall(head) if one in outputs), "")
        hint = "write it without `srun`, or the value that it computes"
        draft.cannot_run(run.place, why, f"{hint}{f', or give that with `--define {name}=VALUE`' * bool(name)}")
    starts = map(STARTS_SRUN.search, (without_shown(run.text), *run.words))
    if (within := next(filter(None, starts), None)) is not None and (within[1] or run.words):
        program = within[1] or source_text(run.words[0]).rpartition("/")[2]
        draft.cannot_run(run.place, f"`{cut(program)}` starts `srun`, which does not work in a pod", WITHOUT_SRUN)


def _texts_of_shells(words: Sequence[str]) -> list[str]:
    """The texts behind `sh -c`."""
    pairs = zip(words, words[1:], words[2:], strict=False)
    return [text for shell, option, text in pairs if shell in ("sh", "bash") and option == "-c"]


def _without_own(text: str) -> str:
    """A text of a shell without variables that it sets itself, and without escaped ones."""
    own = "|".join([r"\\\$", *(rf"\$\{{?{name}\b" for name in assigned_in(text))])
    return re.sub(own, "", without_shown(expanded_part(text)))


_OF_ITSELF: Final = regex(rf"^(?:LD_LIBRARY_|PYTHON)?PATH=.*{OPEN}\$(?:LD_LIBRARY_|PYTHON)?PATH{CLOSE}")
"""A path of `mpirun -x` that begins with others and ends with that of the image."""


def unknown(draft: JobDraft, script: BatchScript, runs: Sequence[Run]) -> dict[str, Location]:
    """Values from outside without which the programs cannot run."""
    is_set = draft.fields["kind"] != "mpi" or any(one.text.startswith("export MASTER_ADDR=") for one in runs)
    known = {*GIVEN, *draft.fields.get("env", {}), *script.indexed, *script.from_text, RUN_ID}
    known -= set() if is_set else {*RENDEZVOUS}
    names: dict[str, Location] = {}
    of_shell = script.kept | script.never
    for run in runs:
        words = (_OF_ITSELF.sub("", word) if run.words[:1] == ("mpirun",) else word for word in run.words)
        outputs = [part.replace(r"\$", "") for word in words for part in sources(word)]
        texts = [*map(expanded_part, (*outputs, without_escaped(run.text)))]
        of_trap = run.words[1:2] if run.words[:1] == ("trap",) else ()
        texts += of_trap or map(_without_own, _texts_of_shells(run.words))
        known |= {
            *assigned_in(run.text),
            *assigned_in("".join(of_trap)),
            *(map(str, range(10)) if run.text.startswith("set -- ") else ()),
        }
        for name in (name for text in texts for name in VARIABLE.findall(text)):
            is_known = name in known and not (run.words and name in script.early - (GIVEN - OF_KIND))
            if not is_known and not (run.text and name in of_shell):
                names.setdefault(name, run.place)
    return names


def report_outside(draft: JobDraft, script: BatchScript, runs: Sequence[Run]) -> None:
    """Report values from outside that no other finding names, such as those of options that gen sets."""
    named = {*unknown(draft, script, runs), *script.kept, *(one for run in runs for one in assigned_in(run.text))}
    messages = " ".join(one.message for one in draft.found)
    for name, place in script.outside_values.items():
        if name not in named | (GIVEN - OF_KIND) and not re.search(rf"\$\{{?{name}\b", messages):
            given = "the pods have one of the job" if name in OF_KIND else "the job does without it"
            at = place.line - script.first_line
            lines = script.source.split("\n")
            before, behind = (name in assigned_in("\n".join(some)) for some in (lines[:at], lines[at:]))
            later = (before and name in script.early) or (behind and not before)
            where = "sets it only in a later line" if later else "does not export it" if before else "sets no value"
            hint = f"{'export it' if before and not later else 'set it before'}, or check that the job may have it"
            what = f"`${name}`{'' if before or behind else ' from outside'}"
            draft.drop(place, what, f"the script {where}, and {given}", hint)


_INSTALLS: Final = regex(r"(?:python[\d.]* -m )?(?:venv|pip[\d.]* install)|uv (?:pip install|venv|sync)|conda create")
_BRINGS: Final = names("cd chmod curl git mkdir source tar unzip wget")
"""Programs that bring files for an installation."""
_OF_RESULTS: Final = regex(
    r"--(?:(?:output|out|save|results?)[-_](?:dir|directory|folder|path|location)|(?:checkpoint|ckpt)[-_]dir|output|save"
    r"|save[-_](?:checkpoint|ckpt)[-_](?:dir|path)|default[-_]root[-_]dir|dirpath)"
    r"[ =](?![-/$])([\w.][\w./-]*)(?= |$)"
)
"""An option with a relative folder for what a program writes."""
_ON_VOLUME: Final = "mount a volume of the overlay with `data`, and write its path"


def report_results(draft: JobDraft, runs: Sequence[Run]) -> None:
    """Report what ends with the pod, if a job without volumes only installs something, or names a folder for it."""
    if draft.fields.get("data") or draft.fields.get("workingDir"):
        return
    texts = [(source_text(" ".join(one.words)) or one.text, one) for one in runs]

    def is_alone(folder: str) -> bool:
        return sum(folder in text for text, _ in texts if not text.startswith("mkdir ")) == 1

    installs = [one for text, one in texts if _INSTALLS.match(text)]
    if installs and all(_INSTALLS.match(text) or text.split()[0] in _BRINGS for text, _ in texts if text):
        why = "its files end with the pod, whose command has it"
        draft.drop(
            installs[-1].place,
            "what the installation makes",
            why,
            "install it in the image, or on a volume with `data`",
        )
    for text, one in texts:
        if (match := _OF_RESULTS.search(text)) is not None and is_alone(match[1]):
            what, why = f"the folder `{cut(match[1])}` after the run", "it is none of a volume, and ends with the pod"
            draft.drop(one.place, what, why, _ON_VOLUME)
            return
