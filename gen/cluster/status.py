"""Match the runs in Git with those in a cluster."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gen.cluster.drift import drift
from gen.cluster.model import Phase, RunStatus
from gen.cluster.pods import FAILED, RUNNING, controller
from gen.cluster.waiting import Waiting
from gen.kubernetes import JOB_LABEL, MANAGED_BY, RUN_LABEL, VALUES, at, queue_in
from gen.model.explain import dotted
from gen.resources import resource_of_object
from gen.resources.demand import Demand, demand
from gen.resources.state import State, reason_of, state_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from gen.cluster.pods import Pod
    from gen.cluster.snapshot import Snapshot
    from gen.cluster.target import Target
    from gen.cluster.wanted import Wanted
    from gen.kubernetes import Body
    from gen.overlay.overlay import Overlay
    from gen.resources.base import Resource

_MOST_FIELDS = 8
"""Fields of a run that are listed as different."""


class Answers(Struct, frozen=True, kw_only=True):
    """The answers of a cluster."""

    target: Target
    snapshot: Snapshot
    waiting: Mapping[str, Waiting]
    namespaces: Collection[str]
    """Namespaces of the repository: runs in others are not its own."""


def statuses(answers: Answers, wanted: Sequence[Wanted]) -> Iterator[RunStatus]:
    """A row for each run in Git, in the cluster, or in both; a schedule is followed by the runs that it started."""
    join = _Join(answers)
    for one in wanted:
        yield from join.wanted(one)
    yield from join.others()


class _Join:
    def __init__(self, answers: Answers) -> None:
        self.answers, self.snapshot, self.target = answers, answers.snapshot, answers.target
        self.overlays = {overlay.name: overlay for overlay in self.target.overlays}
        self.by_name: dict[tuple[str, str, str, str], Body] = {}
        self.started: dict[str, list[Body]] = defaultdict(list)
        self.seen: set[str] = set()
        for uid, body in self.snapshot.runs.items():
            metadata = body["metadata"]
            group = str(body["apiVersion"]).rpartition("/")[0]
            self.by_name[group, body["kind"], str(metadata.get("namespace")), str(metadata.get("name"))] = body
            if owner := controller(body):
                self.started[owner].append(body)
                self.seen.add(uid)
        self.pods: dict[tuple[str, str, str], list[Pod]] = defaultdict(list)
        self.owned: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.snapshot.pods.values():
            self.pods[pod.namespace, pod.job, pod.run].append(pod)
            self.owned[pod.owner].append(pod)

    def wanted(self, one: Wanted) -> Iterator[RunStatus]:
        resource = one.resource
        live = self.by_name.get((resource.group, resource.kind, one.namespace, one.name))
        overlay = self.overlays.get(one.overlay)
        if live is None:
            yield self._absent(one, overlay)
            return
        self.seen.add(str(live["metadata"].get("uid")))
        routes = drift(resource, one.body, live) if one.state != "finished" else []
        fields = [dotted(route) for route in routes[:_MOST_FIELDS]]
        more = [f"… and {len(routes) - _MOST_FIELDS} more"] if len(routes) > _MOST_FIELDS else []
        yield self._row(live, resource, overlay, one, (*fields, *more))
        for body in sorted(self.started.get(str(live["metadata"].get("uid")), ()), key=_created):
            yield from self._other(body, overlay, one)

    def others(self) -> Iterator[RunStatus]:
        """Runs of the repository's namespaces that Git does not have."""
        overlay = self.target.overlays[0]
        for uid, body in self.snapshot.runs.items():
            own = str(body["metadata"].get("namespace")) in self.answers.namespaces
            if uid not in self.seen and own and at(body, "metadata", "labels", MANAGED_BY) == "gen":
                yield from self._other(body, overlay, None)

    def _other(self, body: Body, overlay: Overlay | None, schedule: Wanted | None) -> Iterator[RunStatus]:
        resource = resource_of_object(body["apiVersion"], body["kind"])
        if resource is not None:
            row = self._row(body, resource, overlay, None, ())
            yield _of_schedule(row, schedule) if schedule is not None else row

    def _absent(self, one: Wanted, overlay: Overlay | None) -> RunStatus:
        finished = one.state == "finished"
        phase, reason, message = (Phase.GONE, "", "") if finished else (Phase.MISSING, "", "")
        if not self.snapshot.knows(one.resource, one.namespace):
            phase = Phase.UNKNOWN
        elif not finished and (one.version, one.resource.kind) in self.snapshot.unserved:
            reason, message = "NotServed", f"the cluster does not serve {one.resource.kind} of {one.version}"
        asked = _demand(one.body, one.resource, overlay)
        return RunStatus(
            overlay=one.overlay,
            context=self.target.api.context,
            namespace=one.namespace,
            job=one.job,
            file=one.source.file if one.source is not None else "",
            rendered=one.path,
            kind=one.resource.kind,
            name=one.name,
            values=one.values,
            wanted=one.state,
            phase=phase,
            reason=reason,
            message=message,
            running=0 if phase is not Phase.UNKNOWN else None,
            pods=asked.pods if asked is not None else None,
            restarts=0 if phase is not Phase.UNKNOWN else None,
            created="",
            gpus=asked.gpus if asked is not None else None,
            accelerators=asked.accelerators if asked is not None else {},
            queue=queue_in(at(one.body, "metadata", "labels")),
        )

    def _row(
        self, live: Body, resource: Resource, overlay: Overlay | None, one: Wanted | None, differing: tuple[str, ...]
    ) -> RunStatus:
        metadata = live["metadata"]
        labels = metadata.get("labels")
        namespace, uid = str(metadata.get("namespace") or ""), str(metadata.get("uid"))
        pods = self._pods_of(live, namespace, uid) if not resource.is_schedule else []
        known = ("", "Pod", namespace) not in self.snapshot.silent
        waiting = self.answers.waiting.get(uid, Waiting())
        phase, reason, message = assess(resource, live, pods, waiting)
        asked = _demand(live, resource, overlay)
        return RunStatus(
            overlay=overlay.name if overlay is not None else "",
            context=self.target.api.context,
            namespace=namespace,
            job=one.job if one is not None else str(at(labels, JOB_LABEL) or ""),
            file=one.source.file if one is not None and one.source is not None else "",
            rendered=one.path if one is not None else "",
            kind=resource.kind,
            name=str(metadata.get("name") or ""),
            values=str(at(metadata, "annotations", VALUES) or ""),
            wanted=one.state if one is not None else None,
            phase=phase,
            reason=reason,
            message=message,
            running=sum(pod.phase == RUNNING and not pod.deleted for pod in pods) if known else None,
            pods=asked.pods if asked is not None else None,
            restarts=sum(pod.restarts for pod in pods) if known else None,
            created=_created(live),
            gpus=asked.gpus if asked is not None else None,
            accelerators=asked.accelerators if asked is not None else {},
            queue=queue_in(labels),
            position=waiting.position,
            drift=differing,
        )

    def _pods_of(self, live: Body, namespace: str, uid: str) -> list[Pod]:
        """By their labels. Runs of one schedule have equal labels, so their pods are found by their owner."""
        labels = at(live, "metadata", "labels")
        if controller(live):
            return self.owned.get(uid, [])
        return self.pods.get((namespace, str(at(labels, JOB_LABEL) or ""), str(at(labels, RUN_LABEL) or "")), [])


