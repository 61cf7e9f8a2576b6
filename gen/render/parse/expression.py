"""Expressions `{{ … }}` in strings: a small part of Jinja's syntax, read by Jinja's parser, without computation.

Supported are the attributes of `params`, `job`, `run` and `overlay`, string literals, and a few filters. Values are
inserted into strings after YAML is parsed, so an expression cannot change the structure of a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from gen.diagnostics import did_you_mean
from gen.kubernetes import PARAMETER, RUN, TRIAL
from gen.load import forbidden_character
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment

Values = Mapping[str, Mapping[str, str | None]]
"""Values by scope and name. None is a value whose error was already reported."""

_LOOKUP = regex(r"\{\{ ?(?P<scope>[a-z]+)\.(?P<name>[A-Za-z_][A-Za-z0-9_]*) ?\}\}")

LITERAL = "to write `{{` itself, write `{{ '{{' }}`"
MAX_INSERTED = 64 << 10
"""Characters that the expressions of one string may insert. Without a limit, a few lines could request terabytes."""

_RETURN = "\ufdd3"
"""Placeholder for a carriage return, which Jinja would turn into a line feed. Input cannot contain this character."""

_NODE_NAMES = {
    "Call": "function call",
    "Compare": "comparison",
    "CondExpr": "condition",
    "Const": "constant that is not a string",
    "Dict": "mapping",
    "Getattr": "nested attribute access",
    "Getitem": "index",
    "Tuple": "list",
}
"""Names for nodes of Jinja's syntax tree; others are called by their class."""


_STEPS = "steps"
_RESULT_HINT = (
    "write `{{ steps.<step>.results.<name> }}`, without filters, in `command`, `args` or `env` of a later step of a "
    "pipeline"
)


class ExpressionError(Exception):
    """An expression that cannot be evaluated, with a message, a hint, and its offset in the string."""

    def __init__(self, message: str, hint: str = "", offset: int = 0) -> None:
        super().__init__(message)
        self.message, self.hint, self.offset = message, hint, offset


class FollowingError(ExpressionError):
    """An expression over a value whose error was already reported."""


def _replaced(text: str, old: str, new: str) -> str:
    if len(text) + text.count(old) * (len(new) - len(old)) > MAX_INSERTED:
        raise _too_long()
    return text.replace(old, new)


def _too_long() -> ExpressionError:
    message = f"the expressions of the string insert more than {MAX_INSERTED} characters"
    return ExpressionError(message, "keep long texts in `files` or on a volume")


FILTERS: dict[str, Callable[..., str]] = {
    "basename": lambda text: text.rstrip("/").rsplit("/", 1)[-1],
    "lower": str.lower,
    "replace": _replaced,
    "trim": str.strip,
    "upper": str.upper,
}


def evaluate(text: str, values: Values) -> str:
    """The text with its expressions replaced. ExpressionError if an expression is unsupported or undefined."""
    simple = _evaluate_lookups(text, values)
    return simple if simple is not None else evaluate_with_jinja(text, values)


def _evaluate_lookups(text: str, values: Values) -> str | None:
    """`evaluate` for texts with lookups like `{{ params.lr }}` only, all of them defined; None for other texts.

    Most jobs need nothing else, and importing Jinja takes 20 ms.
    """
    done: list[str] = []
    inserted = end = 0
    for match in _LOOKUP.finditer(text):
        value = values.get(match["scope"], {}).get(match["name"])
        done += (text[end : match.start()], value or "")
        inserted += len(done[-1])
        end = match.end()
        if value is None or done[-2].endswith("{"):  # Jinja reads `{{{` differently
            return None
    done.append(text[end:])
    return "".join(done) if inserted <= MAX_INSERTED and not any("{{" in literal for literal in done[::2]) else None


def evaluate_with_jinja(text: str, values: Values) -> str:
    """`evaluate` for any text."""
    marked = text.replace("\r", _RETURN)
    done, inserted, seen = [], 0, 0
    for part in _parse(marked):
        if isinstance(part, str):
            done.append(part)
            continue
        try:
            done.append(_bounded_value(part, values))
            inserted += len(done[-1])
            if inserted > MAX_INSERTED:
                raise _too_long()
        except ExpressionError as error:
            error.offset = _offset(marked, seen)
            raise
        seen += 1
    return "".join(done)


@cache
def _environment() -> Environment:
    from jinja2 import Environment  # noqa: PLC0415 - 40 ms that most jobs do not need

    # only `{{` is special: `{%` and `{#` occur in shell code such as `${#list[@]}`; no text can contain a NUL
    return Environment(  # noqa: S701 - the result is not HTML
        block_start_string="\0%", comment_start_string="\0#", keep_trailing_newline=True
    )


