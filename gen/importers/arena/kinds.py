"""Flags of the other job types, and the function of each type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.findings.imports import NOT_CARRIED
from gen.importers.arena.common import FINISHED, OPERATOR, duration, simple
from gen.importers.arena.pods import containers
from gen.importers.arena.ray import ray
from gen.importers.arena.scheduling import metadata, placement, role_annotations
from gen.importers.arena.tensorflow import tensorflow

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.importers.arena.draft import Draft


def pytorch(draft: Draft) -> None:
    simple(draft, shared="share-memory")
    placement(draft, {})
    draft.carry("nproc-per-node", "nprocPerNode")
    draft.carry("clean-task-policy", "cleanup")
    duration(draft, "running-timeout", "timeout")
    draft.lose("ttl-after-finished", "the run would start again", FINISHED)


def mpi(draft: Draft) -> None:
    simple(draft)
    placement(draft, {})
    draft.carry("clean-task-policy", "cleanup")
    if draft.given.on("gputopology"):
        if "gpus" in draft.fields and "accelerator" not in draft.fields:
            draft.set("topology", "accelerator", place=draft.given.place_of("gputopology"))
            draft.need({"ackTopology": {}}, "accelerators", "topology")
        else:
            draft.lose("gputopology", "the job has no GPUs", "add `--gpus`, or remove it")
    draft.lose("mounts-on-launcher", "the launcher always has the data of the job", "remove it")


def elastic(draft: Draft) -> None:
    """`etjob` and `deepspeedjob`: the launcher is a pod of its own, with the CPU and memory of the workers."""
    given = draft.given
    given.values.pop("retry", None) if given.text("retry") == "0" else None
    if given.last("job-backoff-limit") is not None:
        draft.lose("retry", "Arena ignores it for this type", "remove it; `--job-backoff-limit` counts")
        given.values.pop("retry", None)
    simple(draft)
    draft.carry("job-backoff-limit", "retries")
    draft.carry("job-restart-policy", "restart")
    for flag in ("cpu", "memory"):
        draft.carry(flag, "roles", "launcher", flag)
    placement(draft, {"launcher": "launcher-selector"}, roles=("worker",), every=("launcher", "worker"))
    role_annotations(draft, {"launcher": "launcher-annotation", "worker": "worker-annotation"})
    hint = "use `kind: pytorch` with `elastic`, if the program can train with torchrun"
    for flag in ("max-workers", "min-workers"):
        draft.lose(flag, "an MPIJob has a fixed number of workers", hint)
    for flag in ("spot-instance", "max-wait-time"):
        draft.lose(flag, "only the supervisor of Arena reads it", "set `placement` and `timeout` instead")
    draft.lose("worker-restart-policy", "workers restart in place", "remove it")
    draft.lose("ssh-secret", "the MPI operator makes the keys", "remove it")
    message = f"a `{given.type.name}` becomes an MPIJob, and its list of hosts is in `/etc/mpi/hostfile`"
    hint = "check the options for hosts and for elastic training in `command`"
    draft.found.warning(NOT_CARRIED, given.place, message, hint)


def horovod(draft: Draft) -> None:
    simple(draft)
    placement(draft, {})
    draft.lose("ssh-port", "the MPI operator chooses it", OPERATOR)


_TASK_IMAGES: Final = "ubuntu,nginx,busybox"
"""Arena's defaults; requests and limits of a task are 250m CPU and 128Mi of memory."""


def volcano(draft: Draft) -> None:
    """One role for each image; all run the same command."""
    given = draft.given
    containers(draft)
    draft.fields.pop("workingDir", None)  # Arena sets none here
    metadata(draft)
    images = [image.strip() for image in (given.text("task-images") or _TASK_IMAGES).split(",") if image.strip()]
    place = given.place_of("task-images")
    draft.set(given.text("task-cpu") or "250m", "cpu", place=given.place_of("task-cpu"))
    draft.set(given.text("task-memory") or "128Mi", "memory", place=given.place_of("task-memory"))
    name = given.text("task-name") or "task"
    for number, image in enumerate(images):
        draft.set(image, "roles", f"{name}-{number}", "image", place=place)
        draft.set(given.text("task-replicas") or "1", "roles", f"{name}-{number}", "replicas")
    draft.set(given.text("min-available") or "1", "minAvailable", place=given.place_of("min-available"))
    given.every("task-name")
    queue_name = given.text("queue")
    if queue_name not in ("", "default"):
        draft.carry("queue", "queue")
        draft.need({"volcano": {"queue": queue_name}}, "queues", queue_name)
        draft.grant("queues", queue_name)
    if given.text("scheduler-name") != "volcano":
        draft.lose("scheduler-name", "Volcano schedules the job", "remove it")
    draft.lose("task-port", "a job declares no ports; its pods reach each other without", "remove it")


CARRY: Final[dict[str, Callable[[Draft], None]]] = {
    "tfjob": tensorflow,
    "cron tfjob": tensorflow,
    "pytorchjob": pytorch,
    "mpijob": mpi,
    "etjob": elastic,
    "deepspeedjob": elastic,
    "horovodjob": horovod,
    "rayjob": ray,
    "volcanojob": volcano,
}
"""Function by job type, which moves the values of a submission into a draft."""
