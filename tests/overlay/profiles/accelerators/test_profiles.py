"""Pods with every accelerator profile, and refusals."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from gen.overlay.profiles.accelerators import ACCELERATORS
from tests.cases import for_each
from tests.history import History, branch
from tests.support import PROJECT, Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: [torchrun, train.py]\ntimeout: 1h\n"

EXAMPLES: dict[str, tuple[Any, int, dict[str, str]]] = {
    "ackShare": ({"memory": 8}, 1, {"aliyun.com/gpu-mem": "8"}),
    "ackTopology": ({}, 4, {"aliyun.com/gpu": "4"}),
    "amd": ({}, 4, {"amd.com/gpu": "4"}),
    "ascend": ("910", 4, {"huawei.com/Ascend910": "4"}),
    "dra": ("gpu.nvidia.com", 8, {}),
    "extended": ("example.com/npu", 4, {"example.com/npu": "4"}),
    "gaudi": ("1Gi", 8, {"habana.ai/gaudi": "8", "hugepages-2Mi": "1Gi"}),
    "hami": ({"memory": 3000}, 2, {"nvidia.com/gpu": "2", "nvidia.com/gpumem": "3k"}),
    "intel": ("xe", 1, {"gpu.intel.com/xe": "1"}),
    "mig": ("1g.10gb", 1, {"nvidia.com/mig-1g.10gb": "1"}),
    "neuron": ("device", 16, {"aws.amazon.com/neuron": "16"}),
    "nvidia": ("NVIDIA-H100-80GB-HBM3", 8, {"nvidia.com/gpu": "8"}),
    "qgpu": ({"cores": 100}, 3, {"tke.cloud.tencent.com/qgpu-core": "300"}),
    "timeSliced": ({}, 1, {"nvidia.com/gpu.shared": "1"}),
    "tpu": ({"accelerator": "tpu-v5p-slice", "topology": "2x2x1"}, 4, {"google.com/tpu": "4"}),
    "volcanoVgpu": ({}, 2, {"volcano.sh/vgpu-number": "2"}),
}
"""Fields in the overlay, devices of a pod, and the extended resources that its container gets."""


def overlay(declared: dict[str, Any], /, **grant: Any) -> str:
    document = {"kubernetes": "1.34", "namespaces": {"team": grant}, "accelerators": declared}
    return yaml.safe_dump(document, sort_keys=False)


def messages(repo: Repository, job: str) -> list[str]:
    repo.job(JOB + job)
    return [f"{finding.code}: {finding.message}" for finding in repo.render()[0].findings]


def test_every_profile_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(ACCELERATORS)


@for_each("name", EXAMPLES)
def test_training_containers_request_the_devices(repo: Repository, name: str) -> None:
    fields, count, expected = EXAMPLES[name]
    repo.overlay(overlay({"x": {name: fields}}))
    repo.job(f"{JOB}gpus: {count}\nmemory: 64Gi\n")
    template = repo.one("PyTorchJob")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    resources = template["spec"]["containers"][0]["resources"]
    expected = {"memory": "64Gi", **expected}
    assert ("claims" in resources) == bool(ACCELERATORS[name].companions)
    resources.pop("claims", None)
    assert resources == {"limits": expected, "requests": expected}
    assert template["metadata"]["labels"]["gen/accelerator"] == "x"
    tolerated = {taint["key"] for taint in template["spec"].get("tolerations", ())}
    assert tolerated == {taint["key"] for taint in ACCELERATORS[name].model_validate(fields).effect(1).tolerations}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_plan_counts_devices_and_holds_them_against_the_quota(history: History, name: str) -> None:
    fields, count, _ = EXAMPLES[name]
    history.overlay(overlay({"x": {name: fields}}, accelerators={"x": 2 * count}))
    history.job(f"{JOB}gpus: {count}\nmemory: 64Gi\n", name="first")
    branch(history)
    history.job(f"{JOB}gpus: {count}\nmemory: 64Gi\n", name="second")
    history.rendering()
    review = history.plan()
    assert review.findings == ()
    (usage,) = review.usage
    assert (usage.before.gpus, usage.after.gpus) == (count, 2 * count)
    history.overlay(overlay({"x": {name: fields}}, accelerators={"x": 2 * count - 1}))
    (message,) = [finding.message for finding in history.plan().findings if finding.code == "over-quota"]
    assert message.startswith(f"namespace `team` would request {2 * count} GPUs of accelerator `x`")


@for_each("name", EXAMPLES)
def test_pods_without_devices_get_nothing(repo: Repository, name: str) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    repo.job(JOB)
    before = repo.one("PyTorchJob")
    repo.overlay(overlay({"x": {name: EXAMPLES[name][0]}}))
    assert repo.one("PyTorchJob") == before


def test_pods_without_devices_do_not_see_those_of_any_accelerator(repo: Repository) -> None:
    declared = {"nvidia": {"nvidia": {}}, "npu": {"ascend": "910B"}, "tpu": {"tpu": EXAMPLES["tpu"][0]}}
    hide = {"gpu": {"hideFromOthers": True}}
    repo.overlay(overlay(declared) + yaml.safe_dump(hide))
    repo.job(JOB + "memory: 1Gi\n")
    (container,) = repo.one("PyTorchJob")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"]
    names = [entry["name"] for entry in container["env"] if entry.get("value") == "void"]
    assert names == ["ASCEND_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"]


def test_a_launcher_gets_no_devices(repo: Repository) -> None:
    repo.overlay(overlay({"x": {"ascend": "910B"}}))
    repo.job("kind: mpi\nimage: a:1\ncommand: train\ngpus: 8\nworkers: 2\n")
    replicas = repo.one("MPIJob")["spec"]["mpiReplicaSpecs"]
    launcher, worker = (replicas[role]["template"] for role in ("Launcher", "Worker"))
    assert "schedulerName" not in launcher["spec"]
    assert "gen/accelerator" not in launcher["metadata"]["labels"]
    assert worker["spec"]["schedulerName"] == "volcano"


TWO: dict[str, Any] = {"h100": {"nvidia": "NVIDIA-H100-80GB-HBM3", "perNode": 8}, "mig": {"mig": "1g.10gb"}}


@for_each(
    ("accelerators", "job", "expected"),
    [
        (TWO, "gpus: 2\n", "missing-field: `accelerator` is missing; overlay `dev` has `h100`, `mig`"),
        (TWO, "gpus: 2\naccelerator: h10\n", "unknown-accelerator: overlay `dev` has no accelerator `h10`"),
        (TWO, "accelerator: h100\n", "no-effect: `accelerator` has no effect on pods without GPUs"),
        (
            TWO,
            "gpus: 16\naccelerator: h100\n",
            "invalid-value: a pod requests 16 GPUs; nodes with accelerator `h100` have 8",
        ),
        (
            TWO,
            "gpus: 2\naccelerator: mig\n",
            "invalid-value: a pod can use one MIG instance, not 2",
        ),
        (
            TWO,
            "gpus: 1\naccelerator: mig\nworkers: 2\n",
            "invalid-value: 2 pods cannot train together on a MIG instance each, because NCCL does not support it",
        ),
        (
            TWO,
            "gpus: 8\naccelerator: h100\nplacement: {gpuModel: A100}\n",
            "no-effect: `gpuModel` has no effect with accelerator `h100`, which selects the nodes by itself",
        ),
        (
            {"tpu": {"tpu": {"accelerator": "tpu-v5-lite-podslice", "topology": "4x4"}}},
            "gpus: 4\nworkers: 3\n",
            "invalid-value: a TPU slice `4x4` has 4 hosts, which GKE numbers only in Jobs and JobSets",
        ),
        (
            {"tpu": {"tpu": {"accelerator": "tpu-v5-lite-podslice", "topology": "4x4"}}},
            "gpus: 8\nworkers: 2\n",
            "invalid-value: a host of a TPU slice `4x4` has 4 chips, got 8",
        ),
        (
            {"npu": {"ascend": "910"}},
            "gpus: 3\n",
            "invalid-value: a pod cannot use 3 NPUs of an Ascend 910",
        ),
        (
            {"npu": {"ascend": "910B"}},
            "gpus: 4\nworkers: 2\n",
            "invalid-value: 2 pods with 4 NPUs each do not use whole nodes",
        ),
        (
            {"npu": {"ascend": "910B"}},
            "gpus: 9\n",
            "invalid-value: a node has 8 NPUs, fewer than the 9 of a pod",
        ),
        (
            {"part": {"qgpu": {"cores": 30}}},
            "gpus: 2\n",
            "invalid-value: a pod can use one share of a GPU, not 2",
        ),
        (
            {"part": {"ackShare": {"memory": 8}}},
            "gpus: 1\nworkers: 4\n",
            "invalid-value: 4 pods cannot train together on a share of a GPU each, because NCCL does not support it",
        ),
    ],
)
def test_requests_that_the_devices_cannot_serve(
    repo: Repository, accelerators: dict[str, Any], job: str, expected: str
) -> None:
    repo.overlay(overlay(accelerators))
    assert messages(repo, job) == [expected]


@for_each(
    ("fields", "problem"),
    [
        ({}, "expected exactly one accelerator profile, got none"),
        ({"nvidia": {}, "amd": {}}, "expected exactly one accelerator profile, got `amd` and `nvidia`"),
        ({"nvidia": "H100", "modelLabel": "a/b"}, "`modelLabel` has no effect, because the profile has a `model`"),
        ({"tpu": {"accelerator": "a", "topology": "2by4"}}, "expected a topology, got `2by4`"),
        ({"mig": "9g.10gb"}, "expected a MIG profile, got `9g.10gb`"),
        ({"ackShare": {"memory": 8, "cores": 30}}, "`cores` and `schedule: core_mem` require each other"),
        ({"nvidia": {}, "resources": {"memory": "1Gi"}}, "expected a resource of nodes, got `memory`"),
    ],
)
def test_faulty_accelerators(repo: Repository, fields: dict[str, Any], problem: str) -> None:
    repo.overlay(overlay({"x": fields}))
    assert problem in [finding.message.partition(": ")[2] for finding in repo.render()[0].findings]


def test_the_accelerators_of_the_readme(repo: Repository) -> None:
    blocks = re.findall(r"(?s)```yaml\n(.*?)```", (PROJECT / "README.md").read_text("utf-8"))
    (declared,) = [block for block in blocks if block.startswith("accelerators:")]
    repo.overlay('kubernetes: "1.34"\n' + declared)
    repo.job(JOB + "gpus: 8\naccelerator: h100\n", namespace="team-a")
    assert repo.codes() == []
    repo.job(JOB + "gpus: 8\naccelerator: npu\n", namespace="team-a")
    assert repo.codes() == ["not-granted"]


def test_devices_are_declared_in_one_place(repo: Repository) -> None:
    repo.overlay(overlay({"x": {"nvidia": {}}}) + "gpu: {resource: amd.com/gpu}\n")
    (finding,) = repo.render()[0].findings
    assert finding.message == "`gpu.resource` has no effect on an overlay with `accelerators`"


def test_a_namespace_uses_granted_accelerators_only(repo: Repository) -> None:
    repo.overlay(overlay(TWO, accelerators=["mig"]))
    assert messages(repo, "gpus: 8\naccelerator: h100\n") == [
        "not-granted: namespace `team` may not use accelerator `h100` in overlay `dev`"
    ]
    repo.overlay(overlay(TWO, accelerators=["gtx"]))
    assert "unknown-accelerator: there is no accelerator `gtx` to grant" in messages(repo, "")


def test_roles_use_accelerators_of_their_own(repo: Repository) -> None:
    repo.overlay(overlay({"h100": {"nvidia": {}}, "npu": {"extended": "example.com/npu"}}))
    repo.job(
        "kind: tensorflow\nimage: a:1\ncommand: train\ngpus: 2\naccelerator: h100\n"
        "roles: {evaluator: {replicas: 1, accelerator: npu, gpus: 1}}\n"
    )
    replicas = repo.one("TFJob")["spec"]["tfReplicaSpecs"]
    limits = {role: spec["template"]["spec"]["containers"][0]["resources"]["limits"] for role, spec in replicas.items()}
    assert limits["Evaluator"] == {"example.com/npu": "1"}
    assert {"nvidia.com/gpu": "2"} in limits.values()


def test_own_memory_of_the_job_overrides_that_of_the_accelerator(repo: Repository) -> None:
    repo.overlay(overlay({"h100": {"nvidia": {}, "sharedMemory": "2Gi", "env": {"A": "1", "B": "2"}}}))
    repo.job(JOB + "gpus: 1\nsharedMemory: 1Gi\nenv: {B: 3}\n")
    pod = repo.one("PyTorchJob")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    assert [volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"]] == ["1Gi"]
    assert pod["containers"][0]["env"] == [{"name": "A", "value": "1"}, {"name": "B", "value": "3"}]
