"""A compiled pipeline of either version: templates that run something, groups of tasks that call them, and retries.

Argo runs the container again in a new pod up to `limit` times, after the first one (`RetryStrategy` in
`pkg/apis/workflow/v1alpha1/workflow_types.go` of argo-workflows), as a Job does up to `backoffLimit`. `retryPolicy` of
the IR becomes this strategy: `getTaskRetryStrategyFromInput` in `backend/src/v2/compiler/argocompiler/container.go`
of kubeflow/pipelines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct, field

from gen.base import Route, at, regex
from gen.kubernetes.objects import Body

if TYPE_CHECKING:
    import re


_NUMBER: Final = regex(r"[0-9]{1,9}")
_POLICIES: Final = ("", "OnFailure", "Always")
"""Policies that retry a failed program. A Job also retries a pod that was lost."""


class Retries(Struct, frozen=True, kw_only=True):
    """The number of repetitions of a step, and fields that a job does not have."""

    limit: int = 0
    lost: tuple[str, ...] = ()
    field: str = ""
    """The field with the limit; empty for none."""


NO_RETRIES: Final = Retries()


def retries_of_template(template: object) -> Retries:
    """Retries of a template of Argo. Without a limit, they never end."""
    strategy = at(template, "retryStrategy")
    if not strategy and strategy != {}:
        return NO_RETRIES
    limit = _number(at(strategy, "limit"))
    if limit is None or at(strategy, "expression") or at(strategy, "retryPolicy") not in (None, *_POLICIES):
        return Retries(lost=("retryStrategy",))
    lost = tuple(f"retryStrategy.{name}" for name in ("affinity", "backoff") if at(strategy, name))
    return Retries(limit=limit, lost=lost, field="retryStrategy.limit")


def retries_of_task(task: object) -> Retries:
    """Retries of a task of the IR."""
    policy = at(task, "retryPolicy")
    if not policy:
        return NO_RETRIES
    limit = _number(at(policy, "maxRetryCount") or 0)
    if limit is None:
        return Retries(lost=("retryPolicy",))
    names = ("backoffDuration", "backoffMaxDuration")
    lost = tuple(f"retryPolicy.{name}" for name in names if limit and at(policy, name) not in (None, "", "0s"))
    return Retries(limit=limit, lost=lost, field="retryPolicy.maxRetryCount")


def _number(value: object) -> int | None:
    return int(str(value)) if not isinstance(value, bool) and _NUMBER.fullmatch(str(value)) else None


When = Literal["succeeded", "failed", "ended"]

PLACEHOLDER: Final = regex(
    r"\{\{(?:=|(?:inputs|outputs|workflow|steps|tasks|pod|item|retries)\b)[^{}]*\}\}"
    r"|\{\{\$\.[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\}"
)
"""A text that is replaced when the pipeline runs."""
INPUT: Final = regex(r"\{\{\s*inputs\.parameters\.([\w.-]+)\s*\}\}")
PARAMETER: Final = regex(r"\{\{\s*workflow\.parameters\.([\w.-]+)\s*\}\}")
_ITEM: Final = regex(r"\{\{\s*item(?:\.([\w-]+))?\s*\}\}")
RUN_ID: Final = "genrunidz"
"""In place of the name of the run in texts."""
OF_RUN: Final = regex(r"\{\{(?:workflow\.(?:name|uid)|\$\.pipeline_job_(?:name|resource_name|uuid))\}\}")
"""Names that each run of the pipeline has."""
MAX_ITEMS: Final = 64
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
    metadata: Body = field(default_factory=dict)
    """Labels and annotations of the pod."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """Values of its inputs that no task sets."""
    seconds: int | None = None
    """Its time limit, also of each attempt."""
    retries: Retries = NO_RETRIES
    component: Body = field(default_factory=dict)
    """Definitions of its inputs and outputs, which its container gets as paths and as JSON."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files that its container reads, by path."""
    claim: Body = field(default_factory=dict)
    """The PersistentVolumeClaim that it creates, and not a pod."""
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
    items: tuple[object, ...] | None = None
    """It runs once for each."""
    loop: str = ""
    """The text of a list of items that depends on other values."""
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


def with_item(text: str, item: object) -> str:
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


def items_of(text: str) -> tuple[object, ...] | None:
    """The items of a loop; None for a text that is not a list, or too long."""
    import json

    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tuple(items) if isinstance(items, list) and 0 < len(items) <= MAX_ITEMS else None


def as_text(value: object) -> str:
    """A value of a parameter as pipelines write it into texts."""
    import json

    return value if isinstance(value, str) else json.dumps(value)
