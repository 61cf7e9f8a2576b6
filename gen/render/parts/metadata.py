"""Labels and annotations: those that a job may set, those on which gen, operators or schedulers act, and those of
rendered objects.

`app.kubernetes.io/instance` is not set: older versions of Argo CD prune objects with that label as their own. An
annotation describes the metrics in the log of a run, so that tools find them.

The client of Arena finds a run that it has not submitted by labels and a ConfigMap: `arena list`, `get`, `logs` and
`top` select objects and pods by the labels `app` and `release`, and read the number of GPUs from an annotation;
`arena delete` deletes the objects that a ConfigMap names (`pkg/training`, `pkg/workflow` and `pkg/util/kubectl` of
kubeflow/arena 0.15).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Final

import orjson

from gen.base import regex
from gen.base.codes.commands import SILENCEABLE
from gen.base.codes.files import TOO_LARGE
from gen.base.codes.grants import NOT_GRANTED
from gen.base.codes.jobs import INVALID_LABEL, POD_METADATA, RESERVED_METADATA
from gen.base.engines import ENGINES, aside_annotations, run_annotations, storage_annotations
from gen.base.placeholders import RUN, TRIAL, with_hash
from gen.job.kinds.base import Job
from gen.job.kinds.role import Role
from gen.job.metric import KnownMetric
from gen.job.names import LABEL_KEY, LABEL_VALUE
from gen.job.plan import Plan
from gen.job.scalars import shown
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import (
    CHECKPOINTS,
    COMPONENT,
    JOB_LABEL,
    MANAGED_BY,
    METRICS,
    NAME,
    QUEUE,
    RESUMES,
    RUN_LABEL,
    STEP_LABEL,
    VALUES,
    VOLUME_LABEL,
    WORKFLOW_LABEL,
    Body,
    present,
)
from gen.kubernetes.rules import SILENCE
from gen.overlay.profiles.queues import QUEUES
from gen.render.parts.context import Context

_RESERVED = (
    "app.kubernetes.io/",
    "config.kubernetes.io/",
    "gen/",
    "helm.sh/",
    "internal.config.kubernetes.io/",
    "kubectl.kubernetes.io/",
    "kueue.x-k8s.io/",
    "meta.helm.sh/",
    "training.kubeflow.org/",
    "workflows.argoproj.io/",  # such as `completed`, after which the controller ignores a workflow
    *(prefix for engine in ENGINES.values() for prefix in engine.prefixes),
)
"""Metadata of gen and of tools that act on its objects. It is set by fields, and cannot be granted."""
_OPERATORS = frozenset({"controller-uid", "group-name", "job-name", "job-role", "replica-index", "replica-type"})
"""Labels without a prefix that operators and the Job controller use to find their pods."""
_CONTROLLERS = frozenset(
    {"aadpodidbinding"}  # AAD Pod Identity: gives the pod an identity of the cloud
    | {"applicationId", "disableStateAware", "placeholder", "queue", "task-group-name"}  # Apache YuniKorn
    | {"spark-app-selector", "spark-role"}  # Spark, and YuniKorn, which takes the first for an application
    | {"pod-group.scheduling.sigs.k8s.io"}  # the coscheduling plugin, which is out of the tree of Kubernetes
    | {"eci"}  # virtual nodes of Alibaba Cloud
    | {"controller-revision-hash", "pod-template-generation", "pod-template-hash"}  # controllers of Kubernetes
)
"""Labels without a prefix that schedulers and controllers act on. Only defaults of the overlay may set them."""


_OF_PODS = (
    "azure.workload.identity/use",
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "container.apparmor.security.beta.kubernetes.io/",
    "iam.amazonaws.com/role",
    "k8s.aliyun.com/",  # Terway and ECI
    "k8s.v1.cni.cncf.io/",
    "karpenter.sh/do-not-disrupt",
    "kubernetes.io/egress-bandwidth",
    "kubernetes.io/ingress-bandwidth",
    "linkerd.io/inject",
    "sidecar.istio.io/",
    "tke.cloud.tencent.com/networks",
    "vault.hashicorp.com/",
)
"""Starts of keys that controllers only read on pods."""


def is_reserved(key: str) -> bool:
    """Whether gen or an operator sets the key itself."""
    return key.startswith(_RESERVED) or key in _OPERATORS


def is_silence(key: str) -> bool:
    """Whether the key silences a warning about a command."""
    return key.startswith(SILENCE) and key.removeprefix(SILENCE) in SILENCEABLE


def is_of_controllers(key: str) -> bool:
    """Whether schedulers or controllers act on the key, so that only defaults of the overlay can set it."""
    return key in _CONTROLLERS or any(model.acts_on(key) for model in QUEUES.values())


def is_of_pods(key: str) -> bool:
    """Whether controllers only read the key on pods."""
    return key.startswith(_OF_PODS)


BOARD = "tensorboard"
"""Component of the objects of a TensorBoard; its Service selects the pods by it."""
KEYS_OF_ARENA = frozenset({"app", "release", "requestGPUsOfJobOwner", "group_name", "mpi_role_type", "volcano-role"})
"""Labels and the annotation that `compat.arena` of an overlay sets."""
_KEY = regex(LABEL_KEY)
_VALUE = regex(LABEL_VALUE)
_MAX_ANNOTATIONS = 256 << 10


def check_metadata(context: Context) -> None:
    """Labels and annotations of the job's objects."""
    _check_labels(context, ("labels",), context.job.labels)
    _check_annotations(context, ("annotations",), context.job.annotations)


