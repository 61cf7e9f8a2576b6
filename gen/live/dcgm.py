"""Usage of GPUs, as dcgm-exporter measures it on each node.

From `deployment/templates` and `internal/pkg/transformation` of NVIDIA/dcgm-exporter, and the labels of the GPU
operator and GKE. The exporters are read through the proxy of the API server, up to a limit, because any pod can have
these labels.
"""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from msgspec import Struct

from gen.base import at, regex
from gen.kubernetes.objects import Body
from gen.live.client import Api, ClusterError, NotFoundError
from gen.live.lists import Collection, base_of, list_objects
from gen.live.pods import RUNNING, pod_of

_SELECTORS: Final = (
    "app.kubernetes.io/name in (dcgm-exporter, gke-managed-dcgm-exporter)",
    "app=nvidia-dcgm-exporter",
)
_PORT: Final = 9400
_MOST_BYTES: Final = 4 << 20
_MOST_EXPORTERS: Final = 500
_THREADS: Final = 8
_LINE = regex(r"(DCGM_FI_[A-Z0-9_]{1,60})\{([^\n]*)\}\s+([-+.0-9eE]{1,40})(?:\s+[0-9]+)?")
_LABEL = regex(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ACTIVE: Final = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
"""A ratio, also of a MIG instance; not every GPU has it."""
_PERCENT: Final = "DCGM_FI_DEV_GPU_UTIL"
_MIB: Final = "DCGM_FI_DEV_FB_USED"
_LARGEST: Final = 1 << 24
"""MiB; larger values mean that there is none."""


class DeviceUsage(Struct, frozen=True, kw_only=True):
    """Usage of devices."""

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
        texts = list(pool.map(lambda one: _metrics(api, one[1]), exporters))
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


def _metrics(api: Api, path: str) -> str:
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
        if match is None or match[1] not in (_ACTIVE, _PERCENT, _MIB):
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
        busy = own.get(_ACTIVE, own.get(_PERCENT, -1.0) / 100)
        if 0 <= busy <= 1 and (instance or gpu not in divided):
            memory = own.get(_MIB, 0.0)
            used = int(memory) << 20 if 0 <= memory <= _LARGEST else 0
            yield pods.get((gpu, instance)), DeviceUsage(devices=1, busy=busy, memory=used)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
