"""Volcano jobs (`batch.volcano.sh/v1alpha1`).

From `pkg/webhooks/admission/jobs/validate` of volcano-sh/volcano 1.15. Whether a queue exists and is open depends on
the cluster.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import Final

from gen.base import Route, names, quoted
from gen.kubernetes.facts.volcano import VOLCANO_JOB
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, not_one_of, operator_rule, placed
from gen.kubernetes.rules.field_checks import duplicates, unique
from gen.kubernetes.rules.operators.common import derived_names, items, name_fault
from gen.kubernetes.rules.value_checks import absolute, dns_1035_label, not_empty, qualified_name

_JOB = str(VOLCANO_JOB)
_WEBHOOK = "The Volcano webhook rejects the object."
_EVENTS = names(
    "* PodFailed PodEvicted PodPending PodRunning Unknown TaskCompleted OutOfSync CommandIssued JobUpdated TaskFailed"
)
_INTERNAL_EVENTS = {"OutOfSync", "CommandIssued", "JobUpdated"}
_ACTIONS = names("AbortJob RestartJob RestartTask RestartPod RestartPartition TerminateJob CompleteJob ResumeJob")
_PLUGINS: Final = ("env", "svc", "ssh", "pytorch", "tensorflow", "mpi", "ray", "hcclrank")


def _tasks(view: ObjectView) -> list[Body]:
    return items(view, "tasks")


def _name(index: int, task: Body) -> str:
    """The name of a task, or the one that the webhook generates."""
    return str(task.get("name") or f"default{index}")


@operator_rule("volcano-tasks", _JOB, reason=_WEBHOOK, remedy="Add at least one task, each with a unique name.")
def volcano_tasks(view: ObjectView) -> Faults:
    """A job has no tasks, or a task has a duplicate or invalid name or negative replicas."""
    if not _tasks(view):
        yield Fault(("spec",) if "spec" in view.body else (), "`tasks` is missing")
    at = ("spec", "tasks")
    named = [{"name": _name(index, task)} for index, task in enumerate(_tasks(view))]
    yield from unique(named, at, "name", "task name", "")
    for index, task in enumerate(_tasks(view)):
        yield from placed(dns_1035_label(_name(index, task)), (*at, index, "name"))
        if task.get("replicas", 0) < 0:
            yield Fault((*at, index, "replicas"), f"{task['replicas']} is negative")


@operator_rule("volcano-min-available", _JOB, reason=_WEBHOOK, remedy="Use at most the number of replicas.")
def volcano_min_available(view: ObjectView) -> Faults:
    """`minAvailable` of a job or task is negative or more than its replicas, or another count is negative."""
    total = 0
    for index, task in enumerate(_tasks(view)):
        replicas = task.get("replicas", 1)
        total += replicas
        wanted = task.get("minAvailable", 0)
        if not 0 <= wanted <= replicas:
            yield Fault(
                ("spec", "tasks", index, "minAvailable"), f"{wanted} is not between 0 and `replicas` ({replicas})"
            )
    wanted = view.spec.get("minAvailable", 0)
    if _tasks(view) and not 0 <= wanted <= total:
        yield Fault(("spec", "minAvailable"), f"{wanted} is not between 0 and the sum of all replicas ({total})")
    for field in ("maxRetry", "ttlSecondsAfterFinished"):
        if view.spec.get(field, 0) < 0:
            yield Fault(("spec", field), f"{view.spec[field]} is negative")


@operator_rule(
    "volcano-policies",
    _JOB,
    reason=_WEBHOOK,
    remedy="Set one `action` for events or for an exit code other than 0, each only once, and use `*` alone.",
)
def volcano_policies(view: ObjectView) -> Faults:
    """A policy has no action, neither events nor an exit code, or an event or exit code of another policy."""
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
            yield Fault(at, "exactly one of `event` and `exitCode` is required")
        if code == 0:
            yield Fault((*at, "exitCode"), "exit code 0 is not a failure")
        if policy.get("action", "") not in _ACTIONS:
            yield not_one_of(policy.get("action", ""), sorted(_ACTIONS)).at((*at, "action"))
        for event in events:
            if event not in _EVENTS - _INTERNAL_EVENTS:
                yield Fault(at, f"`{event}` is not an event that policies support")
        said = [*events, *([code] if code is not None else [])]
        for one in said:
            if one in seen:
                yield Fault(at, f"`{one}` already has a policy")
            seen.add(one)
    if "*" in seen and len([one for one in seen if isinstance(one, str)]) > 1:
        yield Fault(route, "`*` matches all events, so no other event is allowed")


@operator_rule(
    "volcano-plugins",
    _JOB,
    reason=f"{_WEBHOOK} The plugin `mpi` needs a master task.",
    remedy=f"Use one of {quoted(_PLUGINS)}. With `mpi`, name a task `master`.",
)
def volcano_plugins(view: ObjectView) -> Faults:
    """A plugin is unknown, or the plugin `mpi` has no master task."""
    plugins = view.spec.get("plugins") or {}
    for name in plugins:
        if name not in _PLUGINS:
            yield Fault(("spec", "plugins", name), f"unknown plugin `{name}`")
    if "mpi" in plugins:
        arguments = [str(one).lstrip("-") for one in plugins["mpi"] or ()]
        master = next((one.partition("=")[2] for one in arguments if one.startswith("master=")), "master")
        if master not in {_name(index, task) for index, task in enumerate(_tasks(view))}:
            yield Fault(("spec", "plugins", "mpi"), f"no task is named `{master}`")


@operator_rule("volcano-queue", _JOB, reason=f"{_WEBHOOK} Only leaf queues take jobs.", remedy="Use a leaf queue.")
def volcano_queue(view: ObjectView) -> Faults:
    """The queue is `root`."""
    if view.spec.get("queue") == "root":
        yield Fault(("spec", "queue"), "`root` contains other queues, and takes no jobs")


@operator_rule("volcano-depends-on", _JOB, reason=_WEBHOOK, remedy="Name existing tasks, and remove the cycle.")
def volcano_depends_on(view: ObjectView) -> Faults:
    """A task depends on a task that does not exist, or on itself through others."""
    names = {_name(index, task) for index, task in enumerate(_tasks(view))}
    graph: dict[str, list[str]] = {}
    for index, task in enumerate(_tasks(view)):
        needed = (task.get("dependsOn") or {}).get("name") or []
        graph[_name(index, task)] = needed
        for number, name in enumerate(needed):
            if name not in names:
                yield Fault(("spec", "tasks", index, "dependsOn", "name", number), f"no task is named `{name}`")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield Fault(("spec", "tasks"), f"cyclic dependency: {' → '.join(error.args[1])}")


@operator_rule(
    "volcano-partitions",
    _JOB,
    reason=_WEBHOOK,
    remedy="Set the replicas of the task to `totalPartitions` times `partitionSize`.",
)
def volcano_partitions(view: ObjectView) -> Faults:
    """The partitions of a task do not add up to its replicas."""
    for index, task in enumerate(_tasks(view)):
        policy = task.get("partitionPolicy")
        if policy is None:
            continue
        at = ("spec", "tasks", index, "partitionPolicy")
        total, size = policy.get("totalPartitions", 0), policy.get("partitionSize", 0)
        if total <= 0 or size <= 0:
            yield Fault(at, "`totalPartitions` and `partitionSize` must be positive")
        elif total * size != task.get("replicas", 1):
            yield Fault(at, f"{total} partitions of {size} do not add up to {task.get('replicas', 1)} replicas")
        elif policy.get("minPartitions", 0) > total:
            yield Fault((*at, "minPartitions"), f"{policy['minPartitions']} is more than `totalPartitions` ({total})")


@operator_rule(
    "volcano-name",
    _JOB,
    reason="Pods are named `<job>-<task>-<index>`, and the plugin `svc` uses these names as host names.",
    remedy="Shorten the name of the job or of the task, and begin it with a letter.",
)
def volcano_name(view: ObjectView) -> Faults:
    """A name that is derived for pods is invalid or longer than 63 characters."""
    if "svc" in (view.spec.get("plugins") or {}):
        name = view.metadata.get("name", "")
        yield from name_fault((*([name] if name else ()), *derived_names(view)))
    else:
        yield from name_fault(derived_names(view), qualified_name)


@operator_rule(
    "volcano-volumes",
    _JOB,
    reason=_WEBHOOK,
    remedy="Give each volume a unique path, and set either the name of a claim or a claim template.",
)
def volcano_volumes(view: ObjectView) -> Faults:
    """A volume has a duplicate or relative path, or not exactly one claim."""
    volumes = view.spec.get("volumes") or []
    for here, (path,) in duplicates(volumes, ("spec", "volumes"), "mountPath"):
        yield Fault((*here, "mountPath"), f"`{path}` is mounted twice")
    for index, volume in enumerate(volumes):
        at = ("spec", "volumes", index)
        path = volume.get("mountPath", "")
        yield from placed(not_empty(path) or absolute(path), (*at, "mountPath"))
        if bool(volume.get("volumeClaimName")) == bool(volume.get("volumeClaim")):
            yield Fault(at, "exactly one of `volumeClaimName` and `volumeClaim` is required")
