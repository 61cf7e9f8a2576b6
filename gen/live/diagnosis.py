"""The diagnosis of a run: a timeline for each of its pods, the present blocker, the end of a log, and the remedy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from gen.base import regex
from gen.live.client import Api, ClusterError, NotFoundError
from gen.live.lists import base_of
from gen.live.pods import FAILED, GANG, RUNNING, UNSCHEDULABLE, Pod
from gen.live.waiting import QUOTA

_LINES: Final = 8
"""Last lines of a log that are shown."""
_LONGEST: Final = 500
"""Characters of a line."""


class PodTimeline(Struct, frozen=True, kw_only=True):
    """Events of a pod."""

    name: str
    title: str
    phase: str
    node: str
    created: str
    scheduled: str
    started: str
    ended: str
    """Times in UTC; empty before they come."""
    restarts: int
    reason: str
    message: str
    blocked: bool
    """Whether the reason is a present one."""


class Diagnosis(Struct, frozen=True, kw_only=True):
    """The pods of a run, and the remedy if one is in trouble."""

    pods: tuple[PodTimeline, ...]
    """The pods that are blocked first."""
    blocker: str = ""
    """Name of the pod that is the first to look at; empty if none is in trouble."""
    log: tuple[str, ...] = ()
    """Last lines of its log."""
    remedy: str = ""
    """The field of the job or the overlay that would help; empty if none is known."""


def timeline(pods: Sequence[Pod]) -> tuple[PodTimeline, ...]:
    ordered = sorted(pods, key=lambda pod: (not pod.blocked, not pod.reason, pod.role, pod.index or 0, pod.name))
    return tuple(
        PodTimeline(
            name=pod.name,
            title=pod.title,
            phase="Terminating" if pod.deleted else pod.phase,
            node=pod.node,
            created=pod.created,
            scheduled=pod.scheduled,
            started=pod.started,
            ended=pod.ended,
            restarts=pod.restarts,
            reason=pod.reason,
            message=pod.message,
            blocked=pod.blocked,
        )
        for pod in ordered
    )


def diagnose(api: Api, pods: Sequence[Pod], reason: str, message: str) -> Diagnosis:
    """The reason is that of the run. A log that cannot be read is not shown: `gen logs` says why."""
    troubled = [pod for pod in pods if pod.reason and not pod.deleted]
    first = min(troubled, key=lambda pod: (not pod.blocked, pod.phase == RUNNING and pod.ready, pod.name), default=None)
    log: tuple[str, ...] = ()
    if first is not None and first.containers:
        log = _last_lines(api, first)
    return Diagnosis(
        pods=timeline(pods),
        blocker=first.name if first is not None else "",
        log=log,
        remedy=remedy(first.reason if first is not None else reason, first.message if first is not None else message),
    )


def _last_lines(api: Api, pod: Pod) -> tuple[str, ...]:
    """Of the container that ran last: before its restart, if it does not run now."""
    container = pod.containers[0]
    query = {"container": container.name, "tailLines": str(_LINES), "timestamps": "true"}
    if not container.running and container.restarts and pod.phase != FAILED:
        query["previous"] = "true"
    try:
        raw = api.text(f"{base_of('v1')}/namespaces/{pod.namespace}/pods/{pod.name}/log", query)
    except (ClusterError, NotFoundError):
        return ()
    return tuple(line[:_LONGEST] for line in without_times(raw)[-_LINES:])


def without_times(raw: bytes) -> list[str]:
    """Lines of a log with times."""
    return [line.partition(" ")[2] for line in raw.decode("utf-8", "replace").splitlines()]


_IMAGE: Final = (
    "check `image` of the job; for a private registry, `imagePullSecrets` of the job or of the overlay's `defaults`"
)
_PROGRAM: Final = "the program ended with an error: correct `command` or `image` of the job; the edit is a new run"
_REMEDIES: Final[dict[str, str]] = {
    "ErrImagePull": _IMAGE,
    "ImagePullBackOff": _IMAGE,
    "InvalidImageName": "correct `image` of the job",
    "CrashLoopBackOff": _PROGRAM,
    "Error": _PROGRAM,
    "OOMKilled": "raise `memory` of the job, or lower its batch size; `sharedMemory` counts as memory, too",
    "CreateContainerConfigError": "create the Secret or ConfigMap that `env` of the job names, with its key",
    "Evicted": "raise `disk` of the job, or write less to the file system of its containers",
    "DeadlineExceeded": "raise `timeout` of the job",
    GANG: "wait until all pods fit at once, or lower `workers` or `gpus` of the job",
    QUOTA: "end or suspend other runs of the namespace, lower `gpus` of the job, or raise `namespaces` in the overlay",
    "Pending": "wait for a place in the queue, or set another `queue` in the job",
}
"""The field that helps, by the reason."""
_SCHEDULER: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (
        regex(r"persistentvolumeclaim|unbound|volume node affinity"),
        "check the volume in `data` of the job, and `volumes` of the overlay",
    ),
    (regex(r"Insufficient (?:cpu|memory|ephemeral-storage)"), "lower `cpu`, `memory` or `disk` of the job"),
    (
        regex(r"Insufficient \S+"),
        "lower `gpus` or `workers` of the job, set another `accelerator`, or wait; `gen top` shows free devices",
    ),
    (
        regex(r"untolerated taint"),
        "the nodes are reserved: set another `accelerator` or `placement`, or tolerate their taint in the overlay",
    ),
    (
        regex(r"node affinity|node selector"),
        "no node has these labels: check `accelerator` and `placement` of the job, and the overlay's `accelerators`",
    ),
)
"""Remedies by messages of the scheduler, the most specific first."""


def remedy(reason: str, message: str) -> str:
    """Empty if nothing in a job or an overlay is known to help."""
    if reason == UNSCHEDULABLE:
        return next((text for pattern, text in _SCHEDULER if pattern.search(message)), "")
    return _REMEDIES.get(reason, "")
