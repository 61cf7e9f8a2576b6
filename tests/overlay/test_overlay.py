"""Overlays: inheritance, selection, grants and changes."""

from __future__ import annotations

from typing import Any

from tests.cases import for_each
from tests.support import OVERLAY, Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
VERSION = 'kubernetes: "1.34"\n'


def master(repo: Repository, overlay: str = "dev") -> dict[str, Any]:
    body = repo.one("PyTorchJob", overlay)
    template: dict[str, Any] = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    return template


def container(repo: Repository, overlay: str = "dev") -> dict[str, Any]:
    found: dict[str, Any] = master(repo, overlay)["spec"]["containers"][0]
    return found


def test_an_abstract_overlay_is_only_extended(repo: Repository) -> None:
    repo.job(JOB)
    repo.overlay("abstract: true\ndefaults: {cpu: 2}\n", name="base")
    repo.overlay(VERSION + "extends: base\n")
    assert container(repo)["resources"]["limits"] == {"cpu": "2"}
    assert {path.split("/")[0] for path in repo.rendered()} == {"dev"}


def test_overlays_extend_each_other_over_several_steps(repo: Repository) -> None:
    repo.job(JOB)
    repo.overlay("abstract: true\ndefaults: {cpu: 1, memory: 1Gi, sharedMemory: 8Mi}\n", name="a")
    repo.overlay("abstract: true\nextends: a\ndefaults: {cpu: 2, memory: 2Gi}\n", name="b")
    repo.overlay(VERSION + "extends: b\ndefaults: {cpu: 3}\n")
    assert container(repo)["resources"]["limits"] == {"cpu": "3", "memory": "2Gi"}


def test_a_job_wins_over_the_defaults_and_a_kinds_defaults_over_the_common_ones(repo: Repository) -> None:
    repo.overlay(VERSION + "defaults: {cpu: 1, memory: 1Gi, kinds: {pytorch: {memory: 2Gi}, mpi: {memory: 9Gi}}}\n")
    repo.job(JOB + "cpu: 8\n")
    assert container(repo)["resources"]["limits"] == {"cpu": "8", "memory": "2Gi"}


def test_an_overlays_parameters_win_over_the_jobs(repo: Repository) -> None:
    repo.overlay(VERSION + "params: {lr: 2}\n")
    repo.overlay(VERSION, name="prod")
    repo.job(JOB.replace("train.py", "train.py {{ params.lr }}") + "params: {lr: 1}\n")
    assert container(repo)["command"][2] == "python train.py 2"
    assert container(repo, "prod")["command"][2] == "python train.py 1"


def test_select_takes_patterns_over_namespace_and_file(repo: Repository) -> None:
    repo.overlay(OVERLAY + "select: {include: ['team-a/**', team-b/x], exclude: ['*/old-*']}\n")
    for namespace, name in (("team-a", "one"), ("team-a", "old-two"), ("team-b", "x"), ("team-b", "y")):
        repo.job(JOB, name=name, namespace=namespace)
    report, code = repo.render()
    assert code == 0
    assert {path.split("/")[2] + "/" + path.split("/")[3] for path in repo.rendered()} == {"team-a/one", "team-b/x"}
    assert [(f.code, f.place.file) for f in report.findings] == [
        ("not-selected", "jobs/team-a/old-two.yaml"),
        ("not-selected", "jobs/team-b/y.yaml"),
    ]


def test_a_job_that_no_overlay_selects_is_checked_all_the_same(repo: Repository) -> None:
    repo.overlay(OVERLAY + "select: {include: [other/*]}\n")
    repo.job(JOB + "wrokers: 2\nenv: {A: '{{ params.from_an_overlay }}'}\n")
    assert set(repo.codes()) == {"unknown-field", "not-selected", "selects-nothing"}


def test_grants_of_a_namespace_and_of_all_others(repo: Repository) -> None:
    grants = "namespaces:\n  team: {queues: [a]}\n  '*': {queues: [b]}\n"
    repo.overlay(VERSION + grants)
    repo.job(JOB + "queue: a\n")
    repo.job(JOB + "queue: b\n", namespace="other")
    assert repo.codes() == []
    repo.job(JOB + "queue: b\n")
    assert repo.codes() == ["unknown-queue"]


@for_each(
    "field", ["queue: research", "priority: high", "serviceAccount: trainer", "data: {node: /x}", "network: host"]
)
def test_nothing_is_granted_by_an_overlay_that_grants_nothing(repo: Repository, field: str) -> None:
    repo.overlay(VERSION + "volumes: {node: {hostPath: /x}}\nnetworks: {host: {hostNetwork: true}}\n")
    repo.job(JOB + f"{field}\n")
    assert len(repo.codes()) == 1


def test_finished_and_suspended_jobs_hold_no_gpus(repo: Repository) -> None:
    repo.overlay(VERSION + "namespaces: {team: {gpus: 8}}\n")
    job = JOB.replace("python", "torchrun --nproc-per-node 8")
    repo.job(job + "gpus: 8\ntimeout: 1d\n")
    repo.job(job + "gpus: 8\nstate: finished\n", name="old")
    assert repo.codes() == []
    repo.job(job + "gpus: 8\ntimeout: 1d\n", name="new")
    assert repo.codes() == ["over-quota"]