@lru_cache(maxsize=1024)
def _parse(text: str) -> tuple[Any, ...]:
    """Texts and expression nodes, in order."""
    from jinja2 import TemplateSyntaxError, nodes  # noqa: PLC0415

    try:
        tree = _environment().parse(text)
    except TemplateSyntaxError as error:
        reason = error.message or "unreadable"
        if repr(_RETURN) in reason:
            reason = "it contains a carriage return"
        raise ExpressionError(f"invalid expression: {reason}", offset=_on_line(text, error.lineno)) from None
    except (
        RecursionError,
        ValueError,
        MemoryError,
    ):  # from Jinja's parser, for deep brackets and numbers of 5,000 digits
        raise ExpressionError("invalid expression: it is too large", "write it shorter") from None
    parts = (node for output in tree.body for node in (output.nodes if isinstance(output, nodes.Output) else [output]))
    return tuple(part.data.replace(_RETURN, "\r") if isinstance(part, nodes.TemplateData) else part for part in parts)


def _on_line(text: str, line: int) -> int:
    """Offset of the expression that caused an error of Jinja's parser in a line."""
    start = -1
    for _ in range(line - 1):
        start = text.index("\n", start + 1)
    first = text.find("{{", start + 1)
    return first if first >= 0 else max(text.rfind("{{"), 0)


def _offset(text: str, number: int) -> int:
    """Offset of an expression by its number, counted from 0."""
    end = begin = 0
    tokens = ((kind, value) for _, kind, value in _environment().lex(text))
    for kind, value in tokens:
        begin = text.index(value, end)  # Jinja omits the white space before `{{-`
        end = begin + len(value)
        if kind == "variable_begin":
            if number == 0:
                break
            number -= 1
    return begin


def _bounded_value(node: Any, values: Values) -> str:
    try:
        return _value(node, values)
    except RecursionError:
        raise ExpressionError("the expression is nested too deeply", "write it shorter") from None


def _value(node: Any, values: Values) -> str:
    from jinja2 import nodes  # noqa: PLC0415

    match node:
        case nodes.Const(value=str(text)):
            return _constant(text)
        case nodes.Getattr() | nodes.Getitem() | nodes.Name() if _root(node) == _STEPS:
            raise ExpressionError("a result of a step has no value here", _RESULT_HINT)
        case nodes.Getattr(node=nodes.Name(name=scope), attr=name):
            return _lookup(scope, name, values)
        case nodes.Getitem(node=nodes.Name(name=scope), arg=nodes.Const(value=str(name))):
            return _lookup(scope, name, values)
        case nodes.Filter(node=inner, name=name, args=args, kwargs=[], dyn_args=None, dyn_kwargs=None) if (
            inner is not None
        ):
            return _filtered(inner, name, [_value(argument, values) for argument in args], values)
        case nodes.Name(name=name):
            hint = "write `params.<name>`, `job.name`, `job.namespace`, `run.id`, `run.hash` or `overlay.name`"
            raise ExpressionError(f"`{name}` is not a complete expression", hint)
    name = type(node).__name__
    message = f"unsupported expression: {_NODE_NAMES.get(name, name.lower())}"
    raise ExpressionError(message, "use only names, their attributes and filters")


def _root(node: Any) -> str:
    """The first name of a chain of attributes."""
    while hasattr(node, "node"):
        node = node.node
    return str(getattr(node, "name", ""))


def _constant(text: str) -> str:
    """Jinja evaluates escapes, which could produce characters that are not allowed in input."""
    if _RETURN in text:
        raise ExpressionError("a string literal contains a carriage return", "write `\\r`")
    if (match := forbidden_character(text)) is not None:
        raise ExpressionError(f"the character U+{ord(match[0]):04X} is not allowed", "remove it")
    return text


def _lookup(scope: str, name: str, values: Values) -> str:
    if scope not in values:
        raise ExpressionError(f"unknown name `{scope}`", did_you_mean(scope, values))
    if name not in values[scope]:
        otherwise = "add it to `params` of the job or the overlay"
        raise ExpressionError(
            f"`{scope}.{name}` is not defined", did_you_mean(name, values[scope], otherwise=otherwise)
        )
    if (value := values[scope][name]) is None:
        raise FollowingError(f"`{scope}.{name}` has no value")
    return value


def _filtered(inner: Any, name: str, arguments: list[str], values: Values) -> str:
    if name not in FILTERS:
        raise ExpressionError(f"unknown filter `{name}`", did_you_mean(name, FILTERS))
    text = _value(inner, values)
    if RUN in text or TRIAL in text:
        raise ExpressionError("`run` takes no filters, because its hash is not known yet", "remove the filter")
    if PARAMETER in text:
        raise ExpressionError("the parameter takes no filters, because its value is not known yet", "remove the filter")
    try:
        return FILTERS[name](text, *arguments)
    except TypeError:
        count = 2 if name == "replace" else 0
        raise ExpressionError(f"the filter `{name}` takes {count} arguments", "correct the arguments") from None
