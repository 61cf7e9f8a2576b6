"""`{{ … }}` inside the texts of a job: Jinja's syntax, read by Jinja's parser, and nothing that could compute.

Allowed are `params`, `job`, `run` and `overlay`, their attributes, quoted text, and a few filters. Values are put in
after YAML is parsed and only inside a text, so an expression can never change a file's structure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from gen.diagnostics import did_you_mean
from gen.kubernetes import RUN

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment

    from gen.diagnostics import Findings, Route
    from gen.load import Data, Layers

Values = Mapping[str, Mapping[str, str]]
"""What expressions can name: a few mappings of texts."""

LITERAL = "to write `{{` itself, write `{{ '{{' }}`"

FILTERS: dict[str, Callable[..., str]] = {
    "basename": lambda text: text.rstrip("/").rsplit("/", 1)[-1],
    "lower": str.lower,
    "replace": lambda text, old, new: text.replace(old, new),
    "trim": str.strip,
    "upper": str.upper,
}


class ExpressionError(Exception):
    """An expression that cannot be evaluated: what is wrong, and what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Puts values into every text of nested data, and reports what cannot be."""

    values: Values
    layers: Layers
    found: Findings
    skip: frozenset[str] = field(default_factory=frozenset)
    """Top-level fields to leave alone."""

    def __call__(self, data: Mapping[str, Data]) -> dict[str, Data]:
        return {key: value if key in self.skip else self._data(value, (key,)) for key, value in data.items()}

    def _data(self, data: Data, route: Route) -> Data:
        if isinstance(data, str):
            return self._text(data, route) if "{{" in data else data
        if isinstance(data, dict):
            return {key: self._data(value, (*route, key)) for key, value in data.items()}
        return [self._data(value, (*route, index)) for index, value in enumerate(data)]

    def _text(self, text: str, route: Route) -> str:
        try:
            return evaluate(text, self.values)
        except ExpressionError as error:
            hint = f"{error.hint}; {LITERAL}" if error.hint else LITERAL
            self.found.error("invalid-expression", self.layers.place(route), error.message, hint)
            return text


def evaluate(text: str, values: Values) -> str:
    """The text with its expressions replaced. ExpressionError when one of them is not allowed or not defined."""
    parts = _parse(text)
    return "".join(part if isinstance(part, str) else _value(part, values) for part in parts)


@cache
def _environment() -> Environment:
    from jinja2 import Environment  # noqa: PLC0415 - 40 ms that most jobs do not need

    # only `{{` is special: `{%` and `{#` are ordinary shell, as in `${#list[@]}`; no text can hold a NUL
    return Environment(  # noqa: S701 - the result is no HTML
        block_start_string="\0%", comment_start_string="\0#", keep_trailing_newline=True
    )


@cache
def _parse(text: str) -> tuple[Any, ...]:
    """Texts and expression nodes, in order."""
    from jinja2 import TemplateSyntaxError, nodes  # noqa: PLC0415

    try:
        # Jinja makes one kind of line end of all kinds
        tree = _environment().parse(text.replace("\r", "\0r"))
    except TemplateSyntaxError as error:
        raise ExpressionError(f"this is no expression: {error.message}") from None
    parts = (node for output in tree.body for node in (output.nodes if isinstance(output, nodes.Output) else [output]))
    return tuple(part.data.replace("\0r", "\r") if isinstance(part, nodes.TemplateData) else part for part in parts)


def _value(node: Any, values: Values) -> str:
    from jinja2 import nodes  # noqa: PLC0415

    match node:
        case nodes.Const(value=str(text)):
            return text
        case nodes.Getattr(node=nodes.Name(name=scope), attr=name):
            return _lookup(scope, name, values)
        case nodes.Getitem(node=nodes.Name(name=scope), arg=nodes.Const(value=str(name))):
            return _lookup(scope, name, values)
        case nodes.Filter(node=inner, name=name, args=arguments) if inner is not None and not node.kwargs:
            return _filtered(inner, name, [_value(argument, values) for argument in arguments], values)
        case nodes.Name(name=name):
            hint = "write `params.<name>`, `job.name`, `job.namespace`, `run.name`, `run.hash` or `overlay.name`"
            raise ExpressionError(f"`{name}` alone has no value", hint)
    what = type(node).__name__.lower()
    raise ExpressionError(
        f"an expression cannot do this ({what})", "only names, their attributes and filters are allowed"
    )


def _lookup(scope: str, name: str, values: Values) -> str:
    if scope not in values:
        raise ExpressionError(f"there is no `{scope}`", did_you_mean(scope, values))
    if name not in values[scope]:
        otherwise = "add it to `params` of the job or the overlay"
        raise ExpressionError(
            f"`{scope}.{name}` is not defined", did_you_mean(name, values[scope], otherwise=otherwise)
        )
    return values[scope][name]


def _filtered(inner: Any, name: str, arguments: list[str], values: Values) -> str:
    if name not in FILTERS:
        raise ExpressionError(f"there is no filter `{name}`", did_you_mean(name, FILTERS))
    text = _value(inner, values)
    if RUN in text:
        raise ExpressionError("`run` takes no filters, because its hash is not known yet", "remove the filter")
    try:
        return FILTERS[name](text, *arguments)
    except TypeError:
        count = 2 if name == "replace" else 0
        raise ExpressionError(f"the filter `{name}` takes {count} arguments", "correct the arguments") from None
