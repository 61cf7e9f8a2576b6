"""Match the runs in Git with those in a cluster: one row for each, with its phase and its drift.

Rows of runs that start others have their progress, and the reason why these wait or failed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Route, at, dotted, with_field
from gen.base.engines import ENGINES, RECORDS
from gen.job.kinds import ALL_KINDS
from gen.job.scalars import clipped
from gen.kubernetes import quantity
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.base import Pattern, Resource, Wildcard
from gen.kubernetes.facts.demand import Demand, demand
from gen.kubernetes.facts.pods import pod_sets
from gen.kubernetes.facts.scheduling import queue_in
from gen.kubernetes.facts.state import (
    State,
    changed_by_autoscalers,
    changed_by_kueue,
    is_suspended,
    reason_of,
    state_of,
)
from gen.kubernetes.objects import JOB_LABEL, MANAGED_BY, QUEUE_LABEL, VALUES, Body
from gen.live.desired import DesiredRun
from gen.live.diagnosis import Waiting, diagnose
from gen.live.model import Phase, Progress, RunStatus
from gen.live.pods import FAILED, RUNNING, SUCCEEDED, Pod
from gen.live.snapshot import Ownership, Snapshot, step_of
from gen.live.target import Target
from gen.overlay.overlay import Overlay
from gen.render.emit import scalar
from gen.render.starters import starter_of_object


def with_children(row: RunStatus, resource: Resource, live: Body, children: Sequence[RunStatus]) -> RunStatus:
    """The row of a run with its progress, and with the reason of the object that it waits for or that failed."""
    starter = starter_of_object(resource)
    if not starter.unit:
        return row
    counts = starter.progress(resource, live, [one.phase.ended for one in children])
    progress = Progress(done=counts[0], total=counts[1], unit=starter.unit) if counts is not None else None
    row = replace(row, progress=progress)
    if not starter.explained or row.phase not in {Phase.FAILED, Phase.PENDING, Phase.RUNNING}:
        return row
    if row.phase is Phase.FAILED:
        cause = next((one for one in children if one.phase is Phase.FAILED), None)
    else:
        cause = next((one for one in children if not one.phase.ended and (one.reason or one.queue)), None)
    if cause is None or (row.phase is Phase.RUNNING and not cause.reason):
        return row
    phase = row.phase if row.phase is not Phase.PENDING else cause.phase
    message = f"{cause.step}: {cause.message}" if cause.step and cause.message else cause.message
    return replace(row, phase=phase, reason=cause.reason, message=message, queue=cause.queue, position=cause.position)


_PREFIXES: Final = tuple(prefix for engine in ENGINES.values() for prefix in engine.prefixes)
_AMOUNTS: Final = frozenset({"limits", "requests", "sizeLimit", "storage"})


def drift(resource: Resource, desired: Body, live: Body) -> list[Route]:
    """Routes of the fields that differ. Fields that only the cluster has are defaults, or belong to others."""
    ignored = [*changed_by_autoscalers(resource)]
    if at(desired, "metadata", "labels", QUEUE_LABEL) is not None:
        ignored += changed_by_kueue(resource)
    metadata = ((field, at(desired, "metadata", field), at(live, "metadata", field)) for field in _METADATA)
    found = [
        ("metadata", field, *route)
        for field, ours, theirs in metadata
        for route in _differences(ours or {}, theirs or {}, ())
        if not str(route[0] if route else "").startswith(_PREFIXES)
    ]
    ours = {key: value for key, value in desired.items() if key not in _IDENTITY}
    found += _differences(ours, live, ())
    return [route for route in found if not any(_matches(pattern, route) for pattern in ignored)]


_METADATA: Final = ("labels", "annotations")
_IDENTITY: Final = ("apiVersion", "kind", "metadata")


def _differences(ours: object, theirs: object, route: Route) -> Iterator[Route]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            other = theirs.get(key, theirs)
            if other is theirs:
                yield from [] if value in (None, {}, []) else [(*route, key)]
            elif value.__class__ is not str or value != other:  # most values are equal texts
                yield from _differences(value, other, (*route, key))
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            yield route
            return
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from _differences(one, other, (*route, index))
    elif not _equal(ours, theirs, route):
        yield route


class WrittenText:
    """Compares the text of an object that gen wrote with the object of a cluster, without reading its values: they are
    equal if gen writes the value of the cluster so. Where the two differ, or may differ, the text is parsed.
    """

    def __init__(self, text: str) -> None:
        self.lines, self.at = text.split("\n"), 1  # after the first line

    def agrees(self, live: Body) -> bool:
        """Whether the object of the cluster has all that the text has. Anybody can write a text of another form."""
        try:
            return self._mapping("", self.lines[1], live)
        except IndexError:
            return False

    def _mapping(self, pad: str, line: str, theirs: object) -> bool:
        """Whether the entries at a depth agree; `line` is the rest of the line of the first."""
        if theirs.__class__ is not dict:
            return False
        size, lines = len(pad), self.lines
        while True:
            key, _, value = line.partition(": ") if line[-1] != ":" else (line[:-1], "", "")
            other = theirs.get(key if key[0] != '"' else key[1:-1])
            self.at += 1
            if not value:
                same = self._container(pad, other)
            elif other.__class__ is str and value[0] != "|":
                same = value == scalar(other)
            else:
                same = self._scalar(value, other, pad)
            if not same:
                return False
            line = lines[self.at]
            if not line.startswith(pad) or line[size : size + 1] in " -":
                return True
            line = line[size:]

    def _container(self, pad: str, theirs: object) -> bool:
        """A value without anything on the line of its key. Entries of a list are as deep as the key."""
        line, size = self.lines[self.at], len(pad)
        return self._sequence(pad, theirs) if line[size] == "-" else self._mapping(f"{pad}  ", line[size + 2 :], theirs)

    def _sequence(self, pad: str, theirs: object) -> bool:
        if theirs.__class__ is not list:
            return False
        lead, start, inner = f"{pad}- ", len(pad) + 2, f"{pad}  "
        for one in theirs:
            line = self.lines[self.at]
            if not line.startswith(lead):
                return False
            if one.__class__ is dict and one:
                if not self._mapping(inner, line[start:], one):
                    return False
            else:
                self.at += 1
                if not self._scalar(line[start:], one, pad):
                    return False
        return not self.lines[self.at].startswith(f"{pad}-")

    def _scalar(self, text: str, theirs: object, pad: str) -> bool:
        kind = theirs.__class__
        if kind is not str:
            return text == ("{}" if kind is dict else str(theirs).lower() if kind in (int, bool, float, list) else "")
        if text[0] != "|":
            return text == scalar(theirs)
        size, start, last = len(pad) + 2, self.at, len(self.lines) - 1
        while self.at < last and ((line := self.lines[self.at]).startswith(f"{pad}  ") or not line):
            self.at += 1
        block = "\n".join([line[size:] for line in self.lines[start : self.at]])
        return theirs == (block if text == "|-" else f"{block}\n")


def _equal(ours: object, theirs: object, route: Route) -> bool:
    """Servers keep amounts in a form of their own."""
    if ours == theirs:
        return type(ours) is type(theirs) or not (isinstance(ours, bool) or isinstance(theirs, bool))
    if _AMOUNTS.isdisjoint(map(str, route)) or isinstance(ours, (dict, list)) or isinstance(theirs, (dict, list)):
        return False
    amount = quantity.server_amount(str(ours))
    return amount is not None and amount == quantity.server_amount(str(theirs))


def _matches(pattern: Pattern, route: Route) -> bool:
    """Whether a route is at the place of a pattern or below."""
    if len(route) < len(pattern):
        return False
    return all(isinstance(step, Wildcard) or step == here for step, here in zip(pattern, route, strict=False))


_MOST_FIELDS = 8
"""Fields of a run that are listed as different."""


class Answers(Struct, frozen=True, kw_only=True):
    """The answers of a cluster."""

    target: Target
    snapshot: Snapshot
    waiting: Mapping[str, Waiting]
    namespaces: Collection[str]
    """Namespaces of the repository: runs in others are not its own."""
    diagnose: bool = False
    """Whether to read the logs of pods in trouble, and to list the pods."""


def statuses(answers: Answers, desired: Sequence[DesiredRun]) -> Iterator[RunStatus]:
    """A row for each run in Git, in the cluster, or in both; a schedule is followed by the runs that it started."""
    join = _Join(answers)
    for one in desired:
        yield from join.desired(one)
    yield from join.others()


class _Join:
    def __init__(self, answers: Answers) -> None:
        self.answers, self.snapshot, self.target = answers, answers.snapshot, answers.target
        self.overlays = {overlay.name: overlay for overlay in self.target.overlays}
        self.ownership = Ownership(self.snapshot)
        self.by_name: dict[tuple[str, str, str, str], Body] = {}
        self.seen: set[str] = set()
        for body in self.snapshot.runs.values():
            metadata = body["metadata"]
            group = str(body["apiVersion"]).rpartition("/")[0]
            self.by_name[group, body["kind"], str(metadata.get("namespace")), str(metadata.get("name"))] = body

    def desired(self, one: DesiredRun) -> Iterator[RunStatus]:
        resource = one.resource
        live = self.by_name.get((resource.group, resource.kind, one.namespace, one.name))
        overlay = self.overlays.get(one.overlay)
        if live is None:
            yield self._absent(one, overlay)
            return
        self.seen.add(_uid(live))
        routes = self._drift(one, live) if one.state not in RECORDS else []
        fields = [dotted(route, clipped) for route in routes[:_MOST_FIELDS]]
        more = [f"… and {len(routes) - _MOST_FIELDS} more"] if len(routes) > _MOST_FIELDS else []
        children = list(self._children(live, overlay, one.name, resource))
        row = with_children(self._row(live, resource, overlay, one, (*fields, *more)), resource, live, children)
        yield row
        source = one.source.file if one.source is not None else ""
        yield from (replace(child, job=one.job, file=source, overlay=one.overlay) for child in children)

    def _drift(self, one: DesiredRun, live: Body) -> list[Route]:
        suspend = one.resource.suspend
        if one.rendered.parsed is None:
            queued = suspend is not None and queue_in(at(live, "metadata", "labels"))
            as_in_git = with_field(live, suspend, value=one.state == "suspended") if queued and suspend else live
            if WrittenText(one.rendered.text).agrees(as_in_git):
                return []
        return drift(one.resource, one.body, live)

    def others(self) -> Iterator[RunStatus]:
        """Runs of the repository's namespaces that Git does not have."""
        overlay = self.target.overlays[0]
        for uid, body in self.snapshot.runs.items():
            own = str(body["metadata"].get("namespace")) in self.answers.namespaces
            if uid in self.seen or not own or at(body, "metadata", "labels", MANAGED_BY) != "gen":
                continue
            resource = resource_of_object(body["apiVersion"], body["kind"])
            if resource is not None and not self.ownership.is_child(body):
                self.seen.add(uid)
                children = list(self._children(body, overlay, str(body["metadata"].get("name")), resource))
                yield with_children(self._row(body, resource, overlay), resource, body, children)
                yield from children

    def _children(self, body: Body, overlay: Overlay | None, parent: str, run: Resource) -> Iterator[RunStatus]:
        """Rows of the objects that a run started, each followed by those that it started itself."""
        starter = starter_of_object(run)
        for child in self.ownership.children(body):
            resource = resource_of_object(child["apiVersion"], child["kind"])
            if resource is None or _uid(child) in self.seen:
                continue
            self.seen.add(_uid(child))
            row = self._row(child, resource, overlay)
            inner = list(self._children(child, overlay, parent, run))
            row = with_children(row, resource, child, inner)
            made = {"scheduled": starter.repeats, "dispensable": starter.dispensable}
            yield replace(row, desired=_child_state(run), parent=parent, step=step_of(child), **made)
            yield from inner

    def _absent(self, one: DesiredRun, overlay: Overlay | None) -> RunStatus:
        finished, reason, message = one.state in RECORDS, "", ""
        phase = Phase.GONE if finished else Phase.MISSING
        if not self.snapshot.knows(one.resource, one.namespace):
            phase = Phase.UNKNOWN
        elif not finished and (one.version, one.resource.kind) in self.snapshot.unserved:
            reason, message = "NotServed", f"the cluster does not serve {one.resource.kind} of {one.version}"
        pods = 0 if phase is not Phase.UNKNOWN else None
        row = self._identity(one.body, one.resource, overlay, one)
        return replace(row, phase=phase, reason=reason, message=message, running=pods, restarts=pods)

    def _row(
        self,
        live: Body,
        resource: Resource,
        overlay: Overlay | None,
        one: DesiredRun | None = None,
        differing: tuple[str, ...] = (),
    ) -> RunStatus:
        pods = self.ownership.pods(live) if not starter_of_object(resource).repeats else []
        known = ("", "Pod", str(live["metadata"].get("namespace") or "")) not in self.snapshot.silent
        waiting = self.answers.waiting.get(_uid(live), Waiting())
        phase, reason, message = assess(resource, live, pods, waiting)
        asked = self.answers.diagnose and not starter_of_object(resource).repeats
        row = self._identity(live, resource, overlay, one)
        return replace(
            row,
            phase=phase,
            reason=reason,
            message=message,
            running=sum(map(_runs, pods)) if known else None,
            settled=known and _settled(resource, live, row.pods, pods),
            restarts=sum(pod.restarts for pod in pods) if known else None,
            created=str(at(live, "metadata", "creationTimestamp") or ""),
            position=waiting.position,
            drift=differing,
            diagnosis=diagnose(self.target.api, pods, reason, message) if asked else None,
        )

    def _identity(self, body: Body, resource: Resource, overlay: Overlay | None, one: DesiredRun | None) -> RunStatus:
        """The row of an object in Git or in the cluster, without its state."""
        metadata, demand = body["metadata"], _demand(body, resource, overlay)
        labels = metadata.get("labels")
        return RunStatus(
            overlay=overlay.name if overlay is not None else "",
            context=self.target.api.context,
            namespace=str(metadata.get("namespace") or ""),
            job=one.job if one is not None else str(at(labels, JOB_LABEL) or ""),
            file=one.source.file if one is not None and one.source is not None else "",
            rendered=one.path if one is not None else "",
            kind=resource.kind,
            name=str(metadata.get("name") or ""),
            values=str(at(metadata, "annotations", VALUES) or ""),
            desired=one.state if one is not None else None,
            phase=Phase.UNKNOWN,
            reason="",
            message="",
            running=None,
            pods=demand.pods if demand is not None else None,
            restarts=None,
            created="",
            gpus=demand.gpus if demand is not None else None,
            accelerators=demand.accelerators if demand is not None else {},
            queue=queue_in(labels),
        )


