"""Fields of the training types of arena: those that all share, the roles of `tfjob`, and the groups of `rayjob`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from gen.base.codes.imports import INVALID_COMMAND_LINE
from gen.base.regex import regex
from gen.importers.arena.pods import code, containers, data, shared_memory, tensorboard
from gen.importers.arena.scheduling import devices, metadata, network, placement, queue
from gen.kubernetes import quantity

if TYPE_CHECKING:
    from gen.importers.arena.submission import Draft

_DURATION: Final = regex(r"(?:[0-9]+(?:\.[0-9]*)?(?:h|ms|us|µs|ns|m|s))+|0")
_UNITS: Final = {"h": "3600", "m": "60", "s": "1", "ms": "0.001", "us": "0.000001", "µs": "0.000001", "ns": "1e-9"}
FINISHED: Final = "remove it; set `state: finished` in the job after its end. gen never deletes runs by time"
OPERATOR: Final = "remove it; the operator chooses it"


def common(draft: Draft) -> None:
    """What all training types share, except resources and nodes."""
    containers(draft)
    code(draft)
    data(draft)
    tensorboard(draft)
    network(draft)
    queue(draft)
    metadata(draft)
    hint = "register the model after the training, such as with the client of MLflow"
    for flag in ("model-name", "model-source"):
        draft.lose(flag, "gen registers no models", hint)


def duration(draft: Draft, flag: str, *route: str) -> None:
    """A duration of Go (`time.ParseDuration`). Zero means none."""
    value = draft.given.last(flag)
    if value is None:
        return
    if _DURATION.fullmatch(value.text) is None:
        hint = "use a form like `2h30m` or `90s`"
        draft.found.error(INVALID_COMMAND_LINE, value.place, f"`--{flag}`: expected a duration", hint)
        return
    parts = re.findall(r"([0-9]+(?:\.[0-9]*)?)(h|ms|us|µs|ns|m|s)", value.text)
    seconds = int(sum((Decimal(number) * Decimal(_UNITS[unit]) for number, unit in parts), Decimal(0)))
    if seconds:
        draft.set(quantity.duration(seconds), *route, place=value.place)


def gpus(draft: Draft) -> None:
    if draft.given.text("gpus") not in ("", "0"):
        draft.carry("gpus", "gpus")
    devices(draft)


def simple(draft: Draft, *, shared: str | None = None) -> None:
    """Types with one set of resources."""
    common(draft)
    draft.carry("image", "image")
    draft.carry("workers", "workers")
    gpus(draft)
    draft.carry("cpu", "cpu")
    draft.carry("memory", "memory")
    if draft.given.text("retry") != "0":
        draft.carry("retry", "retries")
    shared_memory(draft, shared, [draft.given.text("memory")])


_ACCOUNT: Final = "gen-pipeline"
"""ServiceAccount of the workflows that start the runs of a schedule."""


def tensorflow(draft: Draft) -> None:
    given = draft.given
    common(draft)
    roles = [name for name in ("chief", "evaluator") if given.on(name)]
    servers = given.text("ps") not in ("", "0")
    draft.carry("workers", "workers")
    gpus(draft)
    draft.carry("worker-image" if given.last("worker-image") else "image", "image")
    given.every("image")
    for role in roles:
        draft.set({}, "roles", role, place=given.place_of(role))
    memories = _tensorflow_resources(draft, "worker", () if not roles else ("roles", "worker"))
    for role in ("chief", "evaluator"):
        if role in roles:
            memories += _tensorflow_resources(draft, role, ("roles", role))
        else:
            _lose_role(draft, role, f"--{role}")
    if servers:
        draft.carry("ps", "roles", "ps", "replicas")
        image = given.text("ps-image") or given.text("image")
        if image and image != draft.fields.get("image"):
            draft.carry("ps-image" if given.last("ps-image") else "image", "roles", "ps", "image")
        if given.text("ps-gpus") != "0":
            draft.carry("ps-gpus", "roles", "ps", "gpus")
        _tensorflow_resources(draft, "ps", ("roles", "ps"))
    else:
        _lose_role(draft, "ps", "--ps", "ps-image", "ps-gpus")
    _tensorflow_placement(draft, [*roles, *(["ps"] if servers else [])])
    shared_memory(draft, "share-memory", memories)
    if given.text("retry") != "0":
        draft.carry("retry", "retries")
    _tensorflow_policies(draft, chief="chief" in roles)
    _cron(draft)


def _tensorflow_resources(draft: Draft, role: str, route: tuple[str, ...]) -> list[str]:
    """CPU and memory. gen sets a request and an equal limit; without a request, Kubernetes takes the limit for it."""
    memories = []
    for resource in ("cpu", "memory"):
        flag, limit = f"{role}-{resource}", f"{role}-{resource}-limit"
        if draft.given.last(flag) is None:
            draft.carry(limit, *route, resource)
        else:
            draft.carry(flag, *route, resource)
            if draft.given.text(limit) != draft.given.text(flag):
                draft.lose(
                    limit, f"the limit is the request, `{draft.given.text(flag)}`", f"raise `{resource}` if needed"
                )
    memories += [draft.given.text(f"{role}-memory") or draft.given.text(f"{role}-memory-limit")]
    return memories


def _lose_role(draft: Draft, role: str, switch: str, *more: str) -> None:
    names = ("cpu", "memory", "cpu-limit", "memory-limit")
    for flag in (*(f"{role}-{name}" for name in names), *more):
        draft.lose(flag, f"the job has no role `{role}`", f"add `{switch}`, or remove it")


def _tensorflow_placement(draft: Draft, roles: list[str]) -> None:
    own = {role: f"{role}-selector" for role in ("worker", *roles) if draft.given.last(f"{role}-selector")}
    if len(own) == len(roles) + 1 and draft.given.every("selector"):
        draft.lose("selector", "every role has a selector of its own", "remove it")
        draft.given.values.pop("selector")
    placement(draft, own, every=("worker", *roles))
    for role in ("ps", "chief", "evaluator"):
        if role not in roles:
            draft.lose(f"{role}-selector", f"the job has no role `{role}`", "remove it")


def _tensorflow_policies(draft: Draft, *, chief: bool) -> None:
    given = draft.given
    draft.carry("clean-task-policy", "cleanup")
    duration(draft, "running-timeout", "timeout")
    policy = given.text("success-policy")
    if policy == "AllWorkers" and chief:
        draft.lose("success-policy", "the job ends with its chief", "remove it")
    elif policy != "ChiefWorker":
        draft.carry("success-policy", "successPolicy")
    draft.lose("ttl-after-finished", "the run would start again", FINISHED)
    draft.lose("starting-timeout", "no version of TFJob that gen renders has it", "set `timeout` instead")
    draft.lose("role-sequence", "the operator starts all roles together", "remove it")
    for flag in ("worker-port", "ps-port", "chief-port"):
        draft.lose(flag, "`TF_CONFIG` has the addresses of all pods", OPERATOR)
    hint = "use `placement`; the platform owner can set an affinity with `patches` of the overlay"
    for role in ("worker", "ps"):
        for flag in (f"{role}-affinity-policy", f"{role}-affinity-constraint"):
            draft.lose(flag, "a job has no affinities", hint)


def _cron(draft: Draft) -> None:
    """A schedule. Its runs may overlap by default, for which a job needs a time limit."""
    given = draft.given
    if given.on("suspend"):
        draft.set("suspended", "state", place=given.place_of("suspend"))
    if given.last("schedule") is None:
        for flag in ("concurrency-policy", "history-limit", "deadline"):
            draft.lose(flag, "the command has no schedule", "add `--schedule`")
        return
    draft.carry("schedule", "schedule", "cron")
    policy = given.text("concurrency-policy") or "Allow"
    if policy == "Allow" and "timeout" not in draft.fields:
        hint = "set `timeout`, and `concurrency: Allow` of `schedule`"
        draft.drop(given.place, "the policy `Allow`", "runs that overlap need a time limit", hint)
    elif policy != "Forbid":
        draft.set(policy, "schedule", "concurrency", place=given.place)
    given.every("concurrency-policy")
    if given.last("history-limit") is not None:
        for state in ("succeeded", "failed"):
            draft.set(given.text("history-limit"), "schedule", "history", state, place=given.place_of("history-limit"))
        given.every("history-limit")
    draft.lose("deadline", "a schedule has no end", "remove the job at that time")
    draft.need({"argo": {"serviceAccount": _ACCOUNT}}, "pipelines")


def ray(draft: Draft) -> None:
    given = draft.given
    common(draft)
    hint = "use `--worker-replicas` and `--worker-gpu`"
    draft.lose("workers", "Arena ignores it for Ray", hint)
    draft.lose("gpus", "Arena only writes it into an annotation for Ray", hint)
    if given.text("retry") != "0":
        draft.carry("retry", "retries")
    draft.carry("worker-image" if given.last("worker-image") else "image", "image")
    head = given.text("head-image") or given.text("image")
    if head and head != draft.fields.get("image"):
        draft.carry("head-image" if given.last("head-image") else "image", "roles", "head", "image")
    for resource, field in (("cpu", "cpu"), ("memory", "memory"), ("gpu", "gpus")):
        for flag, route in ((f"worker-{resource}", (field,)), (f"head-{resource}", ("roles", "head", field))):
            if given.text(flag) != "0":
                draft.carry(flag, *route)
    devices(draft)
    _ray_workers(draft)
    placement(draft, {})
    draft.carry("ray-version", "rayVersion")
    if given.last("share-memory") is not None:
        memories = [given.text("worker-memory"), given.text("head-memory")]
        shared_memory(draft, "share-memory", memories)
    duration(draft, "active-deadline-seconds", "timeout")
    duration(draft, "ttl-after-finished", "keepCluster")
    if given.on("suspend") and given.on("queue"):
        draft.lose("suspend", "the queue suspends and resumes the job", "remove it")
    elif given.on("suspend"):
        draft.set("suspended", "state", place=given.place_of("suspend"))
    if given.last("shutdown-after-finished") is not None and not given.on("shutdown-after-finished"):
        why = "gen always deletes the cluster at the end, to free its GPUs"
        draft.lose("shutdown-after-finished", why, "set `keepCluster: 12h` to keep it for some time")
    draft.lose("head-service-type", "the overlay decides how services are reached", "use `kubectl port-forward`")
    draft.lose("pre-stop-command", "KubeRay stops Ray", "remove it")


def _ray_workers(draft: Draft) -> None:
    given = draft.given
    hosts = given.text("worker-num-of-hosts")
    if hosts not in ("", "1"):
        draft.carry("worker-num-of-hosts", "roles", "worker", "numOfHosts")
        draft.set("1", "roles", "worker", "replicas")
        draft.carry("worker-replicas", "roles", "worker", "replicas")
    else:
        draft.carry("worker-replicas", "workers")
    scales = given.on("enable-autoscaling") and "queue" not in draft.fields
    if scales:
        draft.set(True, "autoscaler", place=given.place_of("enable-autoscaling"))
        if any(given.last(f"autoscaler-{name}") for name in ("idle-timeout-seconds", "upscaling-mode")):
            draft.set({}, "autoscaler")
            draft.carry("autoscaler-idle-timeout-seconds", "autoscaler", "idleTimeoutSeconds")
            draft.carry("autoscaler-upscaling-mode", "autoscaler", "upscalingMode")
        for flag, field in (("worker-min-replicas", "minReplicas"), ("worker-max-replicas", "maxReplicas")):
            if given.text(flag) != "0":  # the number of replicas
                draft.carry(flag, "roles", "worker", field)
        if given.text("worker-min-replicas") in ("", "0") and given.last("worker-replicas"):
            draft.carry("worker-replicas", "roles", "worker", "minReplicas")
    elif given.on("enable-autoscaling"):
        draft.lose("enable-autoscaling", "a queue admits only clusters of a fixed size", "remove the queue")
    others = ("worker-min-replicas", "worker-max-replicas") if not scales else ()
    idle = ("autoscaler-idle-timeout-seconds", "autoscaler-upscaling-mode") if not scales else ()
    for flag in (*others, *idle):
        draft.lose(flag, "the cluster has a fixed size", "add `--enable-autoscaling`, or remove it")
    for flag in ("cpu", "memory", "image", "image-pull-policy"):
        draft.lose(f"autoscaler-{flag}", "KubeRay chooses the container of the autoscaler", "remove it")
