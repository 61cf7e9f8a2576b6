"""What every network profile does to the pods of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gen.overlay.profiles.networks import NETWORKS
from tests.cases import for_each
from tests.overlay.profiles.networks.examples import DAEMON, EXAMPLES, JOB, changes, overlay, templates

if TYPE_CHECKING:
    from tests.support import Repository

EVERY = [(name, *example) for name, examples in EXAMPLES.items() for example in examples]


def test_every_profile_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(NETWORKS)


@for_each(("name", "given", "expected"), EVERY)
def test_the_training_pods_get_what_the_profile_adds(
    repo: Repository, name: str, given: Any, expected: dict[str, Any]
) -> None:
    repo.overlay(overlay({name: given}))
    plain, networked = templates(repo), templates(repo, "network: net\n")
    assert networked.keys() == plain.keys()
    for role, template in networked.items():
        assert changes(plain[role], template) == expected


@for_each("name", NETWORKS)
def test_a_job_without_the_network_gets_nothing(repo: Repository, name: str) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    before = templates(repo)
    repo.overlay(overlay({name: EXAMPLES[name][0][0]}))
    assert templates(repo) == before


@for_each("name", NETWORKS)
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
    repo.job(JOB.format(kind="pytorch", more="network: net\n").replace("python", "torchrun"))
    assert repo.codes() == ["not-granted"]


@for_each(("name", "given", "expected"), EVERY)
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


@for_each(
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


@pytest.mark.parametrize("name", ["NCCL_GPUDIRECTTCPX_{}_BINDINGS"])
def test_tcpx_sends_and_receives_on_different_cores(name: str) -> None:
    env = NETWORKS["gkeTcpx"].model_validate({"daemon": "daemon:1"}).effect(8).env
    used = [cores(env[name.format(way)]) for way in ("TX", "RX")]
    assert not used[0] & used[1]


def cores(bindings: str) -> set[tuple[str, int]]:
    pairs = (one.split(":") for one in bindings.split(";"))
    ranges = ((interface, part.split("-")) for interface, parts in pairs for part in parts.split(","))
    return {(interface, core) for interface, ends in ranges for core in range(int(ends[0]), int(ends[-1]) + 1)}