def assess(resource: Resource, live: Body, pods: Sequence[Pod], waiting: Waiting) -> tuple[Phase, str, str]:
    """Phase of a run, with the reason and its message."""
    state, suspended = state_of(resource, live), resource.suspend is not None and at(live, *resource.suspend) is True
    trouble = _trouble(pods)
    if resource.is_schedule or state is State.SUCCEEDED:
        phase = Phase.SUCCEEDED if not resource.is_schedule else Phase.SUSPENDED if suspended else Phase.SCHEDULED
        return phase, "", ""
    if state is State.FAILED:
        failed = next((pod for pod in pods if pod.phase == FAILED and pod.reason), None)
        return Phase.FAILED, *((failed.reason, failed.message) if failed is not None else reason_of(resource, live))
    if any(pod.phase == RUNNING and not pod.deleted for pod in pods):
        return Phase.RUNNING, *((trouble.reason, trouble.message) if trouble is not None else ("", ""))
    if suspended or state is State.SUSPENDED:
        queued = bool(queue_in(at(live, "metadata", "labels")))
        return (Phase.QUEUED if queued else Phase.SUSPENDED), waiting.reason, waiting.message
    return Phase.PENDING, *((trouble or waiting).reason, (trouble or waiting).message)


def _trouble(pods: Sequence[Pod]) -> Pod | None:
    """The pod that explains best why not all run: one that cannot start, or that failed last."""
    troubled = [pod for pod in pods if pod.reason and not pod.deleted]
    return min(
        troubled, key=lambda pod: (pod.phase == RUNNING and pod.ready, pod.phase == FAILED, pod.name), default=None
    )


def _of_schedule(row: RunStatus, schedule: Wanted) -> RunStatus:
    from msgspec.structs import replace  # noqa: PLC0415 - few jobs have a schedule

    file = schedule.source.file if schedule.source is not None else ""
    return replace(row, wanted="schedule", job=schedule.job, file=file, overlay=schedule.overlay)


def _created(body: Body) -> str:
    value: Any = at(body, "metadata", "creationTimestamp")
    return str(value or "")


def _demand(body: Body, resource: Resource, overlay: Overlay | None) -> Demand | None:
    try:
        return demand(body, resource, overlay.device_units if overlay is not None else {})
    except (ValueError, OverflowError):
        return None
