"""What a job file cannot reach without a grant. Each test is named after the hole that it closes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.schemas.definitions import Definitions
from tests.support import Repository, set_fields, validated

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ntimeout: 1d\n"
MIXED = "cpu: 1\nmemory: 1Gi\ngpus: 1\nworkers: 2\nroles: {master: {gpus: 0, cpu: 1, memory: 1Gi}}\n"
OVERLAY = 'kubernetes: "1.34"\nnamespaces:\n  team: {}\n'


@pytest.fixture
def bare(repo: Repository) -> Repository:
    """A repository with an overlay that grants nothing but the namespace."""
    repo.overlay(OVERLAY)
    return repo


def granted(repo: Repository, grant: str) -> None:
    repo.overlay(OVERLAY.replace("{}", grant))


def codes(repo: Repository, text: str) -> list[str]:
    repo.job(HEAD + text)
    return repo.codes()


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
        "gpus: 1\nplacement: {gpuModel: A10}\n",
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
    assert codes(bare, selector("pool") + "roles: {master: {" + tolerating(taint).strip() + "}}\n") == ["not-granted"]
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
    assert codes(bare, f"{field}: {{{label}: x}}\n") == ["reserved-metadata"]
    assert codes(bare, f"{field}: {{team: x}}\n") == []


@pytest.mark.parametrize("vendor", ["AMD", "ASCEND", "CAMBRICON", "HABANA", "MTHREADS", "NVIDIA"])
def test_visible_devices_of_every_vendor_are_reserved(bare: Repository, vendor: str) -> None:
    assert codes(bare, f"env: {{{vendor}_VISIBLE_DEVICES: all}}\n") == ["reserved-env"]
    assert codes(bare, f"env: {{{vendor}_VISIBLE_DEVICES: void}}\n") == []


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("placement: {gpuModel: A10}\n", True),
        ("gpus: 1\nplacement: {gpuModel: A10}\n", False),
        (MIXED + "placement: {gpuModel: A10}\n", False),
        ("gpus: 1\nworkers: 2\nroles: {master: {gpus: 0, placement: {gpuModel: A10}}}\n", True),
        ("gpus: many\nplacement: {gpuModel: A10}\n", None),
    ],
)
def test_a_gpu_model_without_gpus_is_refused(bare: Repository, text: str, refused: bool | None) -> None:
    assert codes(bare, text) == (["invalid-value"] if refused is not False else [])
    bare.overlay(OVERLAY + "defaults: {placement: {gpuModel: A10}}\n")
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
    assert devices(bare) == {"Deployment": ["void"], "Master": ["void"], "Worker": []}


@pytest.mark.parametrize("namespace", ["kube-system", "kube-public", "flux-system", "argocd", "cd"])
def test_a_star_in_namespaces_never_includes_those_of_the_cluster(repo: Repository, namespace: str) -> None:
    engine = "gitops: {argocd: {repoURL: 'https://git.example.com/a.git', namespace: cd}}\n"
    repo.job(HEAD, namespace=namespace)
    for namespaces in ('namespaces: {"*": {}}\n', ""):
        repo.overlay(f'kubernetes: "1.34"\n{namespaces}{engine}')
        (finding,) = repo.render()[0].findings
        assert finding.code == "unknown-namespace"
        assert "`*` does not include" in finding.hint
    repo.overlay(f'kubernetes: "1.34"\nnamespaces: {{"*": {{}}, {namespace}: {{}}}}\n{engine}')
    assert repo.codes() == []


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("roles: {ps: {replicas: 2000000000}}\n", True),
        ("roles: {ps: {replicas: 100001}}\n", True),
        ("workers: 60000\nroles: {ps: {replicas: 60000}}\n", True),
        ("workers: 60000\nroles: {ps: {replicas: 30000}}\n", False),
    ],
)
def test_replicas_of_roles_and_pods_of_a_job_are_bounded(bare: Repository, text: str, refused: bool) -> None:
    bare.job(HEAD.replace("pytorch", "tensorflow") + text)
    assert bare.codes() == (["invalid-value"] if refused else [])


def test_pods_of_a_namespace_are_bounded_by_a_grant(bare: Repository) -> None:
    granted(bare, "{pods: 5}")
    bare.job(HEAD + "workers: 3\n", name="a")
    bare.job(HEAD + "workers: 2\n", name="b")
    assert bare.codes() == []
    bare.job(HEAD + "workers: 3\n", name="b")
    (finding,) = bare.render()[0].findings
    assert (finding.code, str(finding.place)) == ("over-quota", "overlays/dev/overlay.yaml:3:16")
    assert "requests 6 pods in overlay `dev`; its quota is 5" in finding.message
    bare.job(HEAD + "workers: 3\nstate: finished\n", name="b")
    assert bare.codes() == []
    bare.overlay(OVERLAY.replace("{}", "{pods: 3}") + "volumes: {data: {claim: data}}\n")
    bare.job(HEAD + "workers: 3\nstate: finished\ndata: {data: /data}\ntensorboard: true\n", name="b")
    assert bare.codes() == ["over-quota"], "a TensorBoard is a pod, also of a finished job"


def test_gen_set_keeps_the_quota_of_pods(bare: Repository) -> None:
    granted(bare, "{pods: 5}")
    bare.job(HEAD + "workers: 3\n")
    report, code = set_fields(bare.root, "team/demo", ("workers=6",))
    assert (code, [finding.code for finding in report.findings]) == (1, ["over-quota"])


@pytest.mark.parametrize("image", ["TEAM/x:2", "Team/x:1", "TEAM/a/b@sha256:" + "0" * 64])
def test_an_image_with_an_upper_case_first_part_is_refused(bare: Repository, image: str) -> None:
    granted(bare, "{registries: [docker.io]}")
    text = HEAD.replace("registry.example.com/train:1", image)
    bare.job(text)
    assert bare.codes() == ["invalid-value"]
    bare.job(text.replace(image, image.lower()))
    assert bare.codes() == []
    bare.job(HEAD)
    bare.overlay(OVERLAY + "images: [{from: registry.example.com/, to: TEAM/}]\n")
    assert bare.codes() == ["invalid-image"]


@pytest.mark.parametrize(
    "url",
    [
        "ssh://-oProxyCommand=id/x",
        "ssh://git@-oProxyCommand=id/x",
        "ssh://-oProxyCommand=id@example.com/x",
        "ssh://%2doProxyCommand=id/x",
        "https://-x/y",
        "git@example.com:-x",
        "ssh:///x",
    ],
)
def test_a_url_of_code_cannot_be_an_option(bare: Repository, url: str) -> None:
    assert codes(bare, f"code: {{git: '{url}', name: a}}\n") == ["invalid-value"]
    source = f"rsync://{url.partition('://')[2]}"
    assert codes(bare, f"code: {{rsync: '{source}', name: a}}\n") == ["invalid-value"]


@pytest.mark.parametrize(
    "url",
    [
        "ssh://git@example.com:22/a-b.git",
        "https://example.com/-/a.git",
        "https://[::1]:80/a@b.git",
        "ssh://a%40b@example.com/x",
        "git@example.com:a.git",
    ],
)
def test_ordinary_urls_of_code_are_accepted(bare: Repository, url: str) -> None:
    assert codes(bare, f"code: {{git: '{url}', name: a}}\n") == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [("pytorch", "a-master-0"), ("pytorch", "a-worker-12"), ("tensorflow", "a-ps-0"), ("mpi", "a-launcher")],
)
def test_a_job_named_like_a_service_of_another_operator_is_refused_under_stable_names(
    bare: Repository, kind: str, name: str
) -> None:
    bare.job(HEAD.replace("pytorch", kind), name="a")
    bare.job(HEAD.replace("pytorch", "batch"), name=name)
    bare.job(HEAD, name="a-master-x")
    assert bare.codes() == [], "hashes keep the names apart"
    bare.overlay(OVERLAY + "runs: {naming: stable}\n")
    (finding,) = bare.render()[0].findings
    assert (finding.code, finding.place.file) == ("duplicate-job", f"jobs/team/{name}.yaml")
    bare.job(HEAD.replace("pytorch", kind) + "name: b\n", name="a")
    assert bare.codes() == []


DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pytorchjobs.kubeflow.org}
spec:
  group: kubeflow.org
  scope: Namespaced
  names: {kind: PyTorchJob, plural: pytorchjobs}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"""


