"""What manifests have and a job has not: patches, findings, and files that are made to harm."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from gen.diagnostics import Findings, Severity
from gen.edit.imported import check_text, text_of
from gen.edit.needs import fragment
from gen.edit.proof import NAME, overlay_text, prove
from gen.importers import IMPORTERS
from gen.importers.base import Given
from gen.importers.manifests.objects import cleaned
from tests.importers.manifests.test_round_trip import EQUAL, IMAGE, an_object, pod, proof_of, read, replicas
from tests.importers.support import run_import
from tests.support import PROJECT, Repository, rendered

PYTORCH = EQUAL["pytorch-on-volumes"]


def changed(body: dict[str, Any], **of_pod: Any) -> dict[str, Any]:
    """A PyTorchJob with more fields in the pod of its master."""
    body = deepcopy(body)
    body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"] |= of_pod
    return body


def of_container(**fields: Any) -> dict[str, Any]:
    template = pod("pytorch", **fields)
    return an_object("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": replicas(Master=(1, template))})


def operations(body: dict[str, Any]) -> dict[str, Any]:
    """Values by the ends of the paths of the patch."""
    proof = proof_of(body)
    assert proof.remaining == ()
    assert proof.patch is not None
    assert proof.patch["target"] == {"kind": body["kind"], "name": "run", "namespace": "team"}
    return {one["path"].rpartition("/spec/")[2]: one["value"] for one in proof.patch["patch"]}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (changed(PYTORCH, terminationGracePeriodSeconds=120), {"terminationGracePeriodSeconds": 120}),
        (changed(PYTORCH, hostIPC=True), {"hostIPC": True}),
        (changed(PYTORCH, runtimeClassName="nvidia"), {"runtimeClassName": "nvidia"}),
        (of_container(ports=[{"containerPort": 23456}]), {"containers/0/ports": [{"containerPort": 23456}]}),
        (
            of_container(envFrom=[{"configMapRef": {"name": "settings"}}]),
            {"containers/0/envFrom": [{"configMapRef": {"name": "settings"}}]},
        ),
        (
            of_container(resources={"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}}),
            {"containers/0/resources/limits/memory": "2Gi"},
        ),
        (
            changed(PYTORCH, initContainers=[{"name": "prepare", "image": IMAGE}]),
            {"initContainers": [{"name": "prepare", "image": IMAGE}]},
        ),
    ],
    ids=["grace", "host-ipc", "runtime-class", "ports", "env-from", "limits", "init"],
)
def test_what_a_job_cannot_say_is_a_patch(body: dict[str, Any], expected: dict[str, Any]) -> None:
    assert operations(body) == expected


def test_digits_in_a_patch_stay_a_text() -> None:
    body = deepcopy(EQUAL["batch"])
    body["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    assert list(operations(body).values())[0] in ("2", {"kueue.x-k8s.io/job-min-parallelism": "2"})  # noqa: RUF015 - one


def test_a_second_restart_policy_is_a_patch() -> None:
    body = deepcopy(EQUAL["pytorch"])
    body["spec"]["pytorchReplicaSpecs"]["Master"]["restartPolicy"] = "Never"
    proof = proof_of(body)
    assert proof.patch is not None
    assert len(proof.patch["patch"]) == 1


def messages(*bodies: Any, severity: Severity = Severity.WARNING) -> list[str]:
    _, found = read(*bodies)
    return [item.message for item in found if item.severity is severity]


BOARD = an_object(
    "apps/v1",
    "Deployment",
    {
        "template": {
            "metadata": {"labels": {"role": "tensorboard", "release": "run"}},
            "spec": {
                "containers": [
                    {
                        "name": "tensorboard",
                        "image": "tensorflow:1",
                        "command": ["tensorboard", "--logdir", "/data/logs", "--host", "localhost"],
                    }
                ]
            },
        }
    },
    name="run-tensorboard",
)
SERVICE = an_object(
    "v1", "Service", {"type": "NodePort", "selector": {"role": "tensorboard"}, "ports": []}, name="run-tensorboard"
)


def test_objects_that_belong_together_are_one_job() -> None:
    body = changed(
        PYTORCH,
        volumes=[
            *PYTORCH["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["volumes"],
            {"name": "conf", "configMap": {"name": "settings"}},
        ],
    )
    container = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    container["volumeMounts"].append({"name": "conf", "mountPath": "/etc/app"})
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings"},
        "data": {"a.yaml": "x: {{ 1 }}\n"},
    }
    jobs, found = read(body, settings, BOARD, SERVICE)
    (job,) = jobs
    assert job.fields["files"] == {"/etc/app/a.yaml": "x: {{ '{{' }} 1 }}\n"}
    assert job.fields["tensorboard"] == {"logdir": "/data/logs", "image": "tensorflow:1"}
    (item,) = found
    assert item.message.startswith(
        "`type: NodePort` of Service `run-tensorboard` is not carried: TensorBoard has no users"
    )
    assert proof_of(body, settings, BOARD, SERVICE).remaining == ()


@pytest.mark.parametrize(
    ("bodies", "severity", "message"),
    [
        ([], Severity.ERROR, "no object of a kind that gen has"),
        ([an_object("apps/v1", "Deployment", {"replicas": 1})], Severity.ERROR, "no object of a kind that gen has"),
        ([{**PYTORCH, "metadata": {"namespace": "team"}}], Severity.ERROR, "`metadata.name` is missing"),
        ([{**PYTORCH, "spec": None}], Severity.ERROR, "`spec` is missing"),
        ([{**PYTORCH, "spec": {"runPolicy": {}}}], Severity.ERROR, "the object has no pod template"),
        (
            [of_container(command=["x", "--key=AKIAIOSFODNN7ABCDEFG"])],
            Severity.ERROR,
            "`command` has what looks like an AWS access key",
        ),
        (
            [of_container(env=[{"name": "DB_PASSWORD", "value": "hunter2hunter2"}])],
            Severity.WARNING,
            "the value of `DB_PASSWORD` is a secret",
        ),
        ([of_container(env=[{"name": "RANK", "value": "0"}])], Severity.WARNING, "`RANK` is not carried"),
        (
            [{**PYTORCH, "spec": {**PYTORCH["spec"], "runPolicy": {"ttlSecondsAfterFinished": 60}}}],
            Severity.WARNING,
            "`ttlSecondsAfterFinished` is not carried: a GitOps engine would start the run again",
        ),
        (
            [{**PYTORCH, "metadata": {"name": "run", "labels": {"chart": "x", "heritage": "Helm", "team": "a"}}}],
            Severity.WARNING,
            "`chart`, `heritage` is not carried: Helm, Arena or an engine sets it",
        ),
        (
            [PYTORCH, an_object("v1", "PersistentVolumeClaim", {}, name="imagenet")],
            Severity.WARNING,
            "PersistentVolumeClaim `imagenet` is not carried: jobs use the claim by its name",
        ),
        ([PYTORCH, SERVICE], Severity.WARNING, "Service `run-tensorboard` is not carried"),
        (
            [{**PYTORCH, "apiVersion": "kubeflow.org/v1beta1"}],
            Severity.WARNING,
            "kubeflow.org/v1beta1 becomes kubeflow.org/v1",
        ),
        ([PYTORCH, BOARD], Severity.WARNING, ""),
    ],
)
def test_reports(bodies: list[dict[str, Any]], severity: Severity, message: str) -> None:
    found = messages(*bodies, severity=severity)
    assert any(one.startswith(message) for one in found) or not message, found


def test_a_job_without_a_namespace_needs_one() -> None:
    found = Findings()
    raw = json.dumps(PYTORCH).encode()
    IMPORTERS["manifests"]().read(Given(file="a", files=(("a", raw),)), found)
    assert [item.message for item in found] == ["`metadata.namespace` is missing"]


def test_the_output_of_a_cluster_is_cleaned() -> None:
    live = deepcopy(PYTORCH)
    live["metadata"] |= {
        "uid": "1-2-3",
        "resourceVersion": "7",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "managedFields": [{"manager": "kubectl"}],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(PYTORCH)},
    }
    live["status"] = {"conditions": [{"type": "Succeeded"}]}
    assert cleaned(live) == cleaned(PYTORCH)
    listed = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [live, {**live, "metadata": {**live["metadata"], "name": "b"}}],
    }
    jobs, found = read(listed)
    assert [job.name for job in jobs] == ["run", "b"]
    assert list(found) == []


@pytest.mark.parametrize("depth", [9, 60])
def test_lists_in_lists_end(depth: int) -> None:
    body: dict[str, Any] = PYTORCH
    for _ in range(depth):
        body = {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": [body]}
    assert read(body)[0] == []


def test_old_versions_have_the_form_of_today() -> None:
    template = pod("tensorflow")
    old = an_object(
        "kubeflow.org/v1alpha1",
        "TFJob",
        {"replicaSpecs": [{"replicas": 2, "tfReplicaType": "WORKER", "template": template}], "cleanPodPolicy": "All"},
    )
    (job,) = read(old)[0]
    assert (job.fields["workers"], job.fields["cleanup"]) == ("2", "All")
    mpi = an_object(
        "kubeflow.org/v1alpha1",
        "MPIJob",
        {"replicas": 2, "template": pod("mpi", resources={"limits": {"nvidia.com/gpu": 8}}), "backoffLimit": 0},
    )
    (job,) = read(mpi)[0]
    assert (job.fields["workers"], job.fields["gpus"]) == ("2", "8")
    assert "gpus" not in job.fields.get("roles", {}).get("launcher", {})
    (job,) = read(an_object("kubeflow.org/v1alpha1", "MPIJob", {"gpus": 16, "gpusPerNode": 8, "template": pod("mpi")}))[
        0
    ]
    assert (job.fields["workers"], job.fields["gpus"]) == ("2", "8")


@pytest.mark.parametrize("text", ["{{ 7 * 7 }}", "${{ x }}", "$${{ x }}", "{% if %}", "a {# b #}", "{{ '{{' }}"])
def test_expressions_stay_texts(text: str) -> None:
    proof = proof_of(of_container(env=[{"name": "TEXT", "value": text}], args=[text]))
    assert proof.patch is None, proof.patch
    assert proof.remaining == ()


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


@pytest.mark.parametrize("name", HOSTILE)
def test_any_file_gives_findings_or_jobs(name: str) -> None:
    found = Findings()
    given = Given(file="a.yaml", files=(("a.yaml", HOSTILE[name]),), otherwise="team")
    for job in IMPORTERS["manifests"]().read(given, found):
        check_text(job, text_of(job, ""), found)
        if not found.failed():
            list(prove(PROJECT, job, NAME, overlay_text(fragment([job])), found))
    assert found.failed()


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "x" * 300, "A", ".."])
def test_names_cannot_leave_the_folder(repo: Repository, name: str) -> None:
    file = repo.root.parent / "in.yaml"
    file.write_text(json.dumps({**PYTORCH, "metadata": {"name": name, "namespace": "team"}}))
    before = sorted(repo.root.rglob("*"))
    report, code = run_import(repo.root, str(file), importer="manifests")
    assert code == 1
    assert {item.code for item in report.findings} <= {"invalid-name", "name-too-long"}
    assert sorted(repo.root.rglob("*")) == before


def test_a_folder_becomes_jobs_that_render(repo: Repository) -> None:
    folder = repo.root.parent / "manifests"
    (folder / "more").mkdir(parents=True)
    for name in ("pytorch", "tensorflow"):
        body = deepcopy(EQUAL[name])
        body["metadata"] |= {"name": name, "namespace": "team"}
        (folder / "more" / f"{name}.yaml").write_text(json.dumps(body))
    (folder / "README.md").write_text("no manifest")
    report, code = run_import(repo.root, str(folder), importer="manifests", overlay="dev", yes=True)
    assert (code, [item.message for item in report.findings]) == (0, [])
    assert "team/pytorch renders the original; gen adds" in report.summary
    assert rendered(repo.root)[1] == 0


def test_the_report_has_the_patches(repo: Repository) -> None:
    file = repo.root.parent / "in.yaml"
    file.write_text(json.dumps(changed(PYTORCH, hostIPC=True)))
    report, code = run_import(repo.root, str(file), importer="manifests", namespace="team")
    assert code == 0
    assert (
        "  patches:\n    - target:\n        kind: PyTorchJob\n        name: run\n        namespace: team\n"
        in report.summary
    )
    assert "path: /spec/pytorchReplicaSpecs/Master/template/spec/hostIPC\n" in report.summary.replace('"', "")