def _child_state(resource: Resource) -> str:
    """State in Git of the objects that a run starts: a starter or a kind."""
    whole = starter_of_object(resource).whole
    return whole or next((name for name, kind in ALL_KINDS.items() if kind.facts is resource), "run")


def assess(resource: Resource, live: Body, pods: Sequence[Pod], waiting: Waiting) -> tuple[Phase, str, str]:
    """Phase of a run, with the reason and its message."""
    state, suspended = state_of(resource, live), is_suspended(resource, live)
    trouble = _trouble(pods)
    starter = starter_of_object(resource)
    if starter.repeats:
        return (Phase.SUSPENDED if suspended else Phase.SCHEDULED), *starter.trouble(resource, live)
    if state is State.SUCCEEDED:
        return Phase.SUCCEEDED, "", ""
    if state is State.FAILED:
        failed = next((pod for pod in pods if pod.phase == FAILED and pod.reason), None)
        return Phase.FAILED, *(_explained(failed) if failed is not None else reason_of(resource, live))
    if any(pod.phase == RUNNING and not pod.deleted for pod in pods):
        return Phase.RUNNING, *(_explained(trouble) if trouble is not None else ("", ""))
    if suspended or state is State.SUSPENDED:
        queued = bool(queue_in(at(live, "metadata", "labels")))
        return (Phase.QUEUED if queued else Phase.SUSPENDED), waiting.reason, waiting.message
    return Phase.PENDING, *(_explained(trouble) if trouble is not None else (waiting.reason, waiting.message))


