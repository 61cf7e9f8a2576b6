"""Mistakes of the command line as messages of gen, with the names that were probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import typer
from pydantic import ValidationError

from gen.base.findings import UsageError, near
from gen.base.regex import regex
from gen.report.escaping import sanitize

_QUOTED: Final = regex(r"'([^']*)'")
_EXPECTED: Final = {
    "int_parsing": "an integer",
    "float_parsing": "a number",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:g}",
}
"""By pydantic's type of error, with which typer converts values."""


_MERGE = "gen starts nothing itself: commit the job file and `rendered/`, and a GitOps engine applies the merge"
_MEANT: Final = {
    f"{_MERGE}; `gen new` writes a job file": "apply submit run start launch deploy sync push exec sbatch",
    "`gen new` writes a job file": "add create generate scaffold",
    "`gen stop` ends a run and keeps its record": "cancel kill terminate abort halt end scancel",
    "`gen stop` ends a run and keeps its record; to remove a job, remove its file and run `gen render`":
        "delete remove rm destroy prune uninstall",
    "`gen rerun` starts the next attempt": "retry restart again resubmit requeue scontrol",
    "`gen suspend` removes the pods of a run until `gen resume`": "pause hold freeze",
    "`gen resume` lets a suspended run go on": "continue unsuspend unpause release",
    "`gen finish` keeps an ended run as a record": "complete done archive close",
    "`gen list` has the jobs in Git, `gen status` the runs in clusters": "ls ps get jobs queue squeue show describe",
    "`gen set` changes fields of a job file": "edit update patch change unset scale config",
    "`gen render` writes the manifests": "build template compile synth generate-manifests",
    "`gen check` verifies jobs, overlays and `rendered/`": "lint verify test",
    "`gen logs` shows the logs of a job": "log tail attach",
}  # fmt: skip
"""Commands of other tools, such as kubectl, Arena and Slurm, and what to do with gen."""


def meant(word: str) -> str:
    """`: …` with what a command of another tool does here, or an empty string."""
    hint = next((hint for hint, words in _MEANT.items() if word.lower() in words.split()), "")
    return f": {hint}" if hint else ""


def usage_error(error: typer.TyperException) -> UsageError:
    """The mistake with a remedy, in one line."""
    problem = " ".join(_problem(error).split())
    if not problem.endswith("?"):
        context = getattr(error, "ctx", None)
        problem += f"; `{context.command_path if context else 'gen'} --help` lists the arguments"
    return UsageError(sanitize(problem))


def suggestion(word: str, names: Iterable[str]) -> str:
    """`: did you mean …?`, or an empty string."""
    guess = near(word, names)
    return f": did you mean `{guess}`?" if guess else ""


def _problem(error: typer.TyperException) -> str:
    if hasattr(error, "option_name") and hasattr(error, "possibilities"):
        return f"unknown option `{error.option_name}`{suggestion(error.option_name, error.possibilities or ())}"
    if isinstance(error, typer.BadParameter) and isinstance(error.__cause__, ValidationError):
        error = typer.BadParameter(_reason(error.__cause__), error.ctx, error.param)
    text = _QUOTED.sub(r"`\1`", error.format_message()).removesuffix(".")
    return text[:1].lower() + text[1:]


def _reason(error: ValidationError) -> str:
    """Why pydantic rejects a value."""
    detail = error.errors()[0]
    values = detail.get("ctx", {})
    expected = _EXPECTED.get(detail["type"])
    if expected is None:
        return str(values.get("error", detail["msg"]))
    return f"expected {expected.format(**values)}, got `{detail['input']}`"
