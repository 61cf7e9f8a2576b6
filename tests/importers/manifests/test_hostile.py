"""Files that are made to harm."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gen.base.findings import Findings
from gen.importers import IMPORTERS, ImportInput
from gen.importers.draft import check_text, text_of
from gen.importers.overlay_needs import fragment
from gen.importers.proof import NAME, overlay_text, prove
from tests.cases import for_each
from tests.importers.manifests.changes import PYTORCH, of_container
from tests.importers.manifests.proofs import proof_of, read
from tests.importers.support import run_import
from tests.support import PROJECT, Repository


@pytest.mark.parametrize("depth", [9, 60])
def test_lists_in_lists_end(depth: int) -> None:
    body: dict[str, Any] = PYTORCH
    for _ in range(depth):
        body = {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": [body]}
    assert read(body)[0] == []


@for_each("text", ["{{ 7 * 7 }}", "${{ x }}", "$${{ x }}", "{% if %}", "a {# b #}", "{{ '{{' }}", "${# a #}"])
def test_expressions_stay_texts(text: str) -> None:
    proof = proof_of(of_container(env=[{"name": "TEXT", "value": text}], args=[text]))
    assert proof.patch is None, proof.patch
    assert proof.remaining == ()


@for_each("text", ["A=(x y)\necho ${#A[@]}\n", "echo ${#A} {#", "awk '{#x'"])
def test_shell_syntax_is_not_quoted(text: str) -> None:
    proof = proof_of(of_container(command=["bash", "-c", text]))
    assert (proof.job.fields["command"][-1], proof.patch, proof.remaining) == (text, None, ())


HOSTILE = {
    "bomb": b"a: &a [x, x, x, x]\n"
    + b"".join(b"%c: &%c [*%c, *%c, *%c, *%c]\n" % (n, n, n - 1, n - 1, n - 1, n - 1) for n in range(98, 117)),
    "deep": b"[" * 100_000,
    "binary": bytes(range(256)),
    "control": b"apiVersion: v1\nkind: \x07\n",
    "merge": b"a: &a {<<: *a}\n",
    "nothing": b"",
    "scalars": b"---\n1\n---\ntext\n---\n- 1\n",
    "wrong types": b"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n"
    b"spec: {template: {spec: {containers: [1, {}]}}}\n",
    "more wrong types": b"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: a, labels: [1]}\n"
    b"spec: {pytorchReplicaSpecs: {Master: {replicas: -3, template: {metadata: 3, spec: {volumes: 5, containers: "
    b"[{env: {a: 1}, volumeMounts: [3], resources: 7, command: 3, image: 4}]}}}}}\n",
    "roles of wrong types": b"apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\n"
    b"spec: {tasks: [1, {name: 3, template: {spec: {containers: []}}}], plugins: 3, policies: {a: 1}}\n",
    "numbers": b"apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: a}\n"
    b"spec: {slotsPerWorker: 1e999, mpiReplicaSpecs: {Worker: {replicas: 99999999999999999999, template: {}}}}\n",
    "old": b"apiVersion: kubeflow.org/v1alpha1\nkind: MPIJob\nmetadata: {name: a}\n"
    b"spec: {gpus: x, gpusPerNode: [1], template: {spec: {containers: [1]}}}\n",
    "older": b"apiVersion: kubeflow.org/v1alpha1\nkind: TFJob\nmetadata: {name: a}\n"
    b"spec: {replicaSpecs: [{tfReplicaType: [1], replicas: {a: 1}}, {tfReplicaType: PS, template: {spec: 3}}]}\n",
    "a schedule": b"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a, labels: {a: [1]}, annotations: 3}\n"
    b"spec: {schedule: [1], jobTemplate: {spec: {template: {spec: {volumes: [{name: 3}], containers: [{}]}}}}}\n",
}


@for_each("name", HOSTILE)
def test_any_file_gives_findings_or_jobs(name: str) -> None:
    found = Findings()
    given = ImportInput(file="a.yaml", files=(("a.yaml", HOSTILE[name]),), otherwise="team")
    for job in IMPORTERS["manifests"]().read(given, found):
        check_text(job, text_of(job, ""), found)
        if not found.failed():
            list(prove(PROJECT, job, NAME, overlay_text(fragment([job])), found))
    assert found.failed()


@for_each("name", ["../../etc/passwd", "a/b", "x" * 300, "A", ".."])
def test_names_cannot_leave_the_folder(repo: Repository, name: str) -> None:
    file = repo.root.parent / "in.yaml"
    file.write_text(json.dumps({**PYTORCH, "metadata": {"name": name, "namespace": "team"}}))
    before = sorted(repo.root.rglob("*"))
    report, code = run_import(repo.root, str(file), importer="manifests")
    assert code == 1
    assert {item.code for item in report.findings} <= {"invalid-name", "name-too-long"}
    assert sorted(repo.root.rglob("*")) == before
