"""What every network profile does to the pods of a job."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any
from unittest.mock import ANY

import pytest
import yaml

from gen.model.effect import Effect, combined
from gen.networks import NETWORKS

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
"""Fields in the overlay, and what they add to each training pod."""
EVERY = [(name, *example) for name, examples in EXAMPLES.items() for example in examples]


def overlay(networks: dict[str, Any], *, allow: bool = True) -> str:
    """An overlay with one network, `net`, of these profiles."""
    words = sorted({NETWORKS[name].grant for name in networks if NETWORKS[name].grant})
    grant = {"allow": words} if allow else {}
    return yaml.safe_dump({"kubernetes": "1.34", "namespaces": {"*": grant}, "networks": {"net": networks}})


def templates(repo: Repository, more: str = "", kind: str = "pytorch") -> dict[str, dict[str, Any]]:
    """Pod templates of a job by role."""
    repo.job(JOB.format(kind=kind, more=more))
    (workload,) = [body for body in repo.objects() if body["kind"].endswith("Job")]
    (replicas,) = [value for key, value in workload["spec"].items() if key.endswith("ReplicaSpecs")]
    return {role: spec["template"] for role, spec in replicas.items()}


def added(before: Any, after: Any) -> dict[str, Any]:
    """Entries of a mapping that are new or different."""
    before, after = before or {}, after or {}
    assert not before.keys() - after.keys()
    return {key: value for key, value in after.items() if before.get(key) != value}


def changes(plain: dict[str, Any], networked: dict[str, Any]) -> dict[str, Any]:
    """What a network adds to a pod template, by the part of the pod. Variables are sorted."""
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


def test_every_profile_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(NETWORKS)


@pytest.mark.parametrize(("name", "given", "expected"), EVERY)
def test_the_training_pods_get_what_the_profile_adds(
    repo: Repository, name: str, given: Any, expected: dict[str, Any]
) -> None:
    repo.overlay(overlay({name: given}))
    plain, networked = templates(repo), templates(repo, "network: net\n")
    assert networked.keys() == plain.keys()
    for role, template in networked.items():
        assert changes(plain[role], template) == expected


@pytest.mark.parametrize("name", NETWORKS)
def test_a_job_without_the_network_gets_nothing(repo: Repository, name: str) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    before = templates(repo)
    repo.overlay(overlay({name: EXAMPLES[name][0][0]}))
    assert templates(repo) == before


@pytest.mark.parametrize("name", NETWORKS)
def test_only_training_containers_get_resources_and_capabilities(repo: Repository, name: str) -> None:
    """The launcher of an MPI job does not train."""
    repo.overlay(overlay({name: EXAMPLES[name][-1][0]}))
    plain, networked = (templates(repo, more, kind="mpi") for more in ("", "network: net\n"))
    launcher = changes(plain["Launcher"], networked["Launcher"])
    assert not launcher.keys() & {"resources", "securityContext", "env", "volumeMounts"}
    spec = networked["Launcher"]["spec"]
    assert [container["name"] for container in spec["initContainers"]] == ["wait-for-pods"]
    assert "volumes" not in spec
    assert not launcher.get("annotations", {}).keys() & {"k8s.v1.cni.cncf.io/networks", "networking.gke.io/interfaces"}


def test_pods_with_ports_on_the_node_are_on_different_nodes(repo: Repository) -> None:
    repo.overlay(overlay({"hostNetwork": True}))
    worker = templates(repo, "network: net\n")["Worker"]
    (term,) = worker["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert term["labelSelector"]["matchLabels"].items() <= worker["metadata"]["labels"].items()


def test_environment_of_the_job_overrides_that_of_the_network(repo: Repository) -> None:
    repo.overlay(overlay({"rdma": {"resource": "rdma/hca", "env": {"NCCL_IB_HCA": "mlx5", "NCCL_DEBUG": "WARN"}}}))
    template = templates(repo, "network: net\nenv: {NCCL_IB_HCA: mlx5_1}\n")["Master"]
    env = {entry["name"]: entry["value"] for entry in template["spec"]["containers"][0]["env"]}
    assert env == {"NCCL_DEBUG": "WARN", "NCCL_IB_HCA": "mlx5_1"}


@pytest.mark.parametrize("name", [name for name, profile in NETWORKS.items() if profile.grant])
def test_a_guarded_profile_needs_the_grant(repo: Repository, name: str) -> None:
    repo.overlay(overlay({name: EXAMPLES[name][0][0]}, allow=False))
    repo.job(JOB.format(kind="pytorch", more="network: net\n"))
    assert repo.codes() == ["not-granted"]


CLASHING = {
    frozenset(pair)
    for pair in (
        *(("efa", "multus"), ("efa", "sriov")),  # other interfaces for NCCL's own connections
        ("hostNetwork", "lingjun"),  # the example is one for other pods
    )
}
"""Examples that cannot be combined, because they set a field differently."""


def excluded(one: str, other: str) -> bool:
    platforms = {NETWORKS[one].platform, NETWORKS[other].platform} - {""}
    return other in NETWORKS[one].excludes or one in NETWORKS[other].excludes or len(platforms) > 1


def merged(one: Any, other: Any) -> Any:
    if isinstance(one, dict):
        return {**one, **other, **{key: merged(one[key], other[key]) for key in one.keys() & other.keys()}}
    if isinstance(one, list):
        both = [*one, *(entry for entry in other if entry not in one)]
        return sorted(both, key=lambda entry: str(entry["name"])) if isinstance(both[0], dict) else both
    return f"{one},{other}" if one != other else one


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(NETWORKS, 2)])
def test_profiles_are_combined_unless_they_exclude_each_other(repo: Repository, one: str, other: str) -> None:
    repo.overlay(overlay({name: EXAMPLES[name][0][0] for name in (one, other)}))
    repo.job(JOB.format(kind="pytorch", more="network: net\n"))
    if excluded(one, other) or frozenset((one, other)) in CLASHING:
        assert "invalid-value" in repo.codes()
        return
    both, plain = templates(repo, "network: net\n")["Master"], templates(repo)["Master"]
    parts = changes(plain, both)
    expected = merged(EXAMPLES[one][0][1], EXAMPLES[other][0][1])
    if any(EXAMPLES[name][0][1].get("env") is ANY for name in (one, other)):
        expected["env"] = ANY
    assert parts == expected


@pytest.mark.parametrize("name", Effect.__struct_fields__)
def test_no_part_of_an_effect_is_lost_when_effects_are_combined(name: str) -> None:
    default = getattr(Effect(), name)
    values: tuple[Any, Any, Any] = (True, False, True)
    if isinstance(default, dict):
        values = ({"a": "b"}, {"c": "d"}, {"a": "b", "c": "d"})
    elif default == ():
        values = (("a",), ("b",), ("a", "b"))
    one, other, both = values
    assert combined([Effect(**{name: one}), Effect(**{name: other})]) == Effect(**{name: both})


@pytest.mark.parametrize(("name", "given", "expected"), EVERY)
def test_only_a_guarded_profile_reaches_the_node(
    repo: Repository, name: str, given: Any, expected: dict[str, Any]
) -> None:
    """Pod Security's baseline profile forbids host networks and folders of the node."""
    repo.overlay(overlay({name: given}))
    pods = [template["spec"] for template in templates(repo, "network: net\n").values()]
    on_host = any(pod.get("hostNetwork") for pod in pods)
    assert on_host == ("hostNetwork" in expected.get("spec", {}))
    of_node = any("hostPath" in volume for pod in pods for volume in pod.get("volumes", ()))
    assert of_node == ("volumes" in expected.get("spec", {}))
    assert not (on_host or of_node) or NETWORKS[name].grant


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("terway", {"version": "1.0", "mode": "trunk"}),
        ("terway", {"version": "1.11", "mode": "podNetworking"}),
        ("terway", {"version": "1.11", "labels": {"example.com/net": "fast"}}),
        ("terway", {"version": "latest"}),
        ("rdma", {"resource": "rdma/hca", "capabilities": ["CAP_SYS_ADMIN+"]}),
        ("rdma", {"resource": "rdma/hca", "count": 0}),
        ("efa", {}),
        ("efa", {"perNode": 32, "count": 4}),
        ("efa", {"count": 4, "gpusPerNode": 4}),
        ("erdma", {"addressRange": "10.0.0.0/99"}),
        ("gkeTcpx", {"daemon": DAEMON, "networks": ["vpc1"]}),
        ("lingjun", {}),
        ("multus", {"networks": []}),
        ("multus", {"networks": [{"name": "a", "count": 2}]}),
        ("multus", {"networks": [{"name": "a", "interface": "eth0"}]}),
        ("multus", {"networks": [{"name": "a", "interface": "n1"}, {"name": "b", "interface": "n1"}]}),
        ("sriov", {"networks": [{"name": "a"}]}),
    ],
)
def test_contradictory_fields_are_refused(repo: Repository, name: str, given: dict[str, Any]) -> None:
    repo.overlay(overlay({name: given}))
    repo.job(JOB.format(kind="pytorch", more="network: net\n"))
    assert {"invalid-value", "missing-field", "invalid-number"} & set(repo.codes()), repo.codes()
