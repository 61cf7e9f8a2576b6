"""A compiled pipeline of either version: templates that run something, groups of tasks, retries, and conditions.

Argo runs the container again in a new pod up to `limit` times, after the first one (`RetryStrategy` in
`pkg/apis/workflow/v1alpha1/workflow_types.go` of argo-workflows), as a Job does up to `backoffLimit`. `retryPolicy` of
the IR becomes this strategy: `getTaskRetryStrategyFromInput` in `backend/src/v2/compiler/argocompiler/container.go`
of kubeflow/pipelines.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct, field

from gen.base import Location, Route, as_list, as_mapping, at, follow, regex
from gen.importers.draft import texts_in
from gen.importers.kfp.losses import PRINTED, Loss
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
    limit = number_of(at(strategy, "limit"))
    if limit is None or at(strategy, "expression") or at(strategy, "retryPolicy") not in (None, *_POLICIES):
        return Retries(lost=("retryStrategy",))
    lost = tuple(f"retryStrategy.{name}" for name in ("affinity", "backoff") if at(strategy, name))
    return Retries(limit=limit, lost=lost, field="retryStrategy.limit")


def retries_of_task(task: object) -> Retries:
    """Retries of a task of the IR."""
    policy = at(task, "retryPolicy")
    if not policy:
        return NO_RETRIES
    limit = number_of(at(policy, "maxRetryCount") or 0)
    if limit is None:
        return Retries(lost=("retryPolicy",))
    names = ("backoffDuration", "backoffMaxDuration")
    lost = tuple(f"retryPolicy.{name}" for name in names if limit and at(policy, name) not in (None, "", "0s"))
    return Retries(limit=limit, lost=lost, field="retryPolicy.maxRetryCount")


def parameters_read(placeholder: str) -> list[str]:
    """The parameters that an expression reads; none for another placeholder."""
    return _READ.findall(placeholder) if placeholder.startswith("{{=") else []


def number_of(value: object) -> int | None:
    return int(str(value)) if not isinstance(value, bool) and _NUMBER.fullmatch(str(value)) else None


When = Literal["succeeded", "failed", "ended"]

PLACEHOLDER: Final = regex(
    r"\{\{(?:=|(?:inputs|outputs|workflow|steps|tasks|pod|item|retries)\b)[^{}]*\}\}"
    r"|\{\{\$\.[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\}"
)
"""A text that is replaced when the pipeline runs."""
INPUT: Final = regex(r"\{\{\s*inputs\.parameters\.([\w.-]+)\s*\}\}")
_INPUT_OF_IR: Final = regex(r"""\{\{\$\.inputs\.parameters\[['"]([\w.-]+)['"]\]\}\}""")
ARTIFACT: Final = "artifacts."
"""Start of the names of artifacts among the values of inputs."""
PARAMETER: Final = regex(r"\{\{\s*workflow\.parameters\.([\w.-]+)\s*\}\}")
OUTPUT: Final = regex(r"\{\{(?:tasks|steps)\.([\w-]+)\.outputs\.(artifacts|parameters)\.([\w.-]+)\}\}")
STATUS: Final = regex(r"\{\{tasks\.([\w-]+)\.status\}\}")
_READ: Final = regex(r"\bparameters(?:\.|\[['\"])([\w-]+)")
_ITEM: Final = regex(r"\{\{\s*item(?:\.([\w-]+))?\s*\}\}")
NO_ITEM: Final = object()
"""The item of a task without a loop, or of a loop over unknown items."""
NAMESPACE: Final = "{{workflow.namespace}}"
TASK_NAME: Final = "{{$.pipeline_task_name}}"
RUN_ID: Final = "genrunidz"
"""In place of the name of the run in texts."""
OF_STEP: Final = "genstepidz"
"""In place of the name of the object of a step."""
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
    named: tuple[str, ...] = ()
    """Outputs with the name of that object."""
    does: str = ""
    """What it does that is neither a container nor a new object."""
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
    settings: Body = field(default_factory=dict)
    """Settings of its pod on Kubernetes, which can name inputs of the graph around it."""
    imports: str = ""
    """The URI of the artifact that it only registers, without a container."""
    imported: Body | None = None
    """Metadata of that artifact; None if only a run has them."""
    fixed: tuple[str, ...] = ()
    """Parameters of the pipeline with a value in its pod."""
    set_by: Mapping[str, str] = field(default_factory=dict)
    """Settings on Kubernetes by the parameters that they have."""
    lost: tuple[str, ...] = ()
    """Values that no job has."""


def without_job(leaf: Leaf, task: str) -> tuple[str, str, bool]:
    """The finding about a task without a job, its remedy, and whether the pipeline cannot run without it."""
    hint = "keep the step in the pipeline, or write it as a step of kind `batch`"
    why = "it creates no run" if leaf.manifest else "it needs the launcher of the pipeline, or runs no program"
    if leaf.imports:
        why, hint = "it only registers the URI of an artifact", "the steps that read its artifact have the URI"
    needed = bool(leaf.words or leaf.manifest or leaf.does)
    return f"step `{task}` is not carried: {f'no job has {leaf.does}' if leaf.does else why}", hint, needed


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
    unset: frozenset[str] = frozenset()
    """Inputs of the template that it passes on without a value."""
    joined: frozenset[str] = frozenset()
    """Inputs of the template whose constants have the values of others of it."""
    selected: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)
    """Inputs that get a part of their value, with its route; the one without a name is the list of the loop."""
    items: tuple[object, ...] | None = None
    """It runs once for each."""
    loop: str = ""
    """The text of a list of items that depends on other values."""
    at_once: int = 0
    """The most items that run at the same time; 0 for all."""
    retries: Retries = NO_RETRIES
    """Those of the template that it calls."""
    lost: tuple[Loss, ...] = ()


class Group(Struct, frozen=True, kw_only=True):
    """A template with tasks."""

    tasks: tuple[Task, ...]
    defaults: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, Route] = field(default_factory=dict)
    """Inputs that need no value and have no default value. A task that passes on one without a value sets nothing."""
    artifacts: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Artifacts that it hands on: tasks that make each, with their names there."""
    target: str = ""
    """Tasks that run, and those before them; empty for all."""
    lost: tuple[tuple[str, Route], ...] = ()
    """Values that no job has, with their routes."""


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
    namespace: str = ""
    metadata: Body = field(default_factory=dict)
    """Labels and annotations of the document."""
    lost: tuple[str, ...] = ()
    also: Mapping[str, Route] = field(default_factory=dict)
    """Templates that only other pipelines call, with their routes."""


def optional_of(pipeline: Pipeline) -> dict[str, Route]:
    """The inputs of a pipeline that have no value and need none."""
    entry = pipeline.templates.get(pipeline.entry)
    known = entry.optional if isinstance(entry, Group) else {}
    return {name: route for route in known.values() if (name := str(route[-1])) not in pipeline.parameters}


def of_pipeline(name: str) -> str:
    """The placeholder of a parameter of the pipeline."""
    return f"{{{{workflow.parameters.{name}}}}}"


def placed(
    document: object, start: Route, values: Mapping[str, str], place: Callable[[Route], Location]
) -> dict[str, Location]:
    """The place of the first text below a route with a placeholder, by it, and by the name of its parameter."""
    texts = [*texts_in(follow(document, start), start)] if "templates" in start else []
    filled = [(route, with_values(text, values)) for route, text in reversed(texts)]
    return {one: place(key) for key, text in filled for form in (PLACEHOLDER, PARAMETER) for one in form.findall(text)}


def with_values(text: str, values: Mapping[str, str]) -> str:
    """A text with the values of the inputs of its template."""
    return _replaced(INPUT, text, lambda match: values.get(match[1], match[0]))


def of_ir(text: str) -> str:
    """A text of the IR with the placeholders of Argo for its inputs."""
    return _INPUT_OF_IR.sub(lambda match: f"{{{{inputs.parameters.{match[1]}}}}}", text)


def imported(importer: object) -> tuple[str, Body | None]:
    """The URI that an importer registers, a constant or an input of its component, and its metadata if they are
    constants.
    """
    uri, metadata = at(importer, "artifactUri"), whole(as_mapping(at(importer, "metadata")))
    known = None if _NO_CONSTANT.search(json.dumps(metadata)) else metadata
    if isinstance(name := at(uri, "runtimeParameter"), str):
        return f"{{{{inputs.parameters.{name}}}}}", known
    return of_ir(str(at(uri, "constant") or at(uri, "constantValue", "stringValue") or "")), known


_NO_CONSTANT: Final = regex(r"\{[{%#]")


def named_in_ir(placeholder: str) -> str:
    """An input, an output or a status in the words of the IR, which has no placeholders of Argo; empty for others."""
    if (given := INPUT.fullmatch(placeholder) or PARAMETER.fullmatch(placeholder)) is not None:
        return f"the input `{given[1].removeprefix(ARTIFACT)}`"
    if (made := OUTPUT.fullmatch(placeholder)) is not None:
        return f"the output `{made[3]}` of task `{made[1]}`"
    ended = STATUS.fullmatch(placeholder)
    return f"the status of task `{ended[1]}`" if ended is not None else ""


def in_ir(condition: str) -> str:
    """A condition in the words of the IR, which has no placeholders of Argo."""
    text = OUTPUT.sub(r"inputs.parameter_values['pipelinechannel--\1-\3']", condition)
    return PARAMETER.sub(_IN_IR, INPUT.sub(_IN_IR, text))


_IN_IR: Final = r"inputs.parameter_values['\1']"


def why_unknown(placeholder: str, *, of_name: bool = False) -> tuple[str, str]:
    """Why a value is unknown that no user of the pipeline gives, and the remedy. Names of objects are no results."""
    hint = f"set the value in the job{'' if of_name else ', or a parameter of it in `params`'}"
    if parameters_read(placeholder):
        return "gen reads no expressions", hint
    if ".json_escape[" in placeholder:
        return "only Vertex AI has this function", hint
    if placeholder.startswith("{{$.inputs.artifacts[") and placeholder.endswith("]}}"):
        return "Kubeflow Pipelines replaces only its `path` and its `uri`, those of the first artifact of a list", hint
    if (made := OUTPUT.fullmatch(placeholder)) is not None and made[2] == "parameters" and not of_name:
        hint = f"{PRINTED}; otherwise {hint}"
    return "only a run of the pipeline has its value", hint


def short(name: str, of: str) -> str:
    """A name for a text, with room for a word before it in a label. Long ones end in digits, so that they differ."""
    if len(name) <= _MAX_LABEL:
        return name
    digits = hashlib.sha256(of.encode()).hexdigest()[:_DIGITS]
    return f"{name[: _MAX_LABEL - _DIGITS - 1].strip('-')}-{digits}"


_MAX_LABEL: Final = 50
_DIGITS: Final = 5


def with_item(text: str, item: object) -> str:
    """A text with an item of a loop."""
    if item is NO_ITEM:
        return text

    def value(match: re.Match[str]) -> str:
        key = match[1]
        if key is None:
            return as_text(item)
        return as_text(item[key]) if isinstance(item, dict) and key in item else match[0]

    return _replaced(_ITEM, text, value)


def with_defaults(text: str, parameters: Mapping[str, str]) -> str:
    """A text with the values of the parameters of the pipeline."""
    return PARAMETER.sub(lambda match: parameters.get(match[1], match[0]), text)


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
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tuple(map(whole, items)) if isinstance(items, list) and 0 < len(items) <= MAX_ITEMS else None


def joined(text: str) -> str:
    """The text of a placeholder `Concat`; other texts as they are."""
    try:
        parts = json.loads(text)["Concat"] if text.startswith('{"Concat"') else ()
    except (ValueError, RecursionError):
        return text
    return "".join(joined(one if isinstance(one, str) else json.dumps(one)) for one in as_list(parts)) or text


def as_text(value: object) -> str:
    """A value of a parameter as pipelines write it into texts."""
    return value if isinstance(value, str) else json.dumps(value)


def whole(value: Any) -> Any:
    """A value without fractions that are zero: those of JSON that the compiler writes, and the pipeline does not."""
    if isinstance(value, dict):
        return {key: whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


MAX_CONDITION: Final = 2000
_STATUS: Final = regex(
    r"""["']?\{\{(?:(?:tasks|steps)\.[\w-]+|workflow)\.status\}\}["']?\s*(==|!=)\s*["']?(\w+)["']?"""
)
_VALUE: Final = r"""(?:"([^"]*)"|'([^']*)'|([^"'=!<>&|]*))"""
_COMPARISON: Final = regex(rf"{_VALUE}\s*(==|!=|<=|>=|<|>)\s*{_VALUE}")
_MAX_DEPTH: Final = 100


def status_in(condition: str) -> When | None:
    """How the tasks before must have ended, if the condition only compares their status."""
    match = _STATUS.fullmatch(condition.strip())
    if match is None:
        return None
    equal, succeeded = match[1] == "==", match[2] == "Succeeded"
    if not succeeded and match[2] not in {"Failed", "Error"}:
        return None
    return "succeeded" if equal == succeeded else "failed"


def holds(condition: str) -> bool | None:
    """Whether a condition on known values is true; None for one on others."""
    text = condition.strip()
    if len(text) > MAX_CONDITION or text.count("(") + text.count("!") > _MAX_DEPTH:
        return None
    for sign, decides in (("||", True), ("&&", False)):
        parts = _split(text, sign)
        if len(parts) > 1:
            known = [holds(one) for one in parts]
            return decides if decides in known else None if None in known else not decides
    if text.startswith("!"):
        inner = holds(text[1:])
        return None if inner is None else not inner
    if text.startswith("(") and text.endswith(")"):
        return holds(text[1:-1])
    return _compared(text)


def _split(text: str, sign: str) -> list[str]:
    """The parts of a condition around an operator that is in no brackets and no quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for index, char in enumerate(text):
        if quote or char in "\"'":
            quote = "" if char == quote else quote or char
        else:
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth == 0 and index >= start and text.startswith(sign, index):
                parts.append(text[start:index])
                start = index + len(sign)
    return [*parts, text[start:]]


def _compared(condition: str) -> bool | None:
    match = _COMPARISON.fullmatch(condition)
    if match is None or "{{" in condition:
        return None
    operator = match[4]
    left, right = ("".join(filter(None, match.group(*numbers))).strip() for numbers in ((1, 2, 3), (5, 6, 7)))
    try:
        one, other = float(left), float(right)
    except ValueError:
        known = {"==": left == right, "!=": left != right}
        return known.get(operator)
    equal, less, more = one == other, one < other, one > other
    known = {"==": equal, "!=": not equal, "<": less, ">": more, "<=": less or equal, ">=": more or equal}
    return known[operator]