def check_pod_metadata(context: Context, role: Role) -> None:
    """Labels and annotations of a role's pods."""
    _check_labels(context, context.route_of(role, "pod_labels"), context.of_role(role, "pod_labels"))
    _check_annotations(context, context.route_of(role, "pod_annotations"), context.of_role(role, "pod_annotations"))


def _check_labels(context: Context, route: tuple[str, ...], values: Mapping[str, str]) -> None:
    _check_keys(context, route, values)
    for key, value in values.items():
        if not _VALUE.fullmatch(with_hash(value)):
            field = "podAnnotations" if route[-1] == "podLabels" else "annotations"
            hint = f"use at most 63 letters, digits, `-`, `_` and `.`, or move it to `{field}`"
            context.error(INVALID_LABEL, (*route, key), f"{shown(value)} is not a valid label value", hint)


def _check_annotations(context: Context, route: tuple[str, ...], values: Mapping[str, str]) -> None:
    _check_keys(context, route, values)
    if (size := sum(len(key.encode()) + len(value.encode()) for key, value in values.items())) > _MAX_ANNOTATIONS:
        message = f"the {route[-1]} have {size} bytes in total; the maximum is {_MAX_ANNOTATIONS}"
        context.error(TOO_LARGE, route, message, "keep long texts in `files`")


def _check_keys(context: Context, route: tuple[str, ...], values: Mapping[str, str]) -> None:
    """In a job file, keys with a prefix and labels of pods need a grant.

    Networks and schedulers act on the former. Services and network policies of the namespace select pods by the latter.
    """
    selected = route[-1] == "podLabels"
    for key in values:
        if route == ("annotations",) and is_silence(key):
            if not values[key].strip():
                message = f"`{key}` has no reason"
                context.error(
                    INVALID_LABEL, (*route, key), message, "write why the finding does not apply, or remove it"
                )
        elif is_reserved(key):
            hint = "remove it; a field of the job or the overlay controls it"
            context.error(RESERVED_METADATA, (*route, key), f"a job cannot set `{key}`", hint, key=True)
        elif key in KEYS_OF_ARENA and context.overlay.fields.compat.arena and context.job.arena:
            message = f"a job cannot set `{key}` in overlay `{context.overlay.name}`, which sets it for Arena"
            context.error(RESERVED_METADATA, (*route, key), message, "use another key", key=True)
        elif is_of_controllers(key) and context.set_by_job((*route, key)):
            queue = any(model.acts_on(key) for model in QUEUES.values())
            hint = "remove it, and set `queue`" if queue else "use another key"
            hint += "; only `defaults` of the overlay can set this one"
            message = f"a job cannot set `{key}`, because schedulers or controllers act on it"
            context.error(RESERVED_METADATA, (*route, key), message, hint, key=True)
        elif not _KEY.fullmatch(key):
            hint = "use a form like `team` or `example.com/team`"
            context.error(INVALID_LABEL, (*route, key), f"{shown(key)} is not a valid key", hint, key=True)
        elif is_of_pods(key) and route[-1] in ("labels", "annotations"):
            hint = f"move it to `pod{route[-1].capitalize()}`"
            message = f"`{key}` only affects pods, and `{route[-1]}` are not set on them"
            context.error(POD_METADATA, (*route, key), message, hint, key=True)
        elif (
            ("/" in key or selected)
            and context.set_by_job((*route, key))
            and not any(fnmatchcase(key, pattern) for pattern in context.grant.metadata)
        ):
            namespace, overlay = context.given.namespace, context.overlay.name
            other = "move it to `labels`, by which nothing selects pods" if selected else "use a key without a prefix"
            hint = f"add it to `namespaces.{namespace}.metadata` of the overlay, or {other}"
            message = f"namespace `{namespace}` may not set `{key}` in overlay `{overlay}`"
            context.error(NOT_GRANTED, (*route, key), message, hint, key=True)


def job_labels(plan: Plan, component: str) -> dict[str, str]:
    """Labels of every object of a job, also used by selectors."""
    return {COMPONENT: component, MANAGED_BY: "gen", NAME: plan.job, JOB_LABEL: plan.job}


def run_labels(plan: Plan, component: str) -> dict[str, str]:
    return {**job_labels(plan, component), **own_labels(plan)}


def own_labels(plan: Plan) -> dict[str, str]:
    """Labels that no other run has, and no other step of a pipeline."""
    of_step = {STEP_LABEL: plan.step} if plan.step else {}
    of_workflow = {WORKFLOW_LABEL: TRIAL} if plan.step and TRIAL in plan.run else {}
    return {RUN_LABEL: RUN, **of_step, **of_workflow}


