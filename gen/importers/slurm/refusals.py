"""Scripts that start no program, or end before it, and parts that gen cannot read: the reasons and the remedies."""

from __future__ import annotations

import re
from typing import Final

from gen.base import Findings, Location
from gen.base.codes.imports import INVALID_COMMAND_LINE
from gen.importers.draft import JobDraft
from gen.importers.slurm.bash_text import cut
from gen.importers.slurm.containers import Lacking
from gen.importers.slurm.expansion import RUN_ID, START
from gen.importers.slurm.outside import expression_of_template
from gen.importers.slurm.programs import DroppedPart
from gen.importers.slurm.script import BatchScript
from gen.importers.slurm.site import OF_NO_FILE, is_silent

_OF_CHECK: Final = "write the path of its program in the place of the check"
NEEDED_VALUES: Final = (
    "give the values that it needs with `--define NAME=VALUE`; `--define 1=VALUE` is the first argument"
)


def as_shown(text: str) -> str:
    """A text of the script, as findings show it."""
    return text.replace(START, ".").replace(f"${RUN_ID}", "{{ run.id }}")


def gives_up(script: BatchScript, found: Findings, lacking: Lacking) -> bool:
    """Report that the script ends before it starts a program."""
    if script.ended is None or script.steps:
        return False
    _refuse(script, *_end(script), found)
    lacking.values += sorted(script.decided_by)
    return True


def _end(script: BatchScript) -> tuple[Location, str, str]:
    """The place where the script ends, its message, and the values that it needs."""
    place, said = script.ended or (Location(script.file), "")
    what = f"the script ends here without a program{': ' * bool(said)}{as_shown(said)}"
    names = [*script.decided_by]
    return place, what, f"give it with `--define {names[0]}=VALUE`" if len(names) == 1 else NEEDED_VALUES


def refuse_empty(draft: JobDraft, script: BatchScript, lacking: Lacking) -> None:
    """Report why a script starts no program: a syntax that is not followed, an end, a value or a check of a file."""
    if script.unreadable is not None:
        place, what, hint = script.unreadable
    elif script.ended is not None and script.fails:
        place, what, hint = _end(script)
        lacking.values += sorted(script.decided_by)
    elif script.deciding:
        name, (place, values) = next(iter(script.deciding.items()))
        what = f"the script starts no program, because `${name}` has no value"
        what += f": it has one for {', '.join(f'`{one}`' for one in values)}" if values else ""
        hint = f"give it with `--define {name}=VALUE`"
        lacking.values.append(name)
    elif script.unseen is not None:
        place, check = script.unseen
        what = f"the script starts no program, because gen does not see the file of `{cut(check)}`"
        hint = _OF_CHECK
    elif (sourced := next((one for one in reversed(script.left) if _ends_with(script, one)), None)) is not None:
        place, hint = sourced.place, "start that file with `bash` instead, if it does the work"
        what = f"the script starts no program, apart from those of {sourced.what}, which it sources"
    else:
        place, what, hint = draft.place, "the script starts no program", NEEDED_VALUES
    _refuse(script, place, what, hint, draft.found)


def _ends_with(script: BatchScript, one: DroppedPart) -> bool:
    """Whether a script sources a file at its end, behind which it only shows something."""
    behind = script.source.split("\n")[one.place.line - script.first_line + 1 :]
    programs = (line.split()[0] for line in behind if line.strip() and not line.lstrip().startswith("#"))
    return one.why == OF_NO_FILE and one.what.startswith("the file") and all(map(is_silent, programs))


def _refuse(script: BatchScript, place: Location, what: str, hint: str, found: Findings) -> None:
    """Report that a script starts no program of its own."""
    if script.submitted and not script.fails:
        names, place = ", ".join(f"`{one}`" for one in script.submitted), next(iter(script.submitted.values()))
        what, hint = f"the script only starts other jobs: {names[:200]}", "import their scripts instead"
    found.error(INVALID_COMMAND_LINE, place, what, hint)


def remedy_of_options(text: str) -> str:
    """What to do about a file without `#SBATCH` lines."""
    if re.search(r"(?m)^\s*sbatch\b.*<<", text):
        return "write the script behind `sbatch <<` into a file of its own, and import that"
    if re.search(r"(?m)^\s*sbatch\b(?:[^#\n]|\\\n)*--wrap\b", text):
        return "write the command of `--wrap` into a script, with the options of `sbatch` as `#SBATCH` lines"
    return "name a script with `#SBATCH` lines before its first command"


def report_template(draft: JobDraft, text: str) -> None:
    """Report the first expression of a template."""
    if (match := expression_of_template(text)) is not None:
        hint = "write it with the tool of the template first, and import the result"
        what = f"the script is a template: `{cut(match[0])}` has no value"
        draft.cannot_run(Location(draft.place.file, text.count("\n", 0, match.start()) + 1), what, hint)


def report_unread(draft: JobDraft, script: BatchScript) -> None:
    """Report the parts of the script that gen has not read."""
    if script.cut is not None:
        hint = "write the loop into a file of the image, and import a script that starts it"
        draft.cannot_run(script.cut, "the script starts too many programs for one command, and gen stops here", hint)
    if script.unreadable is not None:
        draft.cannot_run(*script.unreadable)
    if script.ended is not None and re.fullmatch(r"-?\d+", script.fails):
        place, said = script.ended
        why = f": {as_shown(said)}" if said else ""
        draft.cannot_run(place, f"the script ends here with an error{why}", NEEDED_VALUES)
    elif script.ended is not None and script.fails:
        what, why = "the error at the end of the script", "the job succeeds if its last program does"
        draft.drop(script.ended[0], what, why, "remove `exit`, or write it into `command`")
