"""Values of arguments and options that need no check.

Typer 0.29 converts each value, also a default, by a model of pydantic. Its import takes a third of the time of
`gen check` in a repository without changes.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin

from typer.core import TyperCommand

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_TEXTS = (str, Path)


class OptionalHelp:
    """A command whose option `--help` has a value when it is not given, which needs no conversion."""

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)  # type: ignore[misc] # of the command that this is a part of
        if option is not None:
            option.default = False
        return option


class Command(OptionalHelp, TyperCommand):
    """A command of the registry."""


def convert_directly(command: Any, types: Mapping[str, Any]) -> None:
    """Let typer convert only those values of a command that can be wrong; `types` has the type of each parameter."""
    for parameter in command.params:
        if parameter.callback is None:
            declared = types[parameter.name]
            options = [one for one in get_args(declared) if one is not NoneType]
            only = options[0] if get_origin(declared) is not list and options else declared
            parameter.process_value = partial(_value, parameter.process_value, only, parameter.required)


def _value(convert: Callable[[Any, Any], Any], kind: Any, required: bool, context: Any, value: Any) -> Any:
    many = get_origin(kind) is list
    if value is None:
        return convert(context, value) if required else () if many else None
    if many:
        (item,) = get_args(kind)
        texts = item in _TEXTS and value and all(one.__class__ is str for one in value)
        return [item(one) for one in value] if texts else convert(context, value)
    if value.__class__ is not str:
        return value if value.__class__ is kind else convert(context, value)
    if kind in _TEXTS:
        return kind(value)
    is_choice = issubclass(kind, StrEnum) and value in set(kind)
    return kind(value) if is_choice else convert(context, value)
