"""A compiled pipeline of either version: templates that run something, groups of tasks that call them, retries, and
settings for Kubernetes.

Argo runs the container again in a new pod up to `limit` times, after the first one (`RetryStrategy` in
`pkg/apis/workflow/v1alpha1/workflow_types.go` of argo-workflows), as a Job does up to `backoffLimit`. `retryPolicy` of
the IR becomes this strategy: `getTaskRetryStrategyFromInput` in `backend/src/v2/compiler/argocompiler/container.go`
of kubeflow/pipelines.
The settings are in `kubernetes_platform/proto` there; `extendPodSpecPatch` in `backend/src/v2/driver/k8s.go` makes a
pod of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from gen.base import Route, as_list, as_mapping, at, regex
from gen.importers.kfp.losses import Loss
from gen.kubernetes.objects import Body, present

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
    fixed: tuple[str, ...] = ()
    """Parameters of the pipeline with a value in its pod."""
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
    unset: frozenset[str] = frozenset()
    """Inputs of the template that it passes on without a value."""
    selected: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)
    """Inputs that get a part of their value, with its route; the one without a name is the list of the loop."""
    items: tuple[object, ...] | None = None
    """It runs once for each."""
    loop: str = ""
    """The text of a list of items that depends on other values."""
    retries: Retries = NO_RETRIES
    """Those of the template that it calls."""
    lost: tuple[Loss, ...] = ()


class Group(Struct, frozen=True, kw_only=True):
    """A template with tasks."""

    tasks: tuple[Task, ...]
    defaults: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, Route] = field(default_factory=dict)
    """Inputs that need no value and have no default value. A task that passes on one without a value sets nothing."""
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


def with_values(text: str, values: Mapping[str, str]) -> str:
    """A text with the values of the inputs of its template."""
    return _replaced(INPUT, text, lambda match: values.get(match[1], match[0]))


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


_OF_PODS: Final = frozenset(
    {"pvcMount", "secretAsEnv", "configMapAsEnv", "secretAsVolume", "configMapAsVolume", "nodeSelector", "tolerations"}
    | {"imagePullPolicy", "fieldPathAsEnv", "podMetadata", "imagePullSecret", "activeDeadlineSeconds", "nodeAffinity"}
    | {"genericEphemeralVolume", "emptyDirMounts", "enabledSharedMemory", "securityContext", "initContainers"}
)
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


class Around(Struct, frozen=True, kw_only=True):
    """The inputs of the graph around a task: values, those without a value, and the parameters of the pipeline."""

    values: Mapping[str, str]
    absent: frozenset[str]
    parameters: Mapping[str, str]


def on_kubernetes(leaf: Leaf, around: Around) -> Leaf:
    """A component with its settings for Kubernetes. Settings that no pod has stay as they are, so that the comparison
    with the object of gen finds them.
    """
    if not leaf.settings or not leaf.pod:
        return leaf
    fixed: list[str] = []
    settings = {str(name): _resolved(value, around, str(name), fixed) for name, value in leaf.settings.items()}
    container = leaf.pod["containers"][0]
    volumes = list(_volumes(settings))
    names = {known: name for known, name, _, _ in volumes}
    own = present(
        imagePullPolicy=settings.get("imagePullPolicy"),
        env=[*as_list(container.get("env")), *_variables(settings)],
        volumeMounts=[present(name=name, **mount) for _, name, _, mount in volumes],
        securityContext=_security(settings.get("securityContext")),
    )
    selector = at(settings, "nodeSelector", "nodeSelectorJson") or {}
    labels = _json(selector) if selector else at(settings, "nodeSelector", "labels")
    of_pod = present(
        nodeSelector=labels,
        nodeSelectorJson=selector if labels is None else None,
        volumes=[{"name": name, **source} for _, name, source, _ in volumes],
        tolerations=[toleration for one in as_list(settings.get("tolerations")) for toleration in _tolerations(one)],
        affinity=present(nodeAffinity=_affinity(as_list(settings.get("nodeAffinity")))),
        imagePullSecrets=[{"name": _name(one, "secret")} for one in as_list(settings.get("imagePullSecret"))],
        initContainers=[_before(as_mapping(one), names) for one in as_list(settings.get("initContainers"))],
    )
    others = {str(name): value for name, value in settings.items() if name not in _OF_PODS}
    seconds = number_of(settings.get("activeDeadlineSeconds")) or leaf.seconds
    pod = {**leaf.pod, **others, "containers": [{**container, **own}], **of_pod}
    metadata = as_mapping(settings.get("podMetadata"))
    return replace(leaf, pod=pod, metadata=metadata, seconds=seconds, fixed=tuple(fixed))


def _resolved(value: object, around: Around, name: str, fixed: list[str]) -> Any:
    """A setting with constants in place of inputs of the graph, as `resolveInputParameter` in
    `backend/src/v2/driver/resolve.go` of kubeflow/pipelines does; None if an input has no value. Each claim needs one.
    """
    if isinstance(value, list):
        every = (_resolved(one, around, name, fixed) for one in value)
        return [one for one in every if one is not None]
    if not isinstance(value, dict):
        return value
    made = {str(key): _resolved(one, around, str(key), fixed) for key, one in value.items()}
    if any(made[key] is None and value[key] is not None for key in made):
        return None
    if isinstance(outer := value.get("componentInputParameter"), str):
        if outer in around.absent and not name.startswith("pvc"):
            return None
        text = around.values.get(outer, f"{{{{workflow.parameters.{outer}}}}}")
        constant = _structure(text, around) if name.endswith("Json") else text
        if constant is not None:
            made["runtimeValue"] = {"constant": constant}
            fixed += [one[1] for one in PARAMETER.finditer(text)] if constant is not text else []
    return made


def _structure(text: str, around: Around) -> Any:
    """The object or the list of a text in JSON; None for another text."""
    try:
        made = json.loads(with_defaults(text, around.parameters))
    except (ValueError, RecursionError):
        return None
    return made if isinstance(made, dict | list) else None


def _variables(settings: Body) -> Iterator[Body]:
    for field_name, source, key in (
        ("secretAsEnv", "secret", "secretKey"),
        ("configMapAsEnv", "configMap", "configMapKey"),
    ):
        for one in as_list(settings.get(field_name)):
            more = {"name": _name(one, source), **present(optional=at(one, "optional") or None)}
            for pair in as_list(at(one, "keyToEnv")):
                yield {"name": at(pair, "envVar"), "valueFrom": {f"{source}KeyRef": {**more, "key": at(pair, key)}}}
    for one in as_list(settings.get("fieldPathAsEnv")):
        yield {"name": at(one, "name"), "valueFrom": {"fieldRef": {"fieldPath": at(one, "fieldPath")}}}


def _volumes(settings: Body) -> Iterator[tuple[str, str, Body, Body]]:
    """For each volume: its name for init containers, its name in the pod, its source and its mount."""
    for field_name, source, key in (
        ("pvcMount", "pvc", "claimName"),
        ("secretAsVolume", "secret", "secretName"),
        ("configMapAsVolume", "configMap", "name"),
    ):
        for number, one in enumerate(as_list(settings.get(field_name))):
            named = "persistentVolumeClaim" if source == "pvc" else source
            named_object = _name(one, source)
            made = {key: named_object, **present(optional=at(one, "optional") or None)}
            mount = present(mountPath=at(one, "mountPath"), subPath=at(one, "subPath"))
            yield named_object, f"{source.lower()}-{number}", {named: made}, mount
    for one in as_list(settings.get("genericEphemeralVolume")):
        spec = present(
            accessModes=at(one, "accessModes"),
            resources={"requests": {"storage": at(one, "size")}},
            storageClassName=None if at(one, "defaultStorageClass") else at(one, "storageClassName"),
        )
        template = present(metadata=at(one, "metadata"), spec=spec)
        yield _volume(one, {"ephemeral": {"volumeClaimTemplate": template}}, at(one, "mountPath"))
    for one in as_list(settings.get("emptyDirMounts")):
        directory = present(medium=at(one, "medium"), sizeLimit=at(one, "sizeLimit"))
        yield _volume(one, {"emptyDir": directory}, at(one, "mountPath"))
    if one := settings.get("enabledSharedMemory"):
        directory = present(medium="Memory", sizeLimit=at(one, "size"))
        yield _volume(one, {"emptyDir": directory}, "/dev/shm")  # noqa: S108 - the mount path in the pod


def _volume(one: object, source: Body, path: object) -> tuple[str, str, Body, Body]:
    name = str(at(one, "volumeName"))
    return name, name, source, {"mountPath": path}


def _before(container: Body, names: Mapping[str, str]) -> Body:
    """An init container, with the names that its volumes have in the pod."""
    mounts = [
        {"name": names.get(name := str(at(one, "volumeName")), name), "mountPath": at(one, "mountPath")}
        for one in as_list(container.get("volumeMounts"))
    ]
    return {**container, **present(volumeMounts=mounts)}


def _security(context: object) -> Body:
    """The security context of the container; the driver drops all capabilities then."""
    numbers = {name: number_of(value) for name, value in as_mapping(context).items() if name.startswith("runAs")}
    kept = {name: as_mapping(context)[name] if number is None else number for name, number in numbers.items()}
    return {**kept, "capabilities": {"drop": ["ALL"]}} if isinstance(context, dict) else {}


def _tolerations(one: object) -> Iterator[object]:
    if (parameter := at(one, "tolerationJson")) is None:
        seconds = number_of(at(one, "tolerationSeconds"))
        yield {**as_mapping(one), "tolerationSeconds": seconds} if seconds is not None else one
        return
    known = _json(parameter)
    yield from [one] if known is None else known if isinstance(known, list) else [known] if known else []


def _affinity(terms: list[Any]) -> Body:
    required: list[Any] = []
    preferred: list[Any] = []
    for one in terms:
        known = _json(parameter) if (parameter := at(one, "nodeAffinityJson")) is not None else {}
        required += as_list(at(known, _REQUIRED, "nodeSelectorTerms"))
        preferred += as_list(at(known, _PREFERRED)) if known is not None else [one]  # no pod has it
        term = present(matchExpressions=at(one, "matchExpressions"), matchFields=at(one, "matchFields"))
        if parameter is None and term:
            weight = at(one, "weight")
            preferred += [{"weight": whole(weight), "preference": term}] if weight is not None else []
            required += [term] if weight is None else []
    made = {_REQUIRED: {"nodeSelectorTerms": required}} if required else {}
    return {**made, **present(**{_PREFERRED: preferred})}


def _json(parameter: object) -> Any:
    """The constant of a parameter; None for a value that only a run has. All numbers of pods are whole."""
    constant = at(parameter, "runtimeValue", "constant")
    return whole(constant) if isinstance(constant, dict | list) else None


def _name(one: object, source: str) -> str:
    """The name of an object: a constant, an input of the component, or the output of a task."""
    given = at(one, f"{source}NameParameter") or one
    if isinstance(
        plain := at(given, "runtimeValue", "constant") or at(given, "constant") or at(given, f"{source}Name"), str
    ):
        return plain
    if isinstance(outer := at(given, "componentInputParameter"), str):
        return f"{{{{inputs.parameters.{outer}}}}}"
    output = at(given, "taskOutputParameter")
    return f"{{{{tasks.{at(output, 'producerTask')}.outputs.parameters.{at(output, 'outputParameterKey')}}}}}"
