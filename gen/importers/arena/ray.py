"""Flags of `rayjob`: a head and one group of workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.importers.arena.common import common, duration
from gen.importers.arena.pods import shared_memory
from gen.importers.arena.scheduling import devices, placement

if TYPE_CHECKING:
    from gen.importers.arena.draft import Draft


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