def _trouble(pods: Sequence[Pod]) -> Pod | None:
    """The pod that explains best why not all run: one that cannot go on now, else one that failed last."""
    troubled = [pod for pod in pods if pod.reason and not pod.deleted]

    def order(pod: Pod) -> tuple[bool, bool, bool, str]:
        return not pod.blocked, pod.phase == RUNNING and pod.ready, pod.phase == FAILED, pod.name

    return min(troubled, key=order, default=None)


def _explained(pod: Pod) -> tuple[str, str]:
    """Reason and message, which names the pod."""
    return pod.reason, f"{pod.name}: {pod.message}" if pod.message else pod.name


def _runs(pod: Pod) -> bool:
    return pod.phase == RUNNING and not pod.deleted and not pod.blocked


def _settled(resource: Resource, live: Body, expected: int | None, pods: Sequence[Pod]) -> bool:
    """Whether all pods of a run exist, and run or have succeeded. An autoscaler decides how many exist."""
    present = [pod for pod in pods if not pod.deleted]
    if not all(_runs(pod) or pod.phase == SUCCEEDED for pod in present):
        return False
    if expected is not None and len(present) >= max(expected, 1):
        return True
    scaled = any(one.largest != one.counts for one in pod_sets(resource, live))
    least = 1 if starter_of_object(resource).unit or scaled or expected is None else expected
    return len(present) >= least


def _uid(body: Body) -> str:
    return str(at(body, "metadata", "uid"))


def _demand(body: Body, resource: Resource, overlay: Overlay | None) -> Demand | None:
    try:
        return demand(body, resource, overlay.device_units, overlay.runtimes) if overlay else demand(body, resource, {})
    except (ValueError, OverflowError):
        return None
