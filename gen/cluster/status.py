"""Match the runs in Git with those in a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from gen.cluster.drift import drift
from gen.cluster.family import Family, step_of
from gen.cluster.model import Phase, RunStatus
from gen.cluster.pods import FAILED, RUNNING
from gen.cluster.started import with_children
from gen.cluster.waiting import Waiting
from gen.kinds import KINDS
from gen.kubernetes import JOB_LABEL, MANAGED_BY, VALUES, at, queue_in
from gen.model.explain import dotted
from gen.resources import resource_of_object
from gen.resources.demand import Demand, demand
from gen.resources.state import State, conditions, reason_of, state_of

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
        self.family = Family(self.snapshot)
        self.by_name: dict[tuple[str, str, str, str], Body] = {}
        self.seen: set[str] = set()
        for body in self.snapshot.runs.values():
            metadata = body["metadata"]
            group = str(body["apiVersion"]).rpartition("/")[0]
            self.by_name[group, body["kind"], str(metadata.get("namespace")), str(metadata.get("name"))] = body

    def wanted(self, one: Wanted) -> Iterator[RunStatus]:
        resource = one.resource
        live = self.by_name.get((resource.group, resource.kind, one.namespace, one.name))
        overlay = self.overlays.get(one.overlay)
        if live is None:
            yield self._absent(one, overlay)
            return
        self.seen.add(_uid(live))
        routes = drift(resource, one.body, live) if one.state != "finished" else []
        fields = [dotted(route) for route in routes[:_MOST_FIELDS]]
        more = [f"… and {len(routes) - _MOST_FIELDS} more"] if len(routes) > _MOST_FIELDS else []
        children = list(self._children(live, overlay, one.name, _made_by(resource)))
        row = with_children(self._row(live, resource, overlay, one, (*fields, *more)), resource, live, children)
        yield row
        source = one.source.file if one.source is not None else ""
        yield from (replace(child, job=one.job, file=source, overlay=one.overlay) for child in children)

    def others(self) -> Iterator[RunStatus]:
        """Runs of the repository's namespaces that Git does not have."""
        overlay = self.target.overlays[0]
        for uid, body in self.snapshot.runs.items():
            own = str(body["metadata"].get("namespace")) in self.answers.namespaces
            if uid in self.seen or not own or at(body, "metadata", "labels", MANAGED_BY) != "gen":
                continue
            resource = resource_of_object(body["apiVersion"], body["kind"])
            if resource is not None and not self.family.is_child(body):
                self.seen.add(uid)
                children = list(self._children(body, overlay, str(body["metadata"].get("name")), _made_by(resource)))
                yield with_children(self._row(body, resource, overlay, None, ()), resource, body, children)
                yield from children

    def _children(self, body: Body, overlay: Overlay | None, parent: str, wanted: str) -> Iterator[RunStatus]:
        """Rows of the objects that a run started, each followed by those that it started itself."""
        for child in self.family.children(body):
            resource = resource_of_object(child["apiVersion"], child["kind"])
            if resource is None or _uid(child) in self.seen:
                continue
            self.seen.add(_uid(child))
            row = self._row(child, resource, overlay, None, ())
            inner = list(self._children(child, overlay, parent, wanted))
            row = with_children(row, resource, child, inner)
            yield replace(row, wanted=wanted, parent=parent, step=step_of(child))
            yield from inner

    def _absent(self, one: Wanted, overlay: Overlay | None) -> RunStatus:
        finished, reason, message = one.state == "finished", "", ""
        phase = Phase.GONE if finished else Phase.MISSING
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
        namespace, uid = str(metadata.get("namespace") or ""), _uid(live)
        pods = self.family.pods(live) if not resource.is_schedule else []
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


def _made_by(resource: Resource) -> str:
    """How the objects that a run starts are wanted."""
    if resource.is_schedule or resource.holds is not None:
        return "schedule" if resource.is_schedule else "search"
    return next((name for name, kind in KINDS.items() if kind.facts is resource), "run")


def assess(resource: Resource, live: Body, pods: Sequence[Pod], waiting: Waiting) -> tuple[Phase, str, str]:
    """Phase of a run, with the reason and its message."""
    state, suspended = state_of(resource, live), resource.suspend is not None and at(live, *resource.suspend) is True
    trouble = _trouble(pods)
    if resource.is_schedule:
        return (Phase.SUSPENDED if suspended else Phase.SCHEDULED), *_fault(resource, live)
    if state is State.SUCCEEDED:
        return Phase.SUCCEEDED, "", ""
    if state is State.FAILED:
        failed = next((pod for pod in pods if pod.phase == FAILED and pod.reason), None)
        return Phase.FAILED, *((failed.reason, failed.message) if failed is not None else reason_of(resource, live))
    if any(pod.phase == RUNNING and not pod.deleted for pod in pods):
        return Phase.RUNNING, *((trouble.reason, trouble.message) if trouble is not None else ("", ""))
    if suspended or state is State.SUSPENDED:
        queued = bool(queue_in(at(live, "metadata", "labels")))
        return (Phase.QUEUED if queued else Phase.SUSPENDED), waiting.reason, waiting.message
    return Phase.PENDING, *((trouble or waiting).reason, (trouble or waiting).message)


def _fault(schedule: Resource, live: Body) -> tuple[str, str]:
    """Why a schedule cannot start runs."""
    held = (one for one in conditions(live) if one.get("type") in schedule.troubles and one.get("status") == "True")
    return next(((str(one["type"]), str(one.get("message") or "")) for one in held), ("", ""))


def _trouble(pods: Sequence[Pod]) -> Pod | None:
    """The pod that explains best why not all run: one that cannot start, or that failed last."""
    troubled = [pod for pod in pods if pod.reason and not pod.deleted]
    return min(
        troubled, key=lambda pod: (pod.phase == RUNNING and pod.ready, pod.phase == FAILED, pod.name), default=None
    )


def _uid(body: Body) -> str:
    return str(at(body, "metadata", "uid"))


def _created(body: Body) -> str:
    value: Any = at(body, "metadata", "creationTimestamp")
    return str(value or "")


def _demand(body: Body, resource: Resource, overlay: Overlay | None) -> Demand | None:
    try:
        return demand(body, resource, overlay.device_units if overlay is not None else {})
    except (ValueError, OverflowError):
        return None
