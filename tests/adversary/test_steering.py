"""Jobs cannot choose nodes, and devices of nodes, without a grant."""

from __future__ import annotations

import shutil

import pytest

from tests.adversary.bare import HEAD, MIXED, OVERLAY, codes, granted
from tests.support import Repository


def selector(key: str, value: str = "x") -> str:
    return f"placement: {{nodeSelector: {{{key}: '{value}'}}}}\n"


def tolerating(toleration: str) -> str:
    return f"placement: {{tolerations: [{toleration}]}}\n"


@pytest.mark.parametrize("key", ["pool", "node-role.kubernetes.io/control-plane", "kubernetes.io/hostname"])
def test_steering_by_node_labels_needs_a_grant(bare: Repository, key: str) -> None:
    assert codes(bare, selector(key)) == ["not-granted"]
    granted(bare, f"{{nodeLabels: ['{key}']}}")
    assert codes(bare, selector(key)) == []
    granted(bare, f"{{nodeLabels: ['{key}=y']}}")
    assert codes(bare, selector(key)) == ["not-granted"]
    granted(bare, f"{{nodeLabels: ['{key}=x']}}")
    assert codes(bare, selector(key)) == []


@pytest.mark.parametrize(
    "text",
    [
        "placement: {instanceType: a, zone: [b, c]}\n",
        "gpus: 1\nplacement: {gpuModel: NVIDIA-A10}\n",
        selector("topology.kubernetes.io/zone"),
        selector("kubernetes.io/arch"),
        selector("nvidia.com/gpu.product"),
    ],
)
def test_the_kind_of_machine_needs_no_grant(bare: Repository, text: str) -> None:
    assert codes(bare, text) == []


def test_steering_to_control_planes_needs_a_grant_by_name(bare: Repository) -> None:
    granted(bare, '{nodeLabels: ["*"], taints: ["*"]}')
    assert codes(bare, selector("node-role.kubernetes.io/control-plane", "")) == ["not-granted"]
    taint = "{key: node-role.kubernetes.io/control-plane, operator: Exists}"
    assert codes(bare, tolerating(taint)) == ["not-granted"]
    assert codes(bare, selector("pool") + "workers: 2\nroles: {master: {" + tolerating(taint).strip() + "}}\n") == [
        "not-granted"
    ]
    granted(bare, '{taints: ["node-role.kubernetes.io/*"]}')
    assert codes(bare, tolerating(taint)) == []


def test_steering_by_tolerating_everything_is_refused(bare: Repository) -> None:
    granted(bare, '{taints: ["*", "node-role.kubernetes.io/*"]}')
    assert codes(bare, tolerating("{operator: Exists}")) == ["not-granted"]
    assert codes(bare, tolerating("{operator: Exists, effect: NoExecute}")) == ["not-granted"]


def test_steering_by_taints_needs_a_grant(bare: Repository) -> None:
    one, every = "{key: dedicated, value: a}", "{key: dedicated, operator: Exists}"
    assert codes(bare, tolerating(one)) == ["not-granted"]
    granted(bare, "{taints: [dedicated=a]}")
    assert codes(bare, tolerating(one)) == []
    assert codes(bare, tolerating("{key: dedicated, value: b}")) == ["not-granted"]
    assert codes(bare, tolerating(every)) == ["not-granted"], "it also tolerates `dedicated=b`"
    granted(bare, "{taints: [dedicated]}")
    assert codes(bare, tolerating(every)) == []
    assert codes(bare, tolerating("{key: nvidia.com/gpu, operator: Exists}")) == []


def test_steering_by_the_overlay_needs_no_grant(bare: Repository) -> None:
    placement = "{nodeSelector: {pool: a}, tolerations: [{operator: Exists}]}"
    bare.overlay(OVERLAY + f"defaults: {{placement: {placement}, podLabels: {{queue: root}}}}\n")
    assert codes(bare, "") == []
    assert bare.one("PyTorchJob")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["tolerations"]
    assert codes(bare, selector("pool", "b")) == ["not-granted"], "the job overrides the value"


@pytest.mark.parametrize("label", ["aadpodidbinding", "applicationId", "pod-template-hash", "queue"])
@pytest.mark.parametrize("field", ["labels", "podLabels"])
def test_labels_without_a_prefix_that_controllers_act_on_are_reserved(bare: Repository, field: str, label: str) -> None:
    granted(bare, f"{{metadata: [team, {label}]}}")
    assert codes(bare, f"{field}: {{{label}: x}}\n") == ["reserved-metadata"]
    assert codes(bare, f"{field}: {{team: x}}\n") == []


@pytest.mark.parametrize("vendor", ["AMD", "ASCEND", "CAMBRICON", "HABANA", "MTHREADS", "NVIDIA"])
def test_visible_devices_of_every_vendor_are_reserved(bare: Repository, vendor: str) -> None:
    assert codes(bare, f"env: {{{vendor}_VISIBLE_DEVICES: all}}\n") == ["reserved-env"]
    assert codes(bare, f"env: {{{vendor}_VISIBLE_DEVICES: void}}\n") == []


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("placement: {gpuModel: NVIDIA-A10}\n", True),
        ("gpus: 1\nplacement: {gpuModel: NVIDIA-A10}\n", False),
        (MIXED + "placement: {gpuModel: NVIDIA-A10}\n", False),
        ("gpus: 1\nworkers: 2\nroles: {master: {gpus: 0, placement: {gpuModel: NVIDIA-A10}}}\n", True),
        ("gpus: many\nplacement: {gpuModel: NVIDIA-A10}\n", None),
    ],
)
def test_a_gpu_model_without_gpus_is_refused(bare: Repository, text: str, refused: bool | None) -> None:
    expected = [] if refused is False else ["no-effect"] if refused else ["invalid-value"]
    assert codes(bare, text) == expected
    bare.overlay(OVERLAY + "defaults: {placement: {gpuModel: NVIDIA-A10}}\n")
    assert codes(bare, "") == [], "a default of the overlay is for jobs with GPUs"


def devices(repo: Repository) -> dict[str, list[str]]:
    """Values of `NVIDIA_VISIBLE_DEVICES` by component."""
    values: dict[str, list[str]] = {}
    for body in repo.objects():
        specs = body["spec"].get("pytorchReplicaSpecs", {body["kind"]: body["spec"]})
        for role, spec in specs.items():
            for container in spec.get("template", {}).get("spec", {}).get("containers", ()):
                found = [
                    entry["value"] for entry in container.get("env", ()) if entry["name"] == "NVIDIA_VISIBLE_DEVICES"
                ]
                values[role] = found
    return values


def test_pods_without_gpus_see_none_if_the_overlay_hides_them(bare: Repository) -> None:
    volumes = "volumes: {data: {claim: data}}\n"
    bare.overlay(OVERLAY + volumes)
    bare.job(HEAD + "gpus: 1\nworkers: 2\nroles: {master: {gpus: 0}}\ndata: {data: /data}\ntensorboard: true\n")
    assert devices(bare) == {"Deployment": [], "Master": [], "Worker": []}
    bare.overlay(OVERLAY + volumes + "gpu: {hideFromOthers: true}\n")
    shutil.rmtree(bare.root / "rendered")  # its run would be kept
    assert devices(bare) == {"Deployment": ["void"], "Master": ["void"], "Worker": []}
