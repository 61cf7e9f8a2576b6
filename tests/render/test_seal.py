"""Changes that make a new run, and changes that do not."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.cases import for_each
from tests.support import OVERLAY, Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\nfiles: {/etc/a: b}\n"


def run_name(repo: Repository, text: str, kind: str = "PyTorchJob") -> str:
    repo.job(text)
    name: str = repo.one(kind)["metadata"]["name"]
    assert re.fullmatch(r"demo-[0-9a-f]{8}", name)
    return name


@for_each(
    "change",
    [
        "workers: 2\n",
        "gpus: 1\n",
        "cpu: 4\n",
        "env: {LR: 1e-3}\n",
        "env: {TOKEN: {secret: wandb, key: token}}\n",
        "sharedMemory: 8Gi\n",
        "data: {data: /data}\n",
        "code: {git: 'https://example.com/a.git', ref: main}\n",
        "network: host\n",
        "queue: research\n",
        "priority: high\n",
        "serviceAccount: trainer\n",
        "timeout: 1h\n",
        "retries: 1\n",
        "restart: Never\n",
        "attempt: 2\n",
        "podLabels: {app: demo}\n",
        "placement: {zone: a}\n",
        "workingDir: /x\n",
    ],
)
def test_what_changes_the_computation_is_a_new_run(repo: Repository, change: str) -> None:
    assert run_name(repo, JOB) != run_name(repo, JOB + change)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("train.py", "train.py --epochs 2"),
        ("train:1", "train:2"),
        ("/etc/a: b", "/etc/a: c"),
        ("/etc/a: b", "/etc/b: b"),
    ],
)
def test_command_image_and_files_are_part_of_the_run(repo: Repository, old: str, new: str) -> None:
    assert run_name(repo, JOB) != run_name(repo, JOB.replace(old, new))


@for_each(
    "change",
    [
        "labels: {cost-center: '42'}\n",
        "annotations: {example.com/owner: me}\n",
        "state: suspended\n",
        "state: finished\n",
        "metrics: [{name: accuracy}]\n",
        "params: {unused: 1}\n",
        "attempt: 1\n",
        "# a comment\n",
        "name: demo\n",
    ],
)
def test_what_changes_nothing_that_is_computed_is_the_same_run(repo: Repository, change: str) -> None:
    assert run_name(repo, JOB) == run_name(repo, JOB + change)


def test_a_tensorboard_is_not_part_of_the_run(repo: Repository) -> None:
    text = JOB + "data: {data: /data}\n"
    assert run_name(repo, text) == run_name(repo, text + "tensorboard: true\n")


def test_the_order_of_fields_does_not_matter(repo: Repository) -> None:
    lines = JOB.splitlines(keepends=True)
    assert run_name(repo, JOB) == run_name(repo, "".join(reversed(lines)))


def test_an_overlays_patch_is_part_of_the_run_when_it_changes_the_content(repo: Repository) -> None:
    plain = run_name(repo, JOB)
    target = "patches:\n  - target: {kind: PyTorchJob}\n    patch: "
    repo.overlay(OVERLAY + target + "{metadata: {annotations: {a: b}}}\n")
    assert run_name(repo, JOB) == plain
    repo.overlay(OVERLAY + target + "{spec: {nprocPerNode: auto}}\n")
    shutil.rmtree(repo.root / "rendered")  # the run would be kept
    assert run_name(repo, JOB) != plain


def test_every_object_of_a_run_carries_its_name_and_hash(repo: Repository) -> None:
    repo.job(JOB.replace("pytorch", "batch") + "env: {OUT: '/out/{{ run.id }}/{{ run.hash }}'}\n")
    objects = {body["kind"]: body for body in repo.objects()}
    name = objects["Job"]["metadata"]["name"]
    digest = name.removeprefix("demo-")
    assert objects["Service"]["metadata"]["name"] == name
    assert objects["ConfigMap"]["metadata"]["name"] == f"{name}-files"
    assert objects["Service"]["spec"]["selector"] == {"gen/job": "demo", "gen/run": digest}
    pod = objects["Job"]["spec"]["template"]
    assert pod["spec"]["subdomain"] == name
    assert pod["metadata"]["labels"]["gen/run"] == digest
    env = {entry["name"]: entry.get("value") for entry in pod["spec"]["containers"][0]["env"]}
    assert env["MASTER_ADDR"] == f"{name}-0.{name}"
    assert env["OUT"] == f"/out/{name}/{digest}"
    assert {body["metadata"]["labels"]["gen/run"] for body in objects.values()} == {digest}


def test_stable_names_have_no_hash(repo: Repository) -> None:
    repo.overlay(OVERLAY + "runs: {naming: stable}\n")
    repo.job(JOB + "env: {OUT: '{{ run.id }}'}\n")
    body = repo.one("PyTorchJob")
    assert body["metadata"]["name"] == "demo"
    container = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    assert container["env"] == [{"name": "OUT", "value": f"demo-{body['metadata']['labels']['gen/run']}"}]
    assert "kustomize.toolkit.fluxcd.io/ssa" not in body["metadata"].get("annotations", {})


def test_objects_that_outlive_the_run_have_the_hash_too(repo: Repository) -> None:
    """Only if set in the job; their names and the input of the hash stay."""
    text = JOB + "data: {data: /data}\ntensorboard: true\n"
    plain = run_name(repo, text)
    repo.job(text + "labels: {run: '{{ run.hash }}'}\n")
    objects = {body["kind"]: body for body in repo.objects()}
    assert objects["PyTorchJob"]["metadata"]["name"] == plain
    for kind in ("Deployment", "Service"):
        metadata = objects[kind]["metadata"]
        assert (metadata["name"], metadata["labels"]["run"]) == ("demo-tensorboard", plain.removeprefix("demo-"))


def test_what_is_judged_has_a_hash_where_one_will_stand(repo: Repository) -> None:
    """Rules look at patched objects only; the placeholder could be no part of a label, and is shorter than a hash."""
    repo.overlay(OVERLAY + "patches:\n  - target: {kind: PyTorchJob}\n    patch: {spec: {nprocPerNode: auto}}\n")
    repo.job(JOB + f"labels: {{run: '{'a' * 55}{{{{ run.hash }}}}'}}\n")
    assert repo.codes() == []
