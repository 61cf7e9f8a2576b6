"""Accelerators of nodes, and the jobs that use them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Diagnostic, Findings, at
from gen.base.codes.clusters import CLUSTER_FORBIDDEN
from gen.base.labels import JOB_LABEL, RUN_LABEL
from gen.kubernetes import quantity
from gen.kubernetes.facts.demand import claimed_devices, devices_in, pod_devices, unit_of
from gen.kubernetes.facts.state import conditions
from gen.kubernetes.objects import INSTANCE_TYPE, Body
from gen.live.client import Api, ClusterError, NotFoundError
from gen.live.dcgm import DeviceUsage, DeviceUsages, read_devices
from gen.live.lists import Collection, Discovery, base_of, list_objects
from gen.live.target import Target
from gen.overlay.profiles.accelerators import ACCELERATORS

if TYPE_CHECKING:
    from gen.kubernetes.facts.demand import Unit

Answer = TypeVar("Answer")
_METRICS: Final = "metrics.k8s.io"
_ACTIVE: Final = "status.phase!=Succeeded,status.phase!=Failed"
_MOST_THREADS: Final = 16


class Usage(Struct, frozen=True, kw_only=True):
    """Measurements of metrics-server."""

    cpu: float = 0.0
    """Cores."""
    memory: int = 0
    """Bytes."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(cpu=self.cpu + other.cpu, memory=self.memory + other.memory)


class NodeUse(Struct, frozen=True, kw_only=True):
    """A node with accelerators."""

    context: str
    name: str
    model: str
    """Model of its devices, else the type of the machine; empty if no label has it."""
    devices: Mapping[str, int]
    """Devices by resource."""
    allocated: int | None
    """Devices that pods have requested; None if they may not be listed."""
    ready: bool
    schedulable: bool
    usage: Usage | None = None
    used: DeviceUsage | None = None
    """Usage of its GPUs."""

    @property
    def total(self) -> int:
        return sum(self.devices.values())

    @property
    def free(self) -> int | None:
        """Devices for new pods: none on a node that accepts no pods."""
        if self.allocated is None:
            return None
        return max(self.total - self.allocated, 0) if self.ready and self.schedulable else 0


class JobUse(Struct, frozen=True, kw_only=True):
    """Pods of a run on nodes, or all pods of a namespace that belong to no job of gen."""

    context: str
    namespace: str
    job: str
    """Empty for pods of others."""
    run: str
    """Hash of the run."""
    pods: int
    nodes: int
    devices: int
    usage: Usage | None = None
    used: DeviceUsage | None = None
    """Usage of its GPUs."""


class Top(Struct, frozen=True, kw_only=True):
    """All nodes with accelerators, and the jobs that use the devices."""

    nodes: tuple[NodeUse, ...]
    jobs: tuple[JobUse, ...]
    findings: tuple[Diagnostic, ...]


class _PodDevices(Struct, frozen=True):
    """A pod on a node."""

    namespace: str
    name: str
    job: str
    run: str
    node: str
    devices: int


def read_top(targets: Sequence[Target], found: Findings) -> Top:
    """Ask all clusters at the same time. A missing answer is a finding and hides no other answer."""
    with ThreadPoolExecutor(max_workers=min(len(targets), _MOST_THREADS) or 1) as pool:
        answers = list(pool.map(_read, targets))
    own = Findings([*found.items, *(item for answer in answers for item in answer.findings)])
    return Top(
        nodes=tuple(node for answer in answers for node in answer.nodes),
        jobs=tuple(job for answer in answers for job in answer.jobs),
        findings=tuple(own),
    )


def _read(target: Target) -> Top:
    api, found = target.api, Findings()
    units = {
        name: size for overlay in target.overlays for own in overlay.device_units.values() for name, size in own.items()
    }
    unit, labels = unit_of(units), _model_labels(target)
    nodes = _answer(lambda: _nodes(api), target, found)
    pods = _answer(lambda: _pods(api, unit), target, found) if nodes is not None or _only_forbidden(found) else None
    usage = (_answer(lambda: _metrics(api), target, found) if pods is not None else None) or _Metrics({}, {})
    allocated = Counter[str]()
    for pod in pods or ():
        allocated[pod.node] += pod.devices
    every = (_node(api, body, unit, labels, None if pods is None else allocated, usage) for body in nodes or ())
    rows = [row for row in every if row.total]
    measured = read_devices(api, {row.name for row in rows}) if rows and pods is not None else DeviceUsages()
    return Top(
        nodes=tuple(replace(row, used=measured.nodes.get(row.name)) for row in rows),
        jobs=tuple(_jobs(api, pods or (), usage, measured)),
        findings=tuple(found),
    )


def _answer(question: Callable[[], Answer], target: Target, found: Findings) -> Answer | None:
    """The answer; None with a finding if there is none."""
    try:
        return question()
    except NotFoundError:
        return None
    except ClusterError as error:
        found.error(error.code, target.overlays[0].place("cluster"), error.message, error.hint)
        return None