@pytest.mark.parametrize("link", ["crds", "crds/a.yaml", "crds/inner"])
def test_definitions_cannot_be_links(bare: Repository, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.yaml").write_text(DEFINITION)
    bare.job(HEAD)
    at = bare.root / "overlays/dev" / link
    at.parent.mkdir(exist_ok=True)
    at.symlink_to(outside / "a.yaml" if link.endswith(".yaml") else outside)
    (finding,) = bare.render()[0].findings
    assert (finding.code, finding.place.file) == ("not-a-file", f"overlays/dev/{link}")
    assert Definitions((bare.root / "overlays/dev/crds",)).kinds() == (
        [] if link != "crds" else [("kubeflow.org/v1", "PyTorchJob")]
    )


@pytest.mark.parametrize(
    "fault",
    [
        ("kind: PyTorchJob", "kind: true # kind: PyTorchJob"),
        ("group: kubeflow.org", "group: 3"),
        ("name: v1,", "name: 1,"),
        ("name: v1,", "name: v1, deprecated: true, deprecationWarning: 3,"),
        ("spec:", "spec: ["),
    ],
)
def test_a_definition_with_a_wrong_type_is_a_finding(
    bare: Repository, monkeypatch: pytest.MonkeyPatch, fault: tuple[str, str]
) -> None:
    bare.job(HEAD)
    bare.job(HEAD, name="other")
    assert bare.render()[1] == 0
    bare.write("overlays/dev/crds/a.yaml", DEFINITION.replace(*fault))
    (finding,) = bare.render()[0].findings
    assert (finding.code, finding.place.file) == ("invalid-definition", "overlays/dev/crds/a.yaml")
    monkeypatch.chdir(bare.root)
    text = "apiVersion: kubeflow.org/v1\nkind: PyTorchJobb\nmetadata: {name: a}\n"
    bare.write("rendered/dev/jobs/team/other/a.yaml", text)
    report, code = validated("rendered")
    assert (code, [finding.code for finding in report.findings]) == (1, ["invalid-definition"])