def run_metadata(plan: Plan, name: str, component: str) -> Body:
    """Metadata of an object of one run."""
    lifecycle = run_annotations(plan.engines, plan.state, settled=_is_settled(plan))
    queue = queue_labels(plan) if plan.starter.admitted else _own_queue_label(plan)
    labels = {**plan.labels, **run_labels(plan, component), **queue}
    return _metadata(name, plan.namespace, labels, {**plan.annotations, **lifecycle})


def inner_metadata(plan: Plan) -> Body:
    """Metadata of a trial of a search or of a step of a pipeline, which engines do not know.

    It is a part of the object around it, so labels that can change without a new run are not in it.
    """
    return _metadata(plan.run, plan.namespace, {**run_labels(plan, plan.kind), **queue_labels(plan)}, {})


def queue_labels(plan: Plan) -> Mapping[str, str]:
    """Labels of a run that its queue acts on, and the name of the queue."""
    return {**plan.queue.profile.labels, **_own_queue_label(plan)} if plan.queue is not None else {}


def _own_queue_label(plan: Plan) -> Mapping[str, str]:
    return {QUEUE: plan.queue.name} if plan.queue is not None and plan.queue.declared else {}


def _is_settled(plan: Plan) -> bool:
    """Whether Git never changes an active run under the same name: a run with a hash that Git does not suspend."""
    if plan.queue is None or plan.stable:
        return False
    return plan.queue.profile.suspends or not plan.can_suspend


def job_metadata(plan: Plan, name: str, component: str) -> Body:
    """Metadata of an object that all runs of a job share. Its health is not that of a run."""
    labels = {**plan.labels, **job_labels(plan, component)}
    return _metadata(name, plan.namespace, labels, {**plan.annotations, **aside_annotations(plan.engines)})


def storage_metadata(name: str, namespace: str | None, volume: str = "") -> Body:
    """Metadata of an object that belongs to no job and is protected from pruning: of a volume, or of a namespace."""
    labels = {MANAGED_BY: "gen"} | ({VOLUME_LABEL: volume} if volume else {})
    return _metadata(name, namespace, labels, storage_annotations())


def _metadata(name: str, namespace: str | None, labels: Mapping[str, str], annotations: Mapping[str, str]) -> Body:
    return present(
        name=name,
        namespace=namespace,
        labels=dict(sorted(labels.items())),
        annotations=dict(sorted(annotations.items())),
    )


def add_metadata(metadata: Body, field: str, added: Mapping[str, str]) -> None:
    """Add labels or annotations, in the order of their keys."""
    if added:
        metadata[field] = dict(sorted({**metadata.get(field, {}), **added}.items()))


def metrics_annotation(plan: Plan) -> str | None:
    """A JSON list with the name, the format and the regular expression of each metric, and the step that prints it.

    None without metrics.
    """
    listed = _listed(plan.metrics)
    for step in plan.steps:
        listed += [{"step": step.name, **one} for one in _listed(step.plan.metrics)]
    return orjson.dumps(listed).decode() if listed else None


def _listed(metrics: Iterable[KnownMetric]) -> list[dict[str, str]]:
    return [{"name": one.name, "format": one.format, "regex": one.regex} for one in metrics]


def describe_run(workload: Body, plan: Plan) -> None:
    """Annotate an object of a run in Git with the metrics of the job and its steps, the values and the checkpoints."""
    if (metrics := metrics_annotation(plan)) is not None:
        workload["metadata"].setdefault("annotations", {})[METRICS] = metrics
    if plan.values:
        workload["metadata"].setdefault("annotations", {})[VALUES] = orjson.dumps(plan.values).decode()
    for name, folder in ((CHECKPOINTS, plan.checkpoints), (RESUMES, plan.resumes)):
        if folder:
            workload["metadata"].setdefault("annotations", {})[name] = folder


_ARENA_GPUS: Final = "requestGPUsOfJobOwner"


def show_to_arena(job: Job, plan: Plan, pods: Mapping[str, Body], workload: Body) -> None:
    """Add the labels and the annotation of a run and its pods; `arena` of the plan must be set."""
    labels = {"app": plan.arena, "release": plan.run}
    gpus = {_ARENA_GPUS: str(plan.gpus)}
    add_metadata(workload["metadata"], "labels", labels)
    add_metadata(workload["metadata"], "annotations", gpus)
    for role, template in pods.items():
        add_metadata(template["metadata"], "labels", {**labels, **job.arena_labels(role)})
        add_metadata(template["metadata"], "annotations", gpus)


def arena_state(plan: Plan, facts: Resource) -> Body:
    """The ConfigMap that `arena delete` reads. It names the run, and has no values of it."""
    name = f"{plan.run}-{plan.arena}"
    data = {"app": f"{facts.kind.lower()}.{facts.group}/{plan.run}"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def board_labels(plan: Plan) -> Mapping[str, str]:
    """Labels of the Service of TensorBoard, which `arena get` looks for."""
    return {"role": BOARD, "release": plan.run} if plan.arena else {}
