"""Settings of steps for Kubernetes: fields of jobs, patches, and those that are reported."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportInput
from gen.importers.overlay_needs import fragment
from gen.importers.proof import NAME, Proof, judge, overlay_text, prove
from tests.cases import for_each
from tests.importers.kfp.test_ir import ARTIFACTS, FUNCTIONS, IR
from tests.importers.kfp.test_kfp import read
from tests.support import PROJECT


def test_settings_for_kubernetes_are_in_the_steps() -> None:
    document = deepcopy(FUNCTIONS)
    document["deploymentSpec"]["executors"]["exec-claim"] = {"container": {"image": "argostub/createpvc"}}
    document["components"]["comp-claim"] = {"executorLabel": "exec-claim"}
    constants = {"pvc_name": "rows", "size": "5Gi", "storage_class_name": "fast", "access_modes": ["ReadWriteMany"]}
    inputs = {name: {"runtimeValue": {"constant": value}} for name, value in constants.items()}
    tasks = document["root"]["dag"]["tasks"]
    tasks["claim"] = {"componentRef": {"name": "comp-claim"}, "inputs": {"parameters": inputs}}
    tasks["prepare"]["dependentTasks"] = ["claim"]
    output = {"taskOutputParameter": {"producerTask": "claim", "outputParameterKey": "name"}}
    settings = {
        "exec-prepare": {"pvcMount": [{"mountPath": "/rows", "pvcNameParameter": output}]},
        "exec-train": {
            "secretAsEnv": [{"secretName": "keys", "keyToEnv": [{"secretKey": "key", "envVar": "KEY"}]}],
            "nodeSelector": {"labels": {"disk": "fast"}},
            "podMetadata": {"labels": {"a": "b"}},
        },
    }
    jobs, found = read(document, {"platforms": {"kubernetes": {"deploymentSpec": {"executors": settings}}}})
    steps = jobs[0].fields["steps"]
    assert steps["prepare"]["data"] == {"rows": "/rows", "pipeline": "/pipeline"}
    assert steps["train"]["env"] == {"KEY": {"secret": "keys", "key": "key"}}
    assert steps["train"]["placement"] == {"nodeSelector": {"disk": "fast"}}
    volume = {"size": "5Gi", "storageClass": "fast", "accessModes": ["ReadWriteMany"]}
    assert jobs[0].overlay["volumes"]["rows"] == volume
    assert steps["train"]["podLabels"] == {"a": "b"}
    assert [one.message for one in found] == [
        ARTIFACTS,
        "step `claim` creates the claim `rows` in each run, and gen never deletes data",
    ]


def test_a_claim_of_an_older_compiler_is_a_volume_of_the_overlay() -> None:
    """The task that mounts it does not name its task as one before it, and can be in front of that."""
    document = deepcopy(FUNCTIONS)
    document["deploymentSpec"]["executors"]["exec-claim"] = {"container": {"image": "argostub/createpvc"}}
    document["components"]["comp-claim"] = {"executorLabel": "exec-claim"}
    constants = {"pvc_name_suffix": "-rows", "size": "5Gi", "storage_class": "fast"}
    inputs = {name: {"runtimeValue": {"constant": value}} for name, value in constants.items()}
    document["root"]["dag"]["tasks"]["claim"] = {
        "componentRef": {"name": "comp-claim"},
        "inputs": {"parameters": inputs},
    }
    output = {"taskOutputParameter": {"producerTask": "claim", "outputParameterKey": "name"}, "mountPath": "/rows"}
    settings = {"exec-prepare": {"pvcMount": [output]}}
    jobs, found = read(document, {"platforms": {"kubernetes": {"deploymentSpec": {"executors": settings}}}})
    assert jobs[0].fields["steps"]["prepare"]["data"] == {"rows": "/rows", "pipeline": "/pipeline"}
    assert jobs[0].overlay["volumes"]["rows"] == {"size": "5Gi", "storageClass": "fast"}
    assert [one.message for one in found] == [
        ARTIFACTS,
        "step `claim` creates the claim `rows` in each run, and gen never deletes data",
    ]


def proven(**settings: Any) -> dict[str, Proof]:
    """The proofs of the steps with these settings of the training, which has the path of a run in its command."""
    platforms = {"platforms": {"kubernetes": {"deploymentSpec": {"executors": {"exec-train": settings}}}}}
    (job,), found = read(FUNCTIONS, platforms)
    assert [one.message for one in found] == [ARTIFACTS]
    text, own = overlay_text(fragment([job])), Findings()
    proofs = {one.original.step: one for one in prove(PROJECT, job, NAME, text, own)}
    assert list(own) == []
    return proofs


NEAR = {"matchExpressions": [{"key": "disk", "operator": "Exists"}], "weight": 50.0}
TERMS = {"preferredDuringSchedulingIgnoredDuringExecution": [{"preference": {}, "weight": 7.0}]}
TAINT = {"key": "a", "operator": "Exists"}
SCRATCH = {"accessModes": ["ReadWriteOnce"], "defaultStorageClass": True, "size": "5Gi", "volumeName": "scratch"}
BEFORE = {"name": "before", "image": "busybox:1", "volumeMounts": [{"volumeName": "empty", "mountPath": "/e"}]}


def test_settings_for_kubernetes_are_fields() -> None:
    fields = proven(
        emptyDirMounts=[{"volumeName": "empty", "mountPath": "/empty", "medium": "Memory", "sizeLimit": "1Gi"}],
        enabledSharedMemory={"volumeName": "shm", "size": "2Gi"},
        imagePullSecret=[{"secretNameParameter": {"runtimeValue": {"constant": "pull"}}}],
        activeDeadlineSeconds="20",
        tolerations=[{"tolerationJson": {"runtimeValue": {"constant": [TAINT]}}}],
        nodeSelector={"nodeSelectorJson": {"runtimeValue": {"constant": {"disk": "fast"}}}},
        secretAsEnv=[
            {"secretName": "keys", "optional": True, "keyToEnv": [{"secretKey": "key", "envVar": "KEY"}]},
        ],
    )["train"].job.fields
    step = fields["steps"]["train"]
    assert step["data"] == {"empty": "/empty", "pipeline": "/pipeline"}
    assert (step["sharedMemory"], step["timeout"], step["imagePullSecrets"]) == ("2Gi", "20s", ["pull"])
    assert step["placement"] == {"nodeSelector": {"disk": "fast"}, "tolerations": [TAINT]}
    assert step["env"] == {"KEY": {"secret": "keys", "key": "key", "optional": True}}


@for_each(
    ("settings", "expected"),
    [
        (
            {"nodeAffinity": [NEAR, {"nodeAffinityJson": {"runtimeValue": {"constant": TERMS}}}]},
            {
                "affinity": {
                    "nodeAffinity": {
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {"weight": 50, "preference": {"matchExpressions": NEAR["matchExpressions"]}},
                            {"weight": 7, "preference": {}},
                        ]
                    }
                }
            },
        ),
        (
            {"genericEphemeralVolume": [{**SCRATCH, "mountPath": "/scratch"}]},
            {
                "containers/0/volumeMounts/-": {"name": "scratch", "mountPath": "/scratch"},
                "volumes/-": {
                    "name": "scratch",
                    "ephemeral": {
                        "volumeClaimTemplate": {
                            "spec": {
                                "accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": "5Gi"}},
                            }
                        }
                    },
                },
            },
        ),
        (
            {"emptyDirMounts": [{"volumeName": "empty", "mountPath": "/e"}], "initContainers": [BEFORE]},
            {
                "initContainers": [
                    {"name": "before", "image": "busybox:1", "volumeMounts": [{"name": "empty", "mountPath": "/e"}]}
                ]
            },
        ),
        (
            {"securityContext": {"runAsUser": "65534", "runAsGroup": "0"}},
            {
                "containers/0/securityContext": {
                    "runAsUser": 65534,
                    "runAsGroup": 0,
                    "capabilities": {"drop": ["ALL"]},
                }
            },
        ),
    ],
    ids=["affinity", "ephemeral", "init", "security"],
)
def test_settings_without_a_field_are_patches(settings: dict[str, Any], expected: dict[str, Any]) -> None:
    proof = proven(**settings)["train"]
    assert proof.remaining == ()
    assert proof.patch is not None
    assert {one["path"].rpartition("/spec/")[2]: one["value"] for one in proof.patch["patch"]} == expected


@for_each(
    ("settings", "route"),
    [
        ({"podResourceClaims": [{"resourceClaimTemplateName": "gpus"}]}, "podResourceClaims"),
        ({"nodeAffinity": [{"nodeAffinityJson": {"componentInputParameter": "where"}}]}, "affinity"),
        ({"nodeSelector": {"nodeSelectorJson": {"componentInputParameter": "where"}}}, "nodeSelectorJson"),
        ({"tolerations": [{"tolerationJson": {"componentInputParameter": "where"}}]}, "tolerations"),
    ],
)
def test_settings_that_nothing_carries_differ(settings: dict[str, Any], route: str) -> None:
    proofs = proven(**settings)
    assert [str(one.route[-1]) for one in proofs["train"].remaining] == [route]
    assert proofs["prepare"].remaining == ()


@for_each(
    "settings",
    [
        {"volumes": [1]},
        {"initContainers": [{"volumeMounts": [{"volumeName": {}}]}], "securityContext": {"runAsUser": {}}},
        {"tolerations": [{"tolerationJson": {"runtimeValue": {"constant": [1]}}}], "nodeSelector": {"labels": 3}},
        {"nodeAffinity": [{"weight": "x", "matchExpressions": 1}, 1], "activeDeadlineSeconds": [2]},
        {"secretAsEnv": [{"keyToEnv": [1], "secretName": {}}], "emptyDirMounts": [[1]], "enabledSharedMemory": 5},
    ],
)
def test_settings_of_another_type_are_no_bug(settings: dict[str, Any]) -> None:
    platforms = {"platforms": {"kubernetes": {"deploymentSpec": {"executors": {"exec-train": settings}}}}}
    given = ImportInput(file="p.yaml", text=f"{json.dumps(FUNCTIONS)}\n---\n{json.dumps(platforms)}", otherwise="team")
    found = Findings()
    jobs = IMPORTERS["kfp"]().read(given, found)
    assert not [one for one in found if one.code == "internal-error"]
    for job in jobs:
        text, own = overlay_text(fragment([job])), Findings()
        judge(PROJECT, job, NAME, text, lacks=False, found=own)
        assert not [one for one in own if one.code == "internal-error"]


def test_memory_that_gen_refuses_is_a_patch() -> None:
    document = deepcopy(IR)
    document["deploymentSpec"]["executors"]["exec"]["container"]["resources"]["memoryLimit"] = 0.256
    document["root"]["dag"]["tasks"].pop("inner")
    (job,), found = read(document)
    assert "memory" not in job.fields
    (item,) = {one.message.partition(" of step")[0] for one in found}
    assert item == "`memory: 0.256G`"
    text, own = overlay_text(fragment([job])), Findings()
    proof = next(iter(prove(PROJECT, job, NAME, text, own)))
    assert proof.patch is not None
    (patch,) = proof.patch["patch"]
    assert (patch["path"].rpartition("/")[2], patch["value"]) == ("memory", "0.256G")


@for_each(
    ("resources", "fields", "limits"),
    [
        ({"cpuRequest": 1.0, "memoryRequest": 2.0}, {"cpu": "1", "memory": "2G"}, {}),
        ({"cpuRequest": 0.5, "cpuLimit": 2.0}, {"cpu": 0.5}, {"cpu": "2"}),
        (
            {"cpuLimit": 9.0, "resourceCpuLimit": "4", "resourceCpuRequest": "1", "resourceMemoryRequest": "2Gi"},
            {"cpu": "1", "memory": "2Gi"},
            {"cpu": "4"},
        ),
    ],
)
def test_requests_are_fields_and_other_limits_patches(
    resources: dict[str, Any], fields: dict[str, str], limits: dict[str, str]
) -> None:
    document = deepcopy(IR)
    document["deploymentSpec"]["executors"]["exec"]["container"]["resources"] = resources
    document["root"]["dag"]["tasks"].pop("inner")
    (job,), found = read(document)
    assert {name: job.fields[name] for name in ("cpu", "memory") if name in job.fields} == fields
    assert found == []
    text, own = overlay_text(fragment([job])), Findings()
    proof = next(iter(prove(PROJECT, job, NAME, text, own)))
    assert proof.remaining == ()
    patches = proof.patch["patch"] if proof.patch is not None else []
    assert {one["path"].rpartition("/limits/")[2]: one["value"] for one in patches} == limits
