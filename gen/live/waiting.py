"""Reasons why runs have no pods: their places in queues, and the events of their objects."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import Final

from msgspec import Struct

from gen.base import at, regex
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.scheduling import RESERVED, VISIBILITY, WORKLOAD
from gen.kubernetes.facts.state import State, conditions, state_of
from gen.kubernetes.objects import QUEUE_LABEL, Body
from gen.live.client import Api, ClusterError, NotFoundError
from gen.live.family import Family
from gen.live.lists import Collection, Discovery, base_of, list_objects
from gen.live.pods import controller
from gen.live.snapshot import Problem, Snapshot

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
    family = Family(snapshot)
    runs = sorted(snapshot.runs.values(), key=lambda body: _namespace(body) not in namespaces)
    without = [body for body in runs if _is_active(body) and not family.pods(body)]
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
