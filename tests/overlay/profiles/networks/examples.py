"""Networks of every profile, and the job that uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest.mock import ANY

import yaml

from gen.overlay.profiles.networks import NETWORKS

if TYPE_CHECKING:
    from tests.support import Repository

JOB = (
    "kind: {kind}\nimage: registry.example.com/train:1\ncommand: [python, train.py]\nworkers: 3\n"
    "gpus: 8\nmemory: 64Gi\n{more}"
)
HOST = {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
TERWAY_TAINT = {"key": "exclusive-eni", "operator": "Equal", "value": "true", "effect": "NoSchedule"}

IPC_LOCK = {"capabilities": {"add": ["IPC_LOCK"]}}
ETH0 = {"name": "NCCL_SOCKET_IFNAME", "value": "eth0"}
TCP_DEVICES = "".join(f"- path: /dev/nvidia{name}\n" for name in (*range(8), "ctl", "-uvm"))
DAEMON = "us-docker.pkg.dev/gce-ai-infra/gpudirect/tcpgpudmarxd-dev:v1"


def interfaces(first: int, *networks: str) -> dict[str, str]:
    named = ",".join(f'{{"interfaceName":"eth{i}","network":"{name}"}}' for i, name in enumerate(networks, first))
    return {
        "networking.gke.io/default-interface": "eth0",
        "networking.gke.io/interfaces": f'[{{"interfaceName":"eth0","network":"default"}},{named}]',
    }


EXAMPLES: dict[str, list[tuple[Any, dict[str, Any]]]] = {
    "efa": [
        (
            "32",
            {
                "resources": {"vpc.amazonaws.com/efa": "32", "hugepages-2Mi": "5Gi"},
                "env": [{"name": "NCCL_SOCKET_IFNAME", "value": "^docker,lo,veth"}],
            },
        ),
        (
            {"perNode": 16, "gpusPerNode": 16, "hugepages": "1Gi", "env": {"NCCL_SOCKET_IFNAME": "ens"}},
            {
                "resources": {"vpc.amazonaws.com/efa": "8", "hugepages-2Mi": "1Gi"},
                "env": [{"name": "NCCL_SOCKET_IFNAME", "value": "ens"}],
            },
        ),
        (
            {"count": 2, "hugepages": 0},
            {
                "resources": {"vpc.amazonaws.com/efa": "2"},
                "env": [
                    {"name": "FI_EFA_USE_HUGE_PAGE", "value": "0"},
                    {"name": "NCCL_SOCKET_IFNAME", "value": "^docker,lo,veth"},
                ],
            },
        ),
    ],
    "erdma": [
        (
            {},
            {
                "resources": {"aliyun/erdma": "1"},
                "securityContext": IPC_LOCK,
                "env": [
                    {"name": "NCCL_IB_ADDR_FAMILY", "value": "AF_INET"},
                    {"name": "NCCL_IB_GID_INDEX", "value": "-1"},
                    {"name": "NCCL_IB_HCA", "value": "erdma_0"},
                    {"name": "NCCL_IB_ROCE_VERSION_NUM", "value": "2"},
                    {"name": "NCCL_NET_GDR_LEVEL", "value": "SYS"},
                    ETH0,
                ],
            },
        ),
        (
            {"count": 2, "addressRange": "10.0.0.0/8", "smcr": True},
            {
                "annotations": {"network.alibabacloud.com/erdma-smcr": "true"},
                "resources": {"aliyun/erdma": "2"},
                "securityContext": IPC_LOCK,
                "env": ANY,
            },
        ),
    ],
    "gkeRdma": [
        (
            {},
            {
                "annotations": interfaces(2, *(f"rdma-{index}" for index in range(8))),
                "spec": {
                    "volumes": [
                        {"name": "gpudirect-nvidia", "hostPath": {"path": "/home/kubernetes/bin/nvidia"}},
                        {"name": "gpudirect-gib", "hostPath": {"path": "/home/kubernetes/bin/gib"}},
                    ]
                },
                "volumeMounts": [
                    {"name": "gpudirect-nvidia", "mountPath": "/usr/local/nvidia", "readOnly": True},
                    {"name": "gpudirect-gib", "mountPath": "/usr/local/gib", "readOnly": True},
                ],
                "env": ANY,
            },
        ),
    ],
    "gkeTcpx": [
        (
            {"daemon": DAEMON},
            {
                "annotations": {
                    **interfaces(1, "vpc1", "vpc2", "vpc3", "vpc4"),
                    "devices.gke.io/container.tcpx-daemon": TCP_DEVICES,
                },
                "spec": {"volumes": ANY, "initContainers": ANY},
                "volumeMounts": [
                    {"name": "gpudirect-libraries", "mountPath": "/usr/local/nvidia/lib64", "readOnly": True},
                    {"name": "gpudirect-socket", "mountPath": "/run/tcpx"},
                ],
                "securityContext": IPC_LOCK,
                "env": ANY,
            },
        ),
    ],
    "gkeTcpxo": [
        (
            {"daemon": DAEMON, "networks": [f"gpu-{index}" for index in range(8)]},
            {
                "annotations": {
                    **interfaces(1, *(f"gpu-{index}" for index in range(8))),
                    "devices.gke.io/container.tcpxo-daemon": TCP_DEVICES + "- path: /dev/dmabuf_import_helper\n",
                },
                "spec": {"volumes": ANY, "initContainers": ANY},
                "volumeMounts": [
                    {"name": "gpudirect-libraries", "mountPath": "/usr/local/nvidia/lib64", "readOnly": True},
                    {"name": "gpudirect-apertures", "mountPath": "/dev/aperture_devices"},
                ],
                "env": ANY,
            },
        ),
    ],
    "lingjun": [
        (
            {"podNetwork": True},
            {
                "resources": {"rdma/hca": "1"},
                "securityContext": {"capabilities": {"add": ["IPC_LOCK", "SYS_RESOURCE"]}},
            },
        ),
        (
            {"resource": "rdma/x", "count": 8, "podNetwork": True},
            {
                "resources": {"rdma/x": "8"},
                "securityContext": {"capabilities": {"add": ["IPC_LOCK", "SYS_RESOURCE"]}},
            },
        ),
    ],
    "multus": [
        (
            {"networks": [{"name": "macvlan"}]},
            {"annotations": {"k8s.v1.cni.cncf.io/networks": "macvlan"}, "env": [ETH0]},
        ),
        (
            {
                "networks": [
                    {"name": "rail-0", "namespace": "net", "interface": "r0", "resource": "example.com/rail"},
                    {"name": "rail-1", "resource": "example.com/rail", "count": 2},
                ]
            },
            {
                "annotations": {"k8s.v1.cni.cncf.io/networks": "net/rail-0@r0,rail-1"},
                "resources": {"example.com/rail": "3"},
                "env": [ETH0],
            },
        ),
    ],
    "sriov": [
        (
            {"networks": [{"name": "sriov", "resource": "nvidia.com/sriov_rdma"}]},
            {
                "annotations": {"k8s.v1.cni.cncf.io/networks": "sriov"},
                "resources": {"nvidia.com/sriov_rdma": "1"},
                "securityContext": IPC_LOCK,
                "env": [ETH0],
            },
        ),
    ],
    "tkeEni": [
        ("exclusive", {"annotations": {"tke.cloud.tencent.com/networks": "tke-direct-eni"}}),
        (
            {"mode": "shared", "request": True},
            {
                "annotations": {"tke.cloud.tencent.com/networks": "tke-route-eni"},
                "resources": {"tke.cloud.tencent.com/eni-ip": "1"},
            },
        ),
    ],
    "hostNetwork": [
        (True, {"spec": HOST}),
        (False, {}),
    ],
    "rdma": [
        (
            "rdma/hca",
            {"resources": {"rdma/hca": "1"}, "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}},
        ),
        (
            {"resource": "rdma/hca", "count": 2, "capabilities": ["SYS_RESOURCE"], "env": {"NCCL_IB_HCA": "mlx5"}},
            {
                "resources": {"rdma/hca": "2"},
                "securityContext": {"capabilities": {"add": ["SYS_RESOURCE"]}},
                "env": [{"name": "NCCL_IB_HCA", "value": "mlx5"}],
            },
        ),
    ],
    "terway": [
        ({"version": "1.0.10"}, {"annotations": {"k8s.aliyun.com/eni": "true"}}),
        ({"version": "1.1"}, {"annotations": {"k8s.aliyun.com/ENI": "true"}}),
        ({"version": "v1.10.2"}, {"annotations": {"k8s.aliyun.com/ENI": "true"}}),
        (
            {"version": "1.11"},
            {
                "spec": {
                    "nodeSelector": {"k8s.aliyun.com/exclusive-mode-eni-type": "eniOnly"},
                    "tolerations": [TERWAY_TAINT],
                }
            },
        ),
        ({"version": "1.11", "mode": "trunk"}, {"annotations": {"k8s.aliyun.com/pod-eni": "true"}}),
        (
            {"version": "1.12", "mode": "podNetworking", "labels": {"example.com/net": "fast"}},
            {"labels": {"example.com/net": "fast"}},
        ),
    ],
}
"""Fields in the overlay, and their additions to each training pod."""


def overlay(networks: dict[str, Any], *, allow: bool = True) -> str:
    """An overlay with one network, `net`, of these profiles."""
    words = sorted({NETWORKS[name].grant for name in networks if NETWORKS[name].grant})
    grant = {"allow": words} if allow else {}
    return yaml.safe_dump({"kubernetes": "1.34", "namespaces": {"*": grant}, "networks": {"net": networks}})


def templates(repo: Repository, more: str = "", kind: str = "pytorch") -> dict[str, dict[str, Any]]:
    """Pod templates of a job by role, without the shared memory that each has."""
    repo.job(JOB.format(kind=kind, more=more))
    (workload,) = [body for body in repo.objects() if body["kind"].endswith("Job")]
    (replicas,) = [value for key, value in workload["spec"].items() if key.endswith("ReplicaSpecs")]
    return {role: _without_memory(spec["template"]) for role, spec in replicas.items()}


def _without_memory(template: dict[str, Any]) -> dict[str, Any]:
    pod = template["spec"]
    for holder, field in ((pod, "volumes"), (pod["containers"][0], "volumeMounts")):
        left = [one for one in holder.pop(field, ()) if one["name"] != "shm"]
        holder.update({field: left} if left else {})
    return template


def added(before: Any, after: Any) -> dict[str, Any]:
    """Entries of a mapping that are new or different."""
    before, after = before or {}, after or {}
    assert not before.keys() - after.keys()
    return {key: value for key, value in after.items() if before.get(key) != value}


def changes(plain: dict[str, Any], networked: dict[str, Any]) -> dict[str, Any]:
    """Additions of a network to a pod template, by part of the pod. Variables are sorted."""
    pod = added(plain["spec"], networked["spec"])
    metadata = {key: added(plain["metadata"].get(key), value) for key, value in networked["metadata"].items()}
    metadata["labels"].pop("gen/run", None)  # the hash of another run
    if "tolerations" in pod:
        pod["tolerations"] = [taint for taint in pod["tolerations"] if taint not in plain["spec"]["tolerations"]]
    pod.pop("containers", None)
    pod.pop("affinity", None)
    container = added(plain["spec"]["containers"][0], networked["spec"]["containers"][0])
    resources = container.pop("resources", {})
    assert resources.get("limits") == resources.get("requests")
    before = plain["spec"]["containers"][0].get("resources", {})
    resources = added(before.get("limits"), resources["limits"]) if resources else {}
    parts = {
        **metadata,
        "spec": pod,
        "resources": resources,
        **container,
    }
    if "env" in parts:
        parts["env"] = sorted(parts["env"], key=lambda entry: str(entry["name"]))
    return {key: value for key, value in parts.items() if value}
