"""The diagnosis of a run: why it has no pods, a timeline for each of its pods, the present blocker, and the remedy.

A run without pods waits for its place in a queue, or the events of its objects have the reason.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from gen.base import at, regex
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.scheduling import RESERVED, VISIBILITY, WORKLOAD
from gen.kubernetes.facts.state import State, conditions, state_of
from gen.kubernetes.objects import QUEUE_LABEL, Body
from gen.live.client import Api, ClusterError, NotFoundError
from gen.live.pods import FAILED, GANG, RUNNING, UNSCHEDULABLE, Pod, controller
from gen.live.requests import Collection, Discovery, base_of, list_objects
from gen.live.snapshot import Ownership, Problem, Snapshot

_MOST_ASKED: Final = 20
"""Most runs with a request for their events, and most queues with a request for their order."""
_QUOTA: Final = regex(r"exceeded quota|quota exceeded", re.IGNORECASE)
QUOTA: Final = "QuotaExceeded"


class Waiting(Struct, frozen=True, kw_only=True):
    """Reason why a run waits."""

    reason: str = ""
    message: str = ""
    position: int | None = None


def read_waiting(api: Api, snapshot: Snapshot, namespaces: Container[str] = ()) -> dict[str, Waiting]:
    """By UID of the run; those in the `namespaces` first, because not all are asked for.

    Errors are problems of the snapshot, and hide nothing else.
    """
    ownership = Ownership(snapshot)
    without = [body for body in snapshot.runs.values() if _is_active(body) and not ownership.pods(body)]
    without.sort(key=lambda body: _namespace(body) not in namespaces)
    queued = [body for body in without if _queue(body)]
    stuck = [body for body in without if not _queue(body)][:_MOST_ASKED]
    found: dict[str, Waiting] = {}
    for read, asked in ((_in_queues, queued), (_in_events, stuck)):
        try:
            found |= dict(read(api, asked))
        except ClusterError as error:
            snapshot.problems.append(Problem(error=error))
        except NotFoundError:
            continue
    return found


def _in_queues(api: Api, runs: list[Body]) -> Iterator[tuple[str, Waiting]]:
    """The Workloads of Kueue, with the order in their queues."""
    versions = Discovery(api).versions(WORKLOAD.group) if runs else []
    if not versions:
        return
    owners = {str(at(run, "metadata", "uid")) for run in runs}
    positions = dict(_positions(api, sorted({(_namespace(run), _queue(run)) for run in runs})[:_MOST_ASKED]))
    for namespace in sorted({_namespace(run) for run in runs}):
        workloads = Collection(base=base_of(versions[0]), resource="workloads", namespace=namespace)
        for body in list_objects(api, workloads).items:
            owner = controller(body)
            if owner in owners:
                reserved = next((one for one in conditions(body) if one.get("type") == RESERVED), {})
                yield (
                    owner,
                    Waiting(
                        reason=str(reserved.get("reason") or "Pending"),
                        message=str(reserved.get("message") or ""),
                        position=positions.get((namespace, str(at(body, "metadata", "name")))),
                    ),
                )


def _positions(api: Api, queues: list[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], int]]:
    """Places of workloads, by namespace and name, where the API of Kueue is installed and may be read."""
    try:
        versions = Discovery(api).versions(VISIBILITY)
        for namespace, queue in queues if versions else ():
            path = f"{base_of(versions[0])}/namespaces/{namespace}/localqueues/{queue}/pendingworkloads"
            for one in api.get(path).get("items") or ():
                place = at(one, "positionInLocalQueue")
                if isinstance(place, int):
                    yield (namespace, str(at(one, "metadata", "name"))), place + 1
    except (ClusterError, NotFoundError):
        return  # an addition, which many clusters do not have


def _in_events(api: Api, stuck: Iterable[Body]) -> Iterator[tuple[str, Waiting]]:
    """The last warning about each run without pods."""
    for body in stuck:
        uid = str(at(body, "metadata", "uid"))
        events = Collection(
            base=base_of("v1"),
            resource="events",
            namespace=_namespace(body),
            fields=f"involvedObject.uid={uid},type=Warning",
        )
        listed = list_objects(api, events).items
        last = max(listed, key=_time, default=None)
        if last is not None:
            message = str(last.get("message") or "")
            reason = QUOTA if _QUOTA.search(message) else str(last.get("reason") or "")
            yield uid, Waiting(reason=reason, message=message)


def _time(event: Body) -> str:
    times = (event.get("lastTimestamp"), event.get("eventTime"), at(event, "metadata", "creationTimestamp"))
    return next((str(time) for time in times if time), "")


def _is_active(body: Body) -> bool:
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    ended = (State.SUCCEEDED, State.FAILED)
    return resource is not None and resource.is_run and state_of(resource, body) not in ended


def _queue(body: Body) -> str:
    return str(at(body, "metadata", "labels", QUEUE_LABEL) or "")


def _namespace(body: Body) -> str:
    return str(at(body, "metadata", "namespace") or "")


_LINES: Final = 8
"""Last lines of a log that are shown."""
_LONGEST: Final = 500
"""Characters of a line."""


class Diagnosis(Struct, frozen=True, kw_only=True):
    """The pods of a run, and the remedy if one is in trouble."""

    pods: tuple[Pod, ...]
    """The pods that are blocked first."""
    blocker: str = ""
    """Name of the pod that is the first to look at; empty if none is in trouble."""
    log: tuple[str, ...] = ()
    """Last lines of its log."""
    remedy: str = ""
    """The field of the job or the overlay that would help; empty if none is known."""


def diagnose(api: Api, pods: Sequence[Pod], reason: str, message: str) -> Diagnosis:
    """The reason is that of the run. A log that cannot be read is not shown: `gen logs` reports the reason."""
    troubled = [pod for pod in pods if pod.reason and not pod.deleted]
    first = min(troubled, key=lambda pod: (not pod.blocked, pod.phase == RUNNING and pod.ready, pod.name), default=None)
    log: tuple[str, ...] = ()
    if first is not None and first.containers:
        log = _last_lines(api, first)
    ordered = sorted(pods, key=lambda pod: (not pod.blocked, not pod.reason, pod.role, pod.index or 0, pod.name))
    return Diagnosis(
        pods=tuple(ordered),
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
