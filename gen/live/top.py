"""Accelerators of nodes, the jobs that use them, and their usage, as dcgm-exporter measures it on each node.

The exporter is from `deployment/templates` and `internal/pkg/transformation` of NVIDIA/dcgm-exporter, with the labels
of the GPU operator and GKE. The exporters are read through the proxy of the API server, up to a limit, because any pod
can have these labels.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Names
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Diagnostic, Findings, at, regex
from gen.base.codes.clusters import CLUSTER_FORBIDDEN
from gen.kubernetes import quantity
from gen.kubernetes.facts.demand import Unit, claimed_devices, devices_in, pod_devices, unit_of
from gen.kubernetes.facts.state import has_condition
from gen.kubernetes.objects import INSTANCE_TYPE, JOB_LABEL, RUN_LABEL, Body
from gen.live.client import Api, ClusterError, NotFoundError
from gen.live.pods import RUNNING, pod_of
from gen.live.requests import Collection, Discovery, base_of, list_objects
from gen.live.target import Target
from gen.overlay.profiles.accelerators import ACCELERATORS

_SELECTORS: Final = ("app.kubernetes.io/name in (dcgm-exporter, gke-managed-dcgm-exporter)", "app=nvidia-dcgm-exporter")
_PORT: Final = 9400
_MOST_BYTES: Final = 4 << 20
_MOST_EXPORTERS: Final = 500
_THREADS: Final = 8
_LINE = regex(r"(DCGM_FI_[A-Z0-9_]{1,60})\{([^\n]*)\}\s+([-+.0-9eE]{1,40})(?:\s+[0-9]+)?")
_LABEL = regex(r'(\w+)="((?:[^"\\]|\\.)*)"')
_BUSY: Final = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
"""A ratio, also of a MIG instance; not every GPU has it."""
_PERCENT: Final = "DCGM_FI_DEV_GPU_UTIL"
_MIB: Final = "DCGM_FI_DEV_FB_USED"
_LARGEST: Final = 1 << 24
"""MiB; larger values mean that there is none."""


class DeviceUsage(Struct, frozen=True, kw_only=True):
    devices: int
    busy: float
    """Sum of the utilization ratios."""
    memory: int
    """Bytes."""

    def __add__(self, other: DeviceUsage) -> DeviceUsage:
        return DeviceUsage(
            devices=self.devices + other.devices, busy=self.busy + other.busy, memory=self.memory + other.memory
        )

    @property
    def ratio(self) -> float:
        return self.busy / self.devices if self.devices else 0.0


class DeviceUsages(Struct, frozen=True, kw_only=True):
    """Measurements of the exporters of a cluster."""

    nodes: Mapping[str, DeviceUsage] = {}
    pods: Mapping[tuple[str, str, str], DeviceUsage] = {}
    """By node, namespace and name."""


def read_devices(api: Api, nodes: Names[str]) -> DeviceUsages:
    """The answers of the exporters on these nodes; nothing of those that are missing or may not be read."""
    exporters = list(_exporters(api, nodes).items())[:_MOST_EXPORTERS]
    by_node: dict[str, DeviceUsage] = {}
    by_pod: dict[tuple[str, str, str], DeviceUsage] = {}
    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        texts = list(pool.map(lambda one: _text_of(api, one[1]), exporters))
    for (node, _), text in zip(exporters, texts, strict=True):
        for pod, used in _devices(text):
            by_node[node] = by_node[node] + used if node in by_node else used
            if pod is not None:
                key = (node, *pod)
                by_pod[key] = by_pod[key] + used if key in by_pod else used
    return DeviceUsages(nodes=by_node, pods=by_pod)


def _exporters(api: Api, nodes: Names[str]) -> dict[str, str]:
    """Paths of the metrics by node: one exporter for each."""
    found: dict[str, str] = {}
    for selector in _SELECTORS:
        try:
            collection = Collection(base=base_of("v1"), resource="pods", selector=selector)
            pods = list_objects(api, collection).items
        except (ClusterError, NotFoundError):
            continue
        for body in pods:
            node = str(at(body, "spec", "nodeName") or "")
            if node in nodes and pod_of(body).phase == RUNNING:
                namespace, name = str(at(body, "metadata", "namespace")), str(at(body, "metadata", "name"))
                path = f"{base_of('v1')}/namespaces/{namespace}/pods/{name}:{_port(body)}/proxy/metrics"
                found.setdefault(node, path)
    return found


def _port(body: Body) -> int:
    """The port with the name `metrics`."""
    containers: Any = at(body, "spec", "containers")
    ports = [one for container in containers or () for one in at(container, "ports") or ()]
    return next((int(one["containerPort"]) for one in ports if at(one, "name") == "metrics"), _PORT)


def _text_of(api: Api, path: str) -> str:
    try:
        return api.text(path, most=_MOST_BYTES).decode("utf-8", "replace")
    except (ClusterError, NotFoundError):
        return ""


def _devices(text: str) -> Iterator[tuple[tuple[str, str] | None, DeviceUsage]]:
    """The pod of each device, if it has one, and its usage. A GPU with MIG counts by its instances."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    pods: dict[tuple[str, str], tuple[str, str]] = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None or match[1] not in (_BUSY, _PERCENT, _MIB):
            continue
        labels = dict(_LABEL.findall(match[2]))
        device = labels.get("UUID") or labels.get("gpu") or "", labels.get("GPU_I_ID") or ""
        if (number := _number(match[3])) is not None:
            values.setdefault(device, {})[match[1]] = number
        name = labels.get("pod") or labels.get("pod_name") or ""
        if name:
            pods[device] = labels.get("namespace") or labels.get("pod_namespace") or "", name
    divided = {gpu for gpu, instance in values if instance}
    for (gpu, instance), own in values.items():
        busy = own.get(_BUSY, own.get(_PERCENT, -1.0) / 100)
        if 0 <= busy <= 1 and (instance or gpu not in divided):
            memory = own.get(_MIB, 0.0)
            used = int(memory) << 20 if 0 <= memory <= _LARGEST else 0
            yield pods.get((gpu, instance)), DeviceUsage(devices=1, busy=busy, memory=used)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


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
    answers = nodes is not None or all(item.code == CLUSTER_FORBIDDEN.name for item in found.items)
    pods = _answer(lambda: _pods(api, unit), target, found) if answers else None
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
        ready=has_condition(body, "Ready"),
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
