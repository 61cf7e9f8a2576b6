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