@for_each(
    ("version", "annotations"),
    [
        ("1.0.10", {"k8s.aliyun.com/eni": "true"}),
        ("v1.0.9", {"k8s.aliyun.com/eni": "true"}),
        ("1.1", {"k8s.aliyun.com/ENI": "true"}),
        ("1.10.3", {"k8s.aliyun.com/ENI": "true"}),
        ("1.11", None),
    ],
)
def test_eni_is_asked_for_as_the_version_of_terway_wants_it(
    repo: Repository, version: str, annotations: dict[str, str] | None
) -> None:
    repo.overlay(VERSION + f"networks: {{eni: {{terway: {{version: {version}}}}}}}\n")
    repo.job(JOB + "network: eni\n")
    assert master(repo)["metadata"].get("annotations") == annotations
    exclusive = {"k8s.aliyun.com/exclusive-mode-eni-type": "eniOnly"} if annotations is None else None
    assert master(repo)["spec"].get("nodeSelector") == exclusive


@for_each(
    ("image", "expected"),
    [
        ("python:3", "mirror.example.com/library/python:3"),
        ("uber/horovod:1", "mirror.example.com/hub/uber/horovod:1"),
        ("docker.io/uber/horovod:1", "mirror.example.com/hub/uber/horovod:1"),
        ("localhost/x:1", "localhost/x:1"),
        ("quay.io/a/b", "quay.io/a/b"),
    ],
)
def test_images_come_from_the_mirror_with_the_longest_match(repo: Repository, image: str, expected: str) -> None:
    rules = "images:\n  - {from: docker.io/, to: mirror.example.com/hub/}\n"
    repo.overlay(VERSION + rules + "  - {from: docker.io/library/, to: mirror.example.com/library/}\n")
    repo.job(JOB.replace("registry.example.com/train:1", image))
    assert container(repo)["image"] == expected


def test_an_inherited_patch_has_to_match_in_one_of_its_overlays(repo: Repository) -> None:
    patch = "patches:\n  - target: {kind: PyTorchJob}\n    patch: {spec: {nprocPerNode: auto}}\n"
    repo.overlay("abstract: true\n" + patch, name="base")
    repo.overlay(VERSION + "extends: base\n")
    repo.overlay(VERSION + "extends: base\nselect: {exclude: ['*']}\n", name="empty")
    repo.job(JOB)
    assert repo.codes() == []
    repo.job(JOB.replace("pytorch", "tensorflow"))
    assert repo.codes() == ["unmatched-patch"]


def test_a_patch_may_change_storage_and_tensorboard(repo: Repository) -> None:
    repo.overlay(
        OVERLAY + "patches:\n"
        "  - target: {kind: PersistentVolumeClaim, name: nas}\n"
        "    patch: {metadata: {labels: {tier: gold}}}\n"
        "  - target: {kind: Deployment, name: '*-tensorboard'}\n"
        "    patch: {spec: {replicas: 0}}\n"
    )
    repo.job(JOB + "data: {nas: /data}\ntensorboard: true\n")
    assert repo.one("PersistentVolumeClaim")["metadata"]["labels"]["tier"] == "gold"
    assert repo.one("Deployment")["spec"]["replicas"] == 0


def test_a_patched_sidecar_does_not_take_the_first_place_of_the_training_container(repo: Repository) -> None:
    side = "{name: side, image: 'side:1'}"
    spec = "spec: {mpiReplicaSpecs: {Worker: {template: {spec: {containers: [" + side + "]}}}}}"
    repo.overlay(VERSION + "patches:\n  - target: {kind: MPIJob}\n    patch: {" + spec + "}\n")
    repo.job(JOB.replace("pytorch", "mpi"))
    containers = repo.one("MPIJob")["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"]
    assert [entry["name"] for entry in containers] == ["mpi", "side"]


@for_each(
    ("field", "code"),
    [
        ("defaults: {kinds: {pytorch: 8}}", "invalid-value"),
        ("defaults: {kinds: {pytorch: [gpus]}}", "invalid-value"),
        ("defaults: {kinds: {ptorch: {}}}", "unknown-kind"),
        ("namespaces: {team: {allow: [hostPth]}}", "unknown-permission"),
        ("namespaces: {Team: {}, team: {}}", "invalid-value"),
        ("namespaces: {team.a: {}, team: {}}", "invalid-value"),
        ("volumes: {nas: {size: 10, nas: a.example.com}}", "invalid-value"),
        ("volumes: {nas: {size: 0, storageClass: fast}}", "invalid-value"),
        ("volumes: {nas: {size: 1023Ki, storageClass: fast}}", "invalid-value"),
        ("volumes: {node: {hostPath: /a/../b}}", "invalid-value"),
        ("volumes: {nas: {size: 1Gi, cpfs: {server: a.example.com, path: /share/..}}}", "invalid-value"),
        ("defaults: {env: {..a: b}}", "invalid-value"),
        ("defaults: {tensorboard: {logdir: /data/..}}", "invalid-value"),
    ],
)
def test_what_an_overlay_cannot_mean_is_found(repo: Repository, field: str, code: str) -> None:
    repo.job(JOB)
    repo.overlay(VERSION + field + "\n")
    assert code in repo.codes()


def test_dots_that_lead_nowhere_else_are_part_of_a_name(repo: Repository) -> None:
    repo.overlay(VERSION + "volumes: {node: {hostPath: /a/..b/c../...}}\nnamespaces: {'*': {allow: [hostPath]}}\n")
    repo.job(JOB + "data: {node: /x/..y}\nworkingDir: /a/..b\nenv: {.a: b, a..b: c}\n")
    assert repo.codes() == []
