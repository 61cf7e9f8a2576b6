"""What every network profile does to the pods of a job."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.model.effect import Effect, combined
from gen.networks import NETWORKS

if TYPE_CHECKING:
    from tests.support import Repository

JOB = "kind: {kind}\nimage: registry.example.com/train:1\ncommand: [python, train.py]\nworkers: 3\n{more}"
HOST = {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
TERWAY_TAINT = {"key": "exclusive-eni", "operator": "Equal", "value": "true", "effect": "NoSchedule"}

EXAMPLES: dict[str, list[tuple[Any, dict[str, Any]]]] = {
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
    """What a network adds to a pod template, by the part of the pod."""
    pod = added(plain["spec"], networked["spec"])
    metadata = {key: added(plain["metadata"].get(key), value) for key, value in networked["metadata"].items()}
    metadata["labels"].pop("gen/run", None)  # the hash of another run
    pod.pop("containers", None)
    pod.pop("affinity", None)
    container = added(plain["spec"]["containers"][0], networked["spec"]["containers"][0])
    resources = container.pop("resources", {})
    assert resources.get("limits") == resources.get("requests")
    parts = {
        **metadata,
        "spec": pod,
        "resources": resources.get("limits"),
        **container,
    }
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
    assert not launcher.keys() & {"resources", "securityContext", "env"}


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


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(NETWORKS, 2)])
def test_profiles_are_combined_unless_they_exclude_each_other(repo: Repository, one: str, other: str) -> None:
    assert (other in NETWORKS[one].excludes) == (one in NETWORKS[other].excludes)
    repo.overlay(overlay({name: EXAMPLES[name][0][0] for name in (one, other)}))
    repo.job(JOB.format(kind="pytorch", more="network: net\n"))
    if other in NETWORKS[one].excludes:
        assert "invalid-value" in repo.codes()
        return
    both, plain = templates(repo, "network: net\n")["Master"], templates(repo)["Master"]
    assert changes(plain, both) == {**EXAMPLES[one][0][1], **EXAMPLES[other][0][1]}


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
    """Pod Security's baseline profile forbids host networks."""
    repo.overlay(overlay({name: given}))
    reaches = any(template["spec"].get("hostNetwork") for template in templates(repo, "network: net\n").values())
    assert reaches == ("hostNetwork" in expected.get("spec", {}))
    assert not reaches or NETWORKS[name].grant


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("terway", {"version": "1.0", "mode": "trunk"}),
        ("terway", {"version": "1.11", "mode": "podNetworking"}),
        ("terway", {"version": "1.11", "labels": {"example.com/net": "fast"}}),
        ("terway", {"version": "latest"}),
        ("rdma", {"resource": "rdma/hca", "capabilities": ["CAP_SYS_ADMIN+"]}),
        ("rdma", {"resource": "rdma/hca", "count": 0}),
    ],
)
def test_contradictory_fields_are_refused(repo: Repository, name: str, given: dict[str, Any]) -> None:
    repo.overlay(overlay({name: given}))
    repo.job(JOB.format(kind="pytorch", more="network: net\n"))
    assert {"invalid-value", "invalid-type", "invalid-number"} & set(repo.codes()), repo.codes()
