"""Facts from the clusters about a merge: the training that it ends, and the room for the runs that it starts.

No answer changes the verdict of a plan. A question without an answer is a missing fact.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import cached_property
from typing import Final, TypeVar

import orjson
import re2
from msgspec import Struct

from gen.base import Findings, at, regex
from gen.kubernetes.facts.demand import demand
from gen.kubernetes.facts.pods import pod_sets
from gen.kubernetes.facts.scheduling import RESERVED, WORKLOAD, queue_in
from gen.kubernetes.facts.state import conditions
from gen.kubernetes.objects import METRICS, Body
from gen.live.client import ClusterError, NotFoundError
from gen.live.clusters import now
from gen.live.desired import DesiredRun
from gen.live.diagnosis import without_times
from gen.live.pods import Pod
from gen.live.requests import Collection, Discovery, base_of, list_objects
from gen.live.snapshot import Ownership, Scope, Snapshot, read_snapshot
from gen.live.target import Target
from gen.live.top import Top, read_top
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.accelerators import WholeGpus

Answer = TypeVar("Answer")
_THREADS: Final = 16
_MOST_LOGS: Final = 100
"""Runs with logs that are read."""
_TAIL: Final = 500
"""Last lines of a log that are searched."""
_LONGEST: Final = 160
_FULL: Final = 0.9
"""Used share of a claim, from which on it is reported."""
_MOST_NODES: Final = 20
_CHECKPOINT: Final = regex(r"checkpoint", re.IGNORECASE)


class RunLife(Struct, frozen=True, kw_only=True):
    """A run that a merge stops."""

    overlay: str
    namespace: str
    name: str
    phase: str
    seconds: int | None
    """How long it has trained: since its first container started. None if none has."""
    metrics: Mapping[str, str]
    """The last value of each metric in its log."""
    checkpoint: str
    """The last line of its log about a checkpoint; empty without one."""


class FreeDevices(Struct, frozen=True, kw_only=True):
    """Devices of one accelerator in a cluster."""

    overlay: str
    accelerator: str
    """Name in the overlay; empty for all devices."""
    free: int | None
    """None if it is unknown."""
    freed: int
    """Devices of the runs that stop."""
    asked: int
    """Devices of the runs that start."""

    @property
    def fits(self) -> bool:
        return self.free is not None and self.asked <= self.free + self.freed


class QueueLength(Struct, frozen=True, kw_only=True):
    """Runs that wait in a queue, before those that start."""

    overlay: str
    namespace: str
    queue: str
    waiting: int


class ClaimState(Struct, frozen=True, kw_only=True):
    """A claim of a run that starts that is missing, not bound, or nearly full."""

    overlay: str
    namespace: str
    name: str
    state: str


class LiveFacts(Struct, frozen=True, kw_only=True, dict=True):
    """The answers of all clusters."""

    runs: tuple[RunLife, ...] = ()
    devices: tuple[FreeDevices, ...] = ()
    queues: tuple[QueueLength, ...] = ()
    claims: tuple[ClaimState, ...] = ()
    missing: tuple[str, ...] = ()
    """Questions without an answer, each with its reason."""
    time: str = ""

    def life(self, overlay: str, namespace: str, name: str) -> RunLife | None:
        return self._by_name.get((overlay, namespace, name))

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str, str], RunLife]:
        return {(one.overlay, one.namespace, one.name): one for one in self.runs}


def read_facts(
    targets: Sequence[Target], found: Findings, stopping: Sequence[DesiredRun], starting: Sequence[DesiredRun]
) -> LiveFacts:
    """Ask the clusters of all overlays at the same time. `found` has why clusters are not known."""
    known = {name for target in targets for name in target.names}
    affected = {one.overlay for one in (*stopping, *starting)}
    asked = [target for target in targets if affected.intersection(target.names)]
    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        answers = list(pool.map(lambda target: _Cluster(target, stopping, starting).facts(), asked))
    reasons = {finding.message for finding in found if finding.is_error}
    unknown = [f"everything about overlay `{name}`: its cluster is not known" for name in sorted(affected - known)]
    return LiveFacts(
        runs=tuple(one for answer in answers for one in answer.runs),
        devices=tuple(one for answer in answers for one in answer.devices),
        queues=tuple(one for answer in answers for one in answer.queues),
        claims=tuple(one for answer in answers for one in answer.claims),
        missing=(*unknown, *sorted(reasons), *(one for answer in answers for one in answer.missing)),
        time=now(),
    )


class _Cluster:
    """The questions to one cluster."""

    def __init__(self, target: Target, stopping: Sequence[DesiredRun], starting: Sequence[DesiredRun]) -> None:
        self.target, self.api = target, target.api
        self.overlays = {overlay.name: overlay for overlay in target.overlays}
        self.stopping = [one for one in stopping if one.overlay in self.overlays]
        self.starting = [one for one in starting if one.overlay in self.overlays]
        self.missing: list[str] = []

    def facts(self) -> LiveFacts:
        snapshot = Snapshot()
        if self.stopping:
            snapshot = read_snapshot(self.api, Scope(find=lambda: self.stopping))
            self.missing += [f"the runs that stop: {one.error.message}" for one in snapshot.problems]
        runs = tuple(self._lives(snapshot))
        devices = self._asked("free devices", self._free_devices) if self.starting else ()
        queues = self._asked("places in queues", lambda: tuple(self._queues())) if self.starting else ()
        claims = tuple(self._claims(snapshot))
        missing = tuple(dict.fromkeys(self.missing))
        return LiveFacts(runs=runs, devices=devices or (), queues=queues or (), claims=claims, missing=missing)

    def _asked(self, what: str, question: Callable[[], Answer]) -> Answer | None:
        try:
            return question()
        except ClusterError as error:
            self.missing.append(f"{what}: {error.message}")
        except NotFoundError as error:
            self.missing.append(f"{what}: {error}")
        return None

    def _lives(self, snapshot: Snapshot) -> Iterator[RunLife]:
        ownership = Ownership(snapshot)
        live = {(_meta(body, "namespace"), body["kind"], _meta(body, "name")): body for body in snapshot.runs.values()}
        found = [(one, live.get((one.namespace, one.resource.kind, one.name))) for one in self.stopping]
        present = [(one, body) for one, body in found if body is not None]
        with ThreadPoolExecutor(max_workers=_THREADS) as pool:
            yield from pool.map(lambda pair: self._life(pair[0], pair[1], ownership), present[:_MOST_LOGS])
        for one, body in present[_MOST_LOGS:]:
            yield self._life(one, body, ownership, with_log=False)
        if len(present) > _MOST_LOGS:
            self.missing.append(f"the logs of {len(present) - _MOST_LOGS} more runs: only {_MOST_LOGS} are read")

    def _life(self, one: DesiredRun, body: Body, ownership: Ownership, *, with_log: bool = True) -> RunLife:
        pods = ownership.pods(body)
        begun = sorted(pod.started for pod in pods if pod.started)
        ended = [pod.ended for pod in pods]
        end = max(ended) if begun and all(ended) else now()
        lines = self._log(one, pods) if with_log and begun else []
        marks = [line for line in lines if _CHECKPOINT.search(line)]
        return RunLife(
            overlay=one.overlay,
            namespace=one.namespace,
            name=one.name,
            phase="running" if any(pod.phase == "Running" for pod in pods) else "ended" if all(ended) else "waiting",
            seconds=seconds_between(begun[0], end) if begun else None,
            metrics=_metrics(one.body, lines),
            checkpoint=marks[-1][:_LONGEST] if marks else "",
        )

    def _log(self, one: DesiredRun, pods: Sequence[Pod]) -> list[str]:
        """Last lines of the pods of rank 0, which print the metrics; of all pods without a rank."""
        first = [pod for pod in pods if pod.index in (0, None) and pod.containers]
        lines: list[str] = []
        for pod in sorted(first, key=lambda pod: (pod.role == "worker", pod.name))[:2]:
            path = f"{base_of('v1')}/namespaces/{pod.namespace}/pods/{pod.name}/log"
            query = {"container": pod.containers[0].name, "tailLines": str(_TAIL), "timestamps": "true"}
            text = self._asked(f"the log of `{one.namespace}/{one.name}`", lambda: self.api.text(path, query))  # noqa: B023 - called at once
            lines += without_times(text or b"")
        return lines

    def _free_devices(self) -> tuple[FreeDevices, ...]:
        top = read_top([self.target], Findings())
        self.missing += [f"free devices: {finding.message}" for finding in top.findings]
        asked, freed = self._devices(self.starting), self._devices(self.stopping)
        return tuple(
            FreeDevices(
                overlay=overlay,
                accelerator=name,
                free=_free(self.overlays[overlay], name, top) if not top.findings else None,
                freed=freed[overlay, name],
                asked=number,
            )
            for (overlay, name), number in sorted(asked.items())
            if number
        )

    def _devices(self, runs: Iterable[DesiredRun]) -> Counter[tuple[str, str]]:
        """Devices by overlay and accelerator."""
        counts = Counter[tuple[str, str]]()
        for one in runs:
            overlay = self.overlays[one.overlay]
            try:
                asked = demand(one.body, one.resource, overlay.device_units, overlay.runtimes)
            except (ValueError, OverflowError):
                continue
            for name, number in asked.most.items():
                counts[one.overlay, name] += number
        return counts

    def _queues(self) -> Iterator[QueueLength]:
        """Workloads of Kueue without quota, by queue."""
        queues = {(one.overlay, one.namespace, queue) for one in self.starting if (queue := _queue(one.body))}
        versions = Discovery(self.api).versions(WORKLOAD.group) if queues else []
        for namespace in sorted({place[1] for place in queues}) if versions else ():
            collection = Collection(base=base_of(versions[0]), resource="workloads", namespace=namespace)
            workloads = list_objects(self.api, collection).items
            waiting = Counter(str(at(one, "spec", "queueName")) for one in workloads if _waits(one))
            for overlay, _, queue in sorted(place for place in queues if place[1] == namespace):
                yield QueueLength(overlay=overlay, namespace=namespace, queue=queue, waiting=waiting[queue])

    def _claims(self, snapshot: Snapshot) -> Iterator[ClaimState]:
        """Claims of the runs that start, with their problems."""
        wanted = sorted({(one.overlay, one.namespace, name) for one in self.starting for name in _claim_names(one)})
        usage = self._usage(snapshot) if wanted else {}
        for overlay, namespace, name in wanted:
            path = f"{base_of('v1')}/namespaces/{namespace}/persistentvolumeclaims/{name}"
            try:
                phase = str((at(self.api.get(path), "status") or {}).get("phase") or "Pending")
            except NotFoundError:
                yield ClaimState(overlay=overlay, namespace=namespace, name=name, state="does not exist yet")
                continue
            except ClusterError as error:
                self.missing.append(f"the claim `{namespace}/{name}`: {error.message}")
                continue
            share = usage.get((namespace, name), 0.0)
            if phase != "Bound":
                yield ClaimState(overlay=overlay, namespace=namespace, name=name, state=f"is {phase.lower()}")
            elif share >= _FULL:
                state = f"is {share:.0%} full".replace("%", " %")
                yield ClaimState(overlay=overlay, namespace=namespace, name=name, state=state)

    def _usage(self, snapshot: Snapshot) -> Mapping[tuple[str, str], float]:
        """Used share of claims, from the kubelets of the nodes with pods of runs that stop."""
        found: dict[tuple[str, str], float] = {}
        for node in sorted({pod.node for pod in snapshot.pods.values() if pod.node})[:_MOST_NODES]:
            path = f"{base_of('v1')}/nodes/{node}/proxy/stats/summary"
            summary = self._asked(f"how full the claims are on node `{node}`", lambda: self.api.get(path))  # noqa: B023 - called at once
            for pod in at(summary, "pods") or ():
                for volume in at(pod, "volume") or ():
                    claim, used, size = at(volume, "pvcRef"), at(volume, "usedBytes"), at(volume, "capacityBytes")
                    if isinstance(claim, dict) and isinstance(used, int) and isinstance(size, int) and size:
                        found[str(claim.get("namespace")), str(claim.get("name"))] = used / size
        return found


def seconds_between(start: str, end: str) -> int:
    """From two times as Kubernetes writes them; 0 if one cannot be read."""
    try:
        return max(int((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()), 0)
    except (ValueError, TypeError):
        return 0


def _metrics(body: Body, lines: Sequence[str]) -> dict[str, str]:
    """The last value of each metric that the run declares."""
    found: dict[str, str] = {}
    for metric in _declared(body):
        name, pattern = str(at(metric, "name")), str(at(metric, "regex"))
        try:
            compiled = re2.compile(pattern)  # in linear time: anybody can write a pattern into `rendered/`
        except re2.error:
            continue
        values = (match for line in reversed(lines) if (match := compiled.search(line)) is not None)
        if (last := next(values, None)) is not None and "value" in compiled.groupindex:
            found[name] = str(last.group("value"))[:_LONGEST]
    return found


def _declared(body: Body) -> list[object]:
    text = at(body, "metadata", "annotations", METRICS)
    try:
        listed = orjson.loads(str(text)) if text else []
    except ValueError:
        return []
    return listed if isinstance(listed, list) else []


def _free(overlay: Overlay, name: str, top: Top) -> int:
    """Free devices of the nodes that have the accelerator: of its model, if the overlay names one."""
    known = overlay.accelerators.get(name)
    model = known.profile.model if known is not None and isinstance(known.profile, WholeGpus) else None
    units = overlay.device_units.get(name, {})
    nodes = [node for node in top.nodes if not units or set(units) & set(node.devices)]
    return sum(node.free or 0 for node in nodes if model is None or node.model == model)


def _claim_names(one: DesiredRun) -> Iterator[str]:
    for pods in pod_sets(one.resource, one.body):
        for volume in at(pods.template, "spec", "volumes") or ():
            name = at(volume, "persistentVolumeClaim", "claimName")
            if isinstance(name, str):
                yield name


def _queue(body: Body) -> str:
    return queue_in(at(body, "metadata", "labels"))


def _waits(workload: Body) -> bool:
    states = {one.get("type"): one.get("status") for one in conditions(workload)}
    return states.get(RESERVED) != "True" and states.get("Finished") != "True"


def _meta(body: Body, field: str) -> str:
    return str(at(body, "metadata", field) or "")
