"""Names of values in the help of commands: words of the field, no types of Python."""

from __future__ import annotations

from typing import Any


def name_values(command: Any) -> None:
    """Name the value of each option that has no name for it after the option, and leave types of arguments out."""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = _nothing  # the help of typer 0.29 shows the type behind the name
        elif parameter.metavar is None and not parameter.is_flag:
            parameter.metavar = max(parameter.opts, key=len).rsplit("-", 1)[-1].upper()


def _nothing(**_: Any) -> str:
    return ""
