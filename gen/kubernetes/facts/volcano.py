"""Volcano (`batch.volcano.sh`, `scheduling.volcano.sh`), from volcano-sh/apis 1.15."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from gen.base import at
from gen.kubernetes.facts import base
from gen.kubernetes.facts.argo import CRON_WORKFLOW
from gen.kubernetes.objects import Body

SCHEDULER: Final = "volcano"
GROUP_NAME: Final = "scheduling.k8s.io/group-name"
"""Annotation of a pod with the name of its PodGroup."""
QUEUE_LABEL: Final = "volcano.sh/queue-name"
DEFAULT_QUEUE: Final = "default"
DEFAULT_RETRIES: Final = 3
"""Defaults of the webhook (`pkg/webhooks/admission/jobs/mutate`)."""
TORCH_PORT: Final = 23456
"""Default port of the plugin `pytorch`."""
_TASK: base.Pattern = ("spec", "tasks", base.ANY_ITEM)
_PHASE = ("status", "state", "phase")


def _plugin_env(pod: base.PodOf) -> list[Body]:
    """The variables of its plugins (`pkg/controllers/job/plugins`)."""
    plugins = at(pod.body, "spec", "plugins") or {}
    made = [variable for name in plugins for variable in _VARIABLES.get(name, _nothing)(pod, plugins[name] or ())]
    return [one if "valueFrom" in one else {**one, "value": str(one["value"])} for one in made]


def _nothing(_pod: base.PodOf, _arguments: Iterable[str]) -> list[Body]:
    return []


def _env(pod: base.PodOf, _arguments: Iterable[str]) -> list[Body]:
    return [{"name": name, "value": pod.index} for name in ("VK_TASK_INDEX", "VC_TASK_INDEX")]


def _svc(pod: base.PodOf, _arguments: Iterable[str]) -> list[Body]:
    keys = (f"VC_{name.upper().replace('-', '_')}_{end}" for name in _tasks(pod.body) for end in ("HOSTS", "NUM"))
    source = f"{at(pod.body, 'metadata', 'name')}-svc"
    return [{"name": key, "valueFrom": {"configMapKeyRef": {"name": source, "key": key}}} for key in keys]


def _pytorch(pod: base.PodOf, arguments: Iterable[str]) -> list[Body]:
    names, tasks = (
        {"master": "master", "worker": "worker", "port": str(TORCH_PORT), **plugin_flags(arguments)},
        _tasks(pod.body),
    )
    if pod.init or names["master"] not in tasks:
        return []
    size = sum(tasks.get(name, 0) for name in {names["master"], names["worker"]})
    ranks = {names["master"]: 0, names["worker"]: pod.index + 1}
    values = {"MASTER_ADDR": _hosts(pod.body, names["master"], 1)[0], "MASTER_PORT": names["port"], "WORLD_SIZE": size}
    values |= {"RANK": ranks[pod.role]} if pod.role in ranks else {}
    return [{"name": name, "value": value} for name, value in values.items()]


def _tensorflow(pod: base.PodOf, arguments: Iterable[str]) -> list[Body]:
    names, tasks = {"port": "2222", **plugin_flags(arguments)}, _tasks(pod.body)
    if pod.init or list(tasks.values()) == [1]:
        return []
    types = {names.get(kind, kind): kind for kind in ("ps", "worker", "chief", "evaluator")}
    hosts = {types[name]: _hosts(pod.body, name, count) for name, count in tasks.items() if name in types}
    cluster = {kind: [f"{host}:{names['port']}" for host in hosts[kind]] for kind in types.values() if kind in hosts}
    config = {"cluster": cluster, "task": {"type": types.get(pod.role, pod.role), "index": pod.index}}
    return [{"name": "TF_CONFIG", "value": json.dumps(config, separators=(",", ":"))}]


def _mpi(pod: base.PodOf, arguments: Iterable[str]) -> list[Body]:
    names, tasks = {"master": "master", "worker": "worker", **plugin_flags(arguments)}, _tasks(pod.body)
    if pod.role != names["master"] or names["worker"] not in tasks:
        return []
    hosts = _hosts(pod.body, names["worker"], tasks[names["worker"]])
    return [{"name": "MPI_HOST", "value": ",".join(hosts)}]


_VARIABLES: Final = {"env": _env, "svc": _svc, "pytorch": _pytorch, "tensorflow": _tensorflow, "mpi": _mpi}


def plugin_flags(arguments: Iterable[str]) -> dict[str, str]:
    """The values of flags of a plugin, which are behind `=`, or the next word."""
    words = [*arguments]
    found = {}
    for text, more in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = text.lstrip("-").partition("=")
        if text.startswith("-"):
            found[name] = value if equals or more.startswith("-") else more
    return found


def _tasks(body: Body) -> dict[str, int]:
    """Numbers of pods by name."""
    found = {str(at(one, "name")): at(one, "replicas") for one in at(body, "spec", "tasks") or ()}
    return {name: count if isinstance(count, int) else 1 for name, count in found.items()}


def _hosts(body: Body, task: str, count: int) -> list[str]:
    run = at(body, "metadata", "name")
    return [f"{run}-{task}-{index}.{run}" for index in range(count)]


VOLCANO_JOB: Final = base.Resource(
    group="batch.volcano.sh",
    kind="Job",
    title="Volcano Job",
    versions={"batch.volcano.sh/v1alpha1": ("Never", "OnFailure", "Always")},
    pods=(
        base.PodSet(
            template=(*_TASK, "template"), counts=(base.Count(route=(*_TASK, "replicas")),), pod_name="{run}-{role}-{0}"
        ),
    ),
    pod_env=_plugin_env,
    indices=("volcano.sh/task-index",),  # `pkg/controllers/job/job_controller_util.go`
    run_labels={"volcano.sh/job-name": 0},  # `pkg/apis/batch/v1alpha1/labels.go`
    is_run=True,
    scheduled_by=CRON_WORKFLOW,
    retries=("spec", "maxRetry"),
    ttl=("spec", "ttlSecondsAfterFinished"),
    # an aborted job can only be resumed by a Command object, so for an engine it has failed
    status=base.Phases(
        succeeded=(base.Phase(field=_PHASE, values=("Completed",)),),
        failed=(base.Phase(field=_PHASE, values=("Failed", "Aborted", "Terminated")),),
    ),
    groups=(
        base.Group(
            scheduler=SCHEDULER, settings={"queue": ("spec", "queue"), "priorityClass": ("spec", "priorityClassName")}
        ),
    ),
    scheduler=SCHEDULER,
    # `createJobPod` in `pkg/controllers/job/job_controller_util.go`
    pod_index=("metadata.annotations['volcano.sh/task-index']",),
    trial=base.Trial(index={"volcano.sh/task-index": "0"}),
    # `pkg/webhooks/admission/jobs/mutate`
    implied={
        ("spec", "queue"): DEFAULT_QUEUE,
        ("spec", "maxRetry"): DEFAULT_RETRIES,
        (*_TASK, "maxRetry"): DEFAULT_RETRIES,
        (*_TASK, "minAvailable"): lambda _, task: task.get("replicas"),
    },
    filled=(
        *(
            base.FilledField(place=("spec",), field=(name,))
            for name in ("queue", "schedulerName", "maxRetry", "minAvailable")
        ),
        *(base.FilledField(place=_TASK, field=(name,)) for name in ("name", "minAvailable", "maxRetry")),
    ),
    derived=(
        base.DerivedName(
            suffix="-{role}-{0}",
            kinds=("Pod",),
            each=_TASK,
            unnamed="default{}",
            counts=(base.Count(route=(*_TASK, "replicas")),),
        ),
    ),
)
POD_GROUP: Final = base.Resource(
    group="scheduling.volcano.sh", kind="PodGroup", versions={"scheduling.volcano.sh/v1beta1": ()}
)
QUEUE: Final = base.Resource(
    group="scheduling.volcano.sh", kind="Queue", versions={"scheduling.volcano.sh/v1beta1": ()}
)
