"""Evaluation of the expressions of a job: the values available to them, and the handling of errors.

Expressions `{{ … }}` in strings: a small part of Jinja's syntax, read by Jinja's parser, without computation.

Supported are the attributes of `params`, `job`, `run` and `overlay`, string literals, and a few filters. Values are
inserted into strings after YAML is parsed, so an expression cannot change the structure of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct, field

from gen.base import Findings, Route, did_you_mean, regex, with_other
from gen.base.codes.jobs import INVALID_EXPRESSION
from gen.base.placeholders import PARAMETER, RUN, TRIAL
from gen.base.yaml.layers import Layers
from gen.base.yaml.strict import Data, forbidden_character
from gen.overlay.overlay import Overlay

if TYPE_CHECKING:
    from jinja2 import Environment


Values = Mapping[str, Mapping[str, str | None]]
"""Values by scope and name. None is a value with an error, which was already reported."""

_LOOKUP = regex(r"\{\{ ?(?P<scope>[a-z]+)\.(?P<name>[A-Za-z_][A-Za-z0-9_]*) ?\}\}")

LITERAL = "to write `{{` itself, write `{{ '{{' }}`"
MAX_EXPRESSION_INSERTED = 64 << 10
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
    "Sub": "`-`",
    "Tuple": "list",
}
"""Names for nodes of Jinja's syntax tree; others are called by their class."""


_STEPS = "steps"
_CHECKPOINTS, _RESUME = "checkpoints", "resume"
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
    """An expression over a value with an error, which was already reported."""


def _replaced(text: str, old: str, new: str) -> str:
    if len(text) + text.count(old) * (len(new) - len(old)) > MAX_EXPRESSION_INSERTED:
        raise _too_long()
    return text.replace(old, new)


def _too_long() -> ExpressionError:
    message = f"the expressions of the string insert more than {MAX_EXPRESSION_INSERTED} characters"
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
    return (
        "".join(done)
        if inserted <= MAX_EXPRESSION_INSERTED and not any("{{" in literal for literal in done[::2])
        else None
    )


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
            if inserted > MAX_EXPRESSION_INSERTED:
                raise _too_long()
        except ExpressionError as error:
            error.offset = _offset(marked, seen)
            raise
        seen += 1
    return "".join(done)


@cache
def _environment() -> Environment:
    from jinja2 import Environment

    # only `{{` is special: `{%` and `{#` occur in shell code such as `${#list[@]}`; no text can contain a NUL
    return Environment(  # noqa: S701 - the result is not HTML
        block_start_string="\0%", comment_start_string="\0#", keep_trailing_newline=True
    )


@lru_cache(maxsize=1024)
def _parse(text: str) -> tuple[object, ...]:
    """Texts and expression nodes, in order."""
    from jinja2 import TemplateSyntaxError, nodes

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


def _bounded_value(node: object, values: Values) -> str:
    try:
        return _value(node, values)
    except RecursionError:
        raise ExpressionError("the expression is nested too deeply", "write it shorter") from None


def _value(node: object, values: Values) -> str:
    from jinja2 import nodes

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


def _root(node: object) -> str:
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


def _filtered(inner: object, name: str, arguments: list[str], values: Values) -> str:
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


MAX_INSERTED = 1 << 20
"""Characters that the expressions of one run may insert."""
MAX_INSERTED_IN_RUNS: Final = 8 << 20
"""Characters that they may insert in all runs of a job."""
_LEAST_INSERTED: Final = 4 << 10
"""Characters for each run of a sweep with any number of them."""
MAX_REPORTED = 100
"""Findings of one job. More would not help, and a file can be constructed to have ten thousand: no expression is
evaluated after them."""
_FIXED = frozenset({"params", "name", "kind", "steps"})
"""Fields without expressions, or evaluated before the others, or for each step of its own."""


_FOREIGN = (
    (
        regex(r"\{%[-+]?\s*(?:if|elif|else|endif|for|endfor|set|block|include|import|macro|raw|with|filter|call)\b"),
        "template statements (`{%`) are not supported",
        "remove it; set what differs between overlays in their `params`; to write `{%` itself, write `{{ '{%' }}`",
    ),
    (
        regex(r"(?<!\$)\{#[^\n#]*#\}"),
        "template comments (`{#`) are not supported",
        "remove it; to write `{#` itself, write `{{ '{#' }}`",
    ),
    (
        regex(r"\$\{\{"),
        "`${{ … }}` inserts a `$` before the value",
        "remove the `$`; to write `$` itself, write `{{ '$' }}`",
    ),
)
"""Syntax of Jinja that gen does not have, and of GitHub Actions: pattern, message, hint."""


class _Undecided(dict[str, str | None]):
    """Values that only an overlay can provide: every name is defined, and its value is unknown."""

    def __contains__(self, key: object) -> bool:
        return True

    def __missing__(self, key: str) -> None:
        return None


class Evaluation(Struct, frozen=True):
    """The data of a job, with all expressions replaced except those that failed."""

    data: dict[str, Data]
    failed: frozenset[Route]
    """Routes of strings that still contain expressions. Their errors are reported here or in an overlay."""


