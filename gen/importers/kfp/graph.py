"""A compiled pipeline of either version: templates that run something, and groups of tasks that call them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct, field

from gen.importers.kfp.retries import NO_RETRIES, Retries
from gen.regex import regex

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping

    from gen.diagnostics import Route
    from gen.kubernetes import Body

When = Literal["succeeded", "failed", "ended"]

PLACEHOLDER: Final = regex(
    r"\{\{(?:inputs|outputs|workflow|steps|tasks|pod|item|retries)\b[^{}]*\}\}|\{\{\$\.[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\}"
)
"""A text that is replaced when the pipeline runs."""
INPUT: Final = regex(r"\{\{\s*inputs\.parameters\.([\w.-]+)\s*\}\}")
PARAMETER: Final = regex(r"\{\{\s*workflow\.parameters\.([\w.-]+)\s*\}\}")
_ITEM: Final = regex(r"\{\{\s*item(?:\.([\w-]+))?\s*\}\}")
_MAX_TEXT: Final = 1 << 16
"""Characters of all values in one text."""


class Leaf(Struct, frozen=True, kw_only=True):
    """A template that runs a container, or creates an object."""

    name: str
    route: Route
    """Route in the document."""
    words: tuple[str, ...] = ()
    """Command and arguments of the container."""
    manifest: str = ""
    """The object that it creates, as text."""
    pod: Body = field(default_factory=dict)
    """`spec` of the pod with the container; empty if it cannot run without the pipeline."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Values of its inputs that no task sets."""
    seconds: int | None = None
    """Its time limit, also of each attempt."""
    retries: Retries = NO_RETRIES
    lost: tuple[str, ...] = ()
    """Values that no job has."""


class Task(Struct, frozen=True, kw_only=True):
    """A call of a template."""

    name: str
    route: Route
    calls: str
    needs: tuple[str, ...] = ()
    """Tasks of its group that end before it."""
    when: When = "succeeded"
    condition: str = ""
    """Decides when the pipeline runs whether the task does."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Values of the inputs of the template."""
    items: tuple[Any, ...] | None = None
    """It runs once for each."""
    retries: Retries = NO_RETRIES
    """Those of the template that it calls."""
    lost: tuple[str, ...] = ()


class Group(Struct, frozen=True, kw_only=True):
    """A template with tasks."""

    tasks: tuple[Task, ...]
    defaults: Mapping[str, str] = field(default_factory=dict)


class Pipeline(Struct, frozen=True, kw_only=True):
    """The templates of a document, by name."""

    name: str
    route: Route
    entry: str
    templates: Mapping[str, Leaf | Group]
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the pipeline with their default values."""
    at_end: str | None = None
    """The template that runs after all others, however they ended."""
    account: str = ""
    """ServiceAccount of its pods."""
    lost: tuple[str, ...] = ()


def with_values(text: str, values: Mapping[str, str]) -> str:
    """A text with the values of the inputs of its template."""
    return _replaced(INPUT, text, lambda match: values.get(match[1], match[0]))


def with_item(text: str, item: Any) -> str:
    """A text with an item of a loop."""

    def value(match: re.Match[str]) -> str:
        key = match[1]
        if key is None:
            return as_text(item)
        return as_text(item[key]) if isinstance(item, dict) and key in item else match[0]

    return _replaced(_ITEM, text, value)


def _replaced(pattern: re.Pattern[str], text: str, value: Callable[[re.Match[str]], str]) -> str:
    """A text with values, as far as they are short: values in values in values could grow without a bound."""
    left = _MAX_TEXT

    def short(match: re.Match[str]) -> str:
        nonlocal left
        found = value(match)
        left -= len(found)
        return found if left >= 0 else match[0]

    return pattern.sub(short, text)


def as_text(value: Any) -> str:
    """A value of a parameter as pipelines write it into texts."""
    import json  # noqa: PLC0415 - few pipelines have other values than texts

    return value if isinstance(value, str) else json.dumps(value)