def _only_forbidden(found: Findings) -> bool:
    """Whether the cluster answers other questions."""
    return all(item.code == CLUSTER_FORBIDDEN.name for item in found.items)


def _nodes(api: Api) -> list[Body]:
    return list_objects(api, Collection(base=base_of("v1"), resource="nodes"), _slim_node).items


def _slim_node(body: Body) -> Body:
    status = body.get("status") or {}
    kept = {key: status.get(key) for key in ("allocatable", "capacity", "conditions")}
    return {"metadata": body.get("metadata"), "spec": body.get("spec"), "status": kept}


def _pods(api: Api, unit: Unit) -> list[_PodDevices]:
    collection = Collection(base=base_of("v1"), resource="pods", fields=_ACTIVE)
    held = [body["held"] for body in list_objects(api, collection, lambda body: {"held": _held(body, unit)}).items]
    return [pod for pod in held if pod.node and (pod.devices or pod.job)]


def _held(body: Body, unit: Unit) -> _PodDevices:
    metadata = body.get("metadata") or {}
    labels = metadata.get("labels") or {}
    try:
        devices = claimed_devices(body) + pod_devices(body.get("spec"), unit)
    except (ValueError, OverflowError):  # an amount of a form that gen does not write
        devices = 0
    run = str(labels.get(RUN_LABEL) or "")
    return _PodDevices(
        namespace=str(metadata.get("namespace") or ""),
        name=str(metadata.get("name") or ""),
        job=str(labels.get(JOB_LABEL) or "") if run else "",
        run=run,
        node=str(at(body, "spec", "nodeName") or ""),
        devices=devices,
    )


class _Metrics(Struct, frozen=True):
    nodes: Mapping[str, Usage]
    pods: Mapping[tuple[str, str], Usage]
    """By namespace and name."""


def _metrics(api: Api) -> _Metrics:
    """The answers of metrics-server; nothing if the cluster has none."""
    versions = Discovery(api).versions(_METRICS)
    if not versions:
        return _Metrics({}, {})
    base = base_of(versions[0])
    nodes = list_objects(api, Collection(base=base, resource="nodes")).items
    pods = list_objects(api, Collection(base=base, resource="pods", selector=JOB_LABEL)).items
    return _Metrics(
        {str(at(one, "metadata", "name")): _usage(one.get("usage")) for one in nodes},
        {
            (str(at(one, "metadata", "namespace")), str(at(one, "metadata", "name"))): sum(
                (_usage(at(container, "usage")) for container in one.get("containers") or ()), Usage()
            )
            for one in pods
        },
    )


def _usage(given: object) -> Usage:
    cpu, memory = (quantity.server_amount(str(at(given, name) or "0")) or 0 for name in ("cpu", "memory"))
    return Usage(cpu=float(cpu), memory=int(memory))


def _model_labels(target: Target) -> list[str]:
    """Node labels with models, in the order of the overlay.

    After them the labels of vendors; last the type of the machine, because machines of one type may have different
    devices.
    """
    known = (one.models for overlay in target.overlays for one in overlay.accelerators.values())
    vendors = (profile.models for profile in ACCELERATORS.values())
    labels = dict.fromkeys(label for label in (*known, *vendors) if label and label != INSTANCE_TYPE)
    return [*labels, INSTANCE_TYPE]


def _node(
    api: Api, body: Body, unit: Unit, labels: Iterable[str], allocated: Counter[str] | None, usage: _Metrics
) -> NodeUse:
    name, own = str(at(body, "metadata", "name") or ""), at(body, "metadata", "labels") or {}
    return NodeUse(
        context=api.context,
        name=name,
        model=next((str(own[label]) for label in labels if own.get(label)), ""),
        devices=devices_in(at(body, "status", "allocatable") or at(body, "status", "capacity"), unit),
        allocated=None if allocated is None else allocated[name],
        ready=any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions(body)),
        schedulable=at(body, "spec", "unschedulable") is not True,
        usage=usage.nodes.get(name),
    )


def _jobs(api: Api, pods: Iterable[_PodDevices], usage: _Metrics, devices: DeviceUsages) -> Iterable[JobUse]:
    groups: dict[tuple[str, str, str], list[_PodDevices]] = defaultdict(list)
    for pod in pods:
        groups[pod.namespace, pod.job, pod.run].append(pod)
    rows = []
    for (namespace, job, run), own in groups.items():
        keys = [(pod.node, pod.namespace, pod.name) for pod in own]
        used = [devices.pods[key] for key in keys if key in devices.pods]
        measured = [use for pod in own if (use := usage.pods.get((pod.namespace, pod.name))) is not None]
        rows.append(
            JobUse(
                context=api.context,
                namespace=namespace,
                job=job,
                run=run,
                pods=len(own),
                nodes=len({pod.node for pod in own}),
                devices=sum(pod.devices for pod in own),
                usage=sum(measured, Usage()) if measured else None,
                used=sum(used[1:], used[0]) if used else None,
            )
        )
    return sorted(rows, key=lambda row: (-row.devices, row.namespace, row.job))