class _Evaluation(Struct):
    """Evaluates the expressions in every string of nested data, and reports errors."""

    values: Values
    layers: Layers
    found: Findings
    room: int = MAX_INSERTED
    most: int = MAX_INSERTED
    failed: list[Route] = field(default_factory=list)
    reported: int = 0

    def of(self, data: Data, route: Route) -> Data:
        if isinstance(data, str):
            if "{" not in data:
                return data
            if "{%" in data or "{#" in data or "${{" in data:
                self._foreign(data, route)
            return self._text(data, route) if "{{" in data else data
        if isinstance(data, dict):
            return {key: self.of(value, (*route, key)) for key, value in data.items()}
        return [self.of(value, (*route, index)) for index, value in enumerate(data)]

    def _foreign(self, text: str, route: Route) -> None:
        """Report syntax of other template languages. The text of a file may be a template itself."""
        for pattern, message, hint in _FOREIGN if route[0] != "files" else ():
            if (match := pattern.search(text)) is not None:
                self.found.error(INVALID_EXPRESSION, self.layers.place_of(route, match[0]), message, hint)

    def _text(self, text: str, route: Route) -> str:
        if self.room >= 0 and self.reported <= MAX_REPORTED:
            try:
                result = evaluate(text, self.values)
            except FollowingError:
                pass
            except ExpressionError as error:
                self._report(error, text, route)
            else:
                self.room -= len(result) - len(text)
                if self.room >= 0:
                    return result
                what = f"the expressions of a run insert more than {self.most} characters"
                self._report(ExpressionError(what, "keep long texts in `files` or on a volume"), text, route)
        self.failed.append(route)
        return text

    def _report(self, error: ExpressionError, text: str, route: Route) -> None:
        self.reported += 1
        if self.reported > MAX_REPORTED:
            return
        hint = with_other(error.hint, LITERAL) if error.hint else LITERAL
        start = text[error.offset :].split("\n", 1)[0].split("\r", 1)[0]
        part = start[: start.find("}}") + 2] if "}}" in start else start
        self.found.error(INVALID_EXPRESSION, self.layers.place_of(route, part), error.message, hint)


def evaluate_fields(
    data: dict[str, Data],
    job: Mapping[str, str],
    run: str,
    values: Mapping[str, str | None],
    overlay: Overlay | None,
    layers: Layers,
    found: Findings,
    runs: int = 1,
    step: str = "",
) -> Evaluation:
    """The data with its expressions replaced; `job` contains the values of `{{ job.… }}`.

    `run` is the name of the run, one of several `runs`, and `values` are the parameters that a sweep or a search sets
    for it. `step` is the name of a step.

    Parameters are evaluated first, and cannot refer to each other. Without an overlay, expressions that depend on one
    are left unevaluated.
    """
    scopes = {
        "job": job,
        "run": {"id": run, "hash": RUN},
        "overlay": {"name": overlay.name} if overlay else _Undecided(),
    }
    room = min(MAX_INSERTED, max(_LEAST_INSERTED, MAX_INSERTED_IN_RUNS // runs))
    evaluation = _Evaluation(scopes, layers, found, room, room)
    params = _params(evaluation, data.get("params", {}))
    if overlay is not None:
        params |= _params(_Evaluation(scopes, overlay.layers, found), cast("Data", overlay.fields.params))
    evaluation.values = {**scopes, "params": {**params, **values} if overlay else _Undecided()}
    known = {}
    if (base := data.get(_CHECKPOINTS)) is not None:
        known[_CHECKPOINTS] = base = evaluation.of(base, (_CHECKPOINTS,))
        folders: dict[str, str | None] = {_CHECKPOINTS: None, _RESUME: None}
        if isinstance(base, str) and (_CHECKPOINTS,) not in evaluation.failed:
            resume = data.get(_RESUME)
            folders[_CHECKPOINTS] = checkpoint_folder(base, run, step)
            folders[_RESUME] = checkpoint_folder(base, resume, step) if isinstance(resume, str) else ""
        evaluation.values = {**evaluation.values, "run": {**scopes["run"], **folders}}
    fixed = {name: value for name, value in data.items() if name in _FIXED} | known
    result = {name: fixed[name] if name in fixed else evaluation.of(value, (name,)) for name, value in data.items()}
    return Evaluation(result, frozenset(evaluation.failed))


def checkpoint_folder(base: str, run: str, step: str) -> str:
    """The folder of a run below a directory, or of its step. Steps share the name of their pipeline."""
    return "/".join(part for part in (base.rstrip("/"), run, step) if part)


def _params(evaluation: _Evaluation, params: Data) -> dict[str, str | None]:
    """Value by name, without values of other types, which the model reports."""
    if not isinstance(params, dict):
        return {}
    texts = cast("dict[str, Data]", evaluation.of(params, ("params",)))
    failed = {route[1] for route in evaluation.failed}
    return {name: text if isinstance(text, str) and name not in failed else None for name, text in texts.items()}
