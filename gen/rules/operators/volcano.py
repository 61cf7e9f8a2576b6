"""Volcano jobs (`batch.volcano.sh/v1alpha1`).

From `pkg/webhooks/admission/jobs/validate` of volcano-sh/volcano 1.15. Which queues there are, and whether they are
open, is the cluster's matter.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Final

from gen.rules.fault import Fault, not_one_of
from gen.rules.field_checks import duplicates
from gen.rules.operators.common import last, name_fault
from gen.rules.rule import operators
from gen.rules.value_checks import absolute, dns_1035_label, not_empty, qualified_name

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_JOB = "batch.volcano.sh/Job"
_WEBHOOK = "The webhook of Volcano refuses it."
_EVENTS = {"*", "PodFailed", "PodEvicted", "PodPending", "PodRunning", "Unknown", "TaskCompleted", "OutOfSync"} | {
    "CommandIssued",
    "JobUpdated",
    "TaskFailed",
}
_INTERNAL_EVENTS = {"OutOfSync", "CommandIssued", "JobUpdated"}
_ACTIONS = {
    "AbortJob",
    "RestartJob",
    "RestartTask",
    "RestartPod",
    "RestartPartition",
    "TerminateJob",
    "CompleteJob",
} | {
    "ResumeJob",
}
_PLUGINS: Final = ("env", "svc", "ssh", "pytorch", "tensorflow", "mpi", "ray", "hcclrank")


def _tasks(view: ObjectView) -> list[Body]:
    found: list[Body] = view.spec.get("tasks") or []
    return found


def _name(index: int, task: Body) -> str:
    """With the one that the webhook would give."""
    return str(task.get("name") or f"default{index}")


@operators("volcano-tasks", _JOB, reason=_WEBHOOK, remedy="Write at least one task, each with a name of its own.")
def volcano_tasks(view: ObjectView) -> Faults:
    """A job has tasks with names of their own that are DNS labels, and no negative numbers of replicas."""
    if not _tasks(view):
        yield Fault(("spec",) if "spec" in view.body else (), "a job has `tasks`")
    at = ("spec", "tasks")
    named = [{"name": _name(index, task)} for index, task in enumerate(_tasks(view))]
    for here, (name,) in duplicates(named, at, "name"):
        yield Fault((*here, "name"), f"two tasks are called `{name}`")
    for index, task in enumerate(_tasks(view)):
        fault = dns_1035_label(_name(index, task))
        if fault is not None:
            yield fault.at((*at, index, "name"))
        if task.get("replicas", 0) < 0:
            yield Fault((*at, index, "replicas"), f"{task['replicas']} is negative")


@operators("volcano-min-available", _JOB, reason=_WEBHOOK, remedy="Write no more than there are replicas.")
def volcano_min_available(view: ObjectView) -> Faults:
    """`minAvailable` is neither negative nor more than there are replicas, of a task and of the job."""
    total = 0
    for index, task in enumerate(_tasks(view)):
        replicas = task.get("replicas", 1)
        total += replicas
        wanted = task.get("minAvailable", 0)
        if not 0 <= wanted <= replicas:
            yield Fault(
                ("spec", "tasks", index, "minAvailable"), f"{wanted} is not between 0 and `replicas`, {replicas}"
            )
    wanted = view.spec.get("minAvailable", 0)
    if _tasks(view) and not 0 <= wanted <= total:
        yield Fault(("spec", "minAvailable"), f"{wanted} is not between 0 and all replicas, {total}")
    for field in ("maxRetry", "ttlSecondsAfterFinished"):
        if view.spec.get(field, 0) < 0:
            yield Fault(("spec", field), f"{view.spec[field]} is negative")


@operators(
    "volcano-policies",
    _JOB,
    reason=_WEBHOOK,
    remedy="Write one `action` for events or for an exit code other than 0, each only once; `*` stands alone.",
)
def volcano_policies(view: ObjectView) -> Faults:
    """Policies have an action, and either events or an exit code, none of which is there twice."""
    yield from _policies(view.spec.get("policies") or [], ("spec", "policies"))
    for index, task in enumerate(_tasks(view)):
        yield from _policies(task.get("policies") or [], ("spec", "tasks", index, "policies"))


def _policies(policies: list[Body], route: Route) -> Faults:
    seen: set[str | int] = set()
    for index, policy in enumerate(policies):
        at = (*route, index)
        events = [*([policy["event"]] if policy.get("event") else []), *(policy.get("events") or [])]
        code = policy.get("exitCode")
        if bool(events) == (code is not None):
            yield Fault(at, "needs either `event` or `exitCode`")
        if code == 0:
            yield Fault((*at, "exitCode"), "0 is no failure")
        if policy.get("action", "") not in _ACTIONS:
            yield not_one_of(policy.get("action", ""), sorted(_ACTIONS)).at((*at, "action"))
        for event in events:
            if event not in _EVENTS - _INTERNAL_EVENTS:
                yield Fault(at, f"`{event}` is no event that a policy can be for")
        said = [*events, *([code] if code is not None else [])]
        for one in said:
            if one in seen:
                yield Fault(at, f"`{one}` has a policy already")
            seen.add(one)
    if "*" in seen and len([one for one in seen if isinstance(one, str)]) > 1:
        yield Fault(route, "`*` stands for all events, so there is no other")


@operators(
    "volcano-plugins",
    _JOB,
    reason=f"{_WEBHOOK} The plugin `mpi` looks for a task with the master.",
    remedy=f"Use one of {', '.join(f'`{name}`' for name in _PLUGINS)}; with `mpi`, call a task `master`.",
)
def volcano_plugins(view: ObjectView) -> Faults:
    """Plugins are known ones, and `mpi` finds its master task."""
    plugins = view.spec.get("plugins") or {}
    for name in plugins:
        if name not in _PLUGINS:
            yield Fault(("spec", "plugins", name), f"there is no plugin `{name}`")
    if "mpi" in plugins:
        arguments = [str(one).lstrip("-") for one in plugins["mpi"] or ()]
        master = next((one.partition("=")[2] for one in arguments if one.startswith("master=")), "master")
        if master not in {_name(index, task) for index, task in enumerate(_tasks(view))}:
            yield Fault(("spec", "plugins", "mpi"), f"no task is called `{master}`")


@operators(
    "volcano-queue", _JOB, reason=f"{_WEBHOOK} Jobs go to the leaves of the tree of queues.", remedy="Name a leaf."
)
def volcano_queue(view: ObjectView) -> Faults:
    """The queue is not `root`."""
    if view.spec.get("queue") == "root":
        yield Fault(("spec", "queue"), "`root` holds other queues, and takes no jobs")


@operators("volcano-depends-on", _JOB, reason=_WEBHOOK, remedy="Name other tasks, and let none wait for itself.")
def volcano_depends_on(view: ObjectView) -> Faults:
    """Tasks depend on tasks that there are, in no circle."""
    names = {_name(index, task) for index, task in enumerate(_tasks(view))}
    graph: dict[str, list[str]] = {}
    for index, task in enumerate(_tasks(view)):
        needed = (task.get("dependsOn") or {}).get("name") or []
        graph[_name(index, task)] = needed
        for number, name in enumerate(needed):
            if name not in names:
                yield Fault(("spec", "tasks", index, "dependsOn", "name", number), f"no task is called `{name}`")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield Fault(("spec", "tasks"), f"tasks wait for each other: {' → '.join(error.args[1])}")


@operators(
    "volcano-partitions",
    _JOB,
    reason=_WEBHOOK,
    remedy="Write `totalPartitions` times `partitionSize` as the replicas of the task.",
)
def volcano_partitions(view: ObjectView) -> Faults:
    """Partitions of a task make up its replicas."""
    for index, task in enumerate(_tasks(view)):
        policy = task.get("partitionPolicy")
        if policy is None:
            continue
        at = ("spec", "tasks", index, "partitionPolicy")
        total, size = policy.get("totalPartitions", 0), policy.get("partitionSize", 0)
        if total <= 0 or size <= 0:
            yield Fault(at, "needs `totalPartitions` and `partitionSize`, more than 0")
        elif total * size != task.get("replicas", 1):
            yield Fault(at, f"{total} partitions of {size} are not the {task.get('replicas', 1)} replicas")
        elif policy.get("minPartitions", 0) > total:
            yield Fault((*at, "minPartitions"), f"{policy['minPartitions']} is more than {total}")


@operators(
    "volcano-name",
    _JOB,
    reason="Pods are called `<job>-<task>-<index>`, and the plugin `svc` makes them names of hosts.",
    remedy="Shorten the name of the job or of the task, and begin it with a letter.",
)
def volcano_name(view: ObjectView) -> Faults:
    """The names of pods that are made of the name have at most 63 characters."""
    name = view.metadata.get("name", "")
    pods = [f"{name}-{_name(index, task)}-{last(task.get('replicas', 1))}" for index, task in enumerate(_tasks(view))]
    if "svc" in (view.spec.get("plugins") or {}):
        yield from name_fault(view, name, *pods)
        return
    for pod in pods:
        fault = qualified_name(pod)
        if name and fault is not None:
            yield Fault(("metadata", "name"), f"it makes the name `{pod[:80]}`, and {fault.message}")
            return


@operators(
    "volcano-volumes",
    _JOB,
    reason=_WEBHOOK,
    remedy="Give each volume a path of its own, and either the name of a claim or what to claim.",
)
def volcano_volumes(view: ObjectView) -> Faults:
    """Volumes of a job have paths of their own, and one claim each."""
    volumes = view.spec.get("volumes") or []
    for here, (path,) in duplicates(volumes, ("spec", "volumes"), "mountPath"):
        yield Fault((*here, "mountPath"), f"`{path}` is mounted twice")
    for index, volume in enumerate(volumes):
        at = ("spec", "volumes", index)
        path = volume.get("mountPath", "")
        fault = not_empty(path) or absolute(path)
        if fault is not None:
            yield fault.at((*at, "mountPath"))
        if bool(volume.get("volumeClaimName")) == bool(volume.get("volumeClaim")):
            yield Fault(at, "needs either `volumeClaimName` or `volumeClaim`")
