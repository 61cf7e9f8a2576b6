"""Reports about fields of manifests that a job does not have."""

from __future__ import annotations

import json
from copy import deepcopy
from shutil import copytree
from typing import Any

import pytest
import yaml

from gen.base import follow
from gen.base.findings import Findings, Severity
from gen.importers import IMPORTERS, ImportInput
from gen.importers.cleaning import cleaned
from gen.importers.comparison import aligned
from gen.importers.overlay_needs import fragment
from gen.importers.proof import NAME, overlay_text, prove
from tests.cases import for_each
from tests.commands.imports import errors
from tests.importers.manifests.changes import PYTORCH, changed, of_container
from tests.importers.manifests.forms import EQUAL, an_object, pod, replicas
from tests.importers.manifests.proofs import proof_of, read
from tests.importers.support import run_import
from tests.support import HERE, PROJECT, Repository, rendered


def messages(*bodies: Any, severity: Severity = Severity.WARNING) -> list[str]:
    _, found = read(*bodies)
    return [item.message for item in found if item.severity is severity]


def with_labels(labels: dict[str, str]) -> dict[str, Any]:
    """A PyTorchJob with labels of its pods."""
    body = of_container()
    body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["metadata"] = {"labels": labels}
    return body


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


def test_objects_that_never_end_stay_where_they_are() -> None:
    body = an_object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {"leaderWorkerTemplate": {"a": pod("main")}})
    (finding,) = read(body)[1]
    assert finding.hint.startswith("its pods serve and never end: keep the manifest where it is applied today")


SETTINGS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings"},
    "data": {"a.sh": "echo 1\n", "b": "2"},
}


NOT_CARRIED = "ConfigMap `settings` is not carried: gen has no kind of job for it"


def on_volume(source: dict[str, Any], mount: dict[str, Any], **of_pod: Any) -> dict[str, Any]:
    """A PyTorchJob with a ConfigMap as a volume."""
    mounts = [{"name": "conf", "mountPath": "/conf", **mount}]
    body = changed(of_container(volumeMounts=mounts, **of_pod.pop("container", {})), **of_pod)
    template = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    template["volumes"] = [{"name": "conf", "configMap": {"name": "settings", **source}}]
    return body


@for_each(
    ("source", "mount", "rest"),
    [
        ({"defaultMode": 0o755}, {}, {}),
        ({"defaultMode": 0o755, "items": [{"key": "a.sh", "path": "run.sh"}]}, {"subPath": "run.sh"}, {}),
        ({"items": [{"key": "a.sh", "path": "run.sh", "mode": 0o755}]}, {}, {}),
        ({"items": [{"key": "absent", "path": "run.sh"}], "optional": True}, {}, {}),
        ({}, {"subPath": "absent"}, {}),
        ({}, {"mountPropagation": "HostToContainer"}, {}),
        (
            {},
            {},
            {
                "initContainers": [
                    {"name": "first", "image": "a/b:1", "volumeMounts": [{"name": "conf", "mountPath": "/x"}]}
                ]
            },
        ),
    ],
    ids=["mode", "mode-and-part", "mode-of-item", "absent-key", "absent-part", "propagation", "another-container"],
)
def test_nothing_of_a_volume_of_files_is_lost(
    source: dict[str, Any], mount: dict[str, Any], rest: dict[str, Any]
) -> None:
    made = proof_of(on_volume(source, mount, **rest), SETTINGS)
    _, found = read(on_volume(source, mount, **rest), SETTINGS)
    text = json.dumps(made.patch)
    assert made.remaining == ()
    if set(source) == {"defaultMode"} or ("subPath" in mount and "items" in source):
        assert '/configMap/defaultMode", "value": 493' in text
        assert list(found) == []
    else:
        assert "files" not in made.job.fields
        assert '"configMap"' in text
        assert [item.message for item in found] == [NOT_CARRIED]


def test_a_map_that_is_read_in_another_way_is_not_carried() -> None:
    made = on_volume({}, {}, container={"envFrom": [{"configMapRef": {"name": "settings"}}]})
    jobs, found = read(made, SETTINGS)
    assert jobs[0].fields["files"] == {"/conf/a.sh": "echo 1\n", "/conf/b": "2"}
    assert [item.message for item in found] == [NOT_CARRIED]


@pytest.mark.parametrize("first", [0, 1])
def test_a_map_that_another_job_reads_is_not_carried(first: int) -> None:
    files = on_volume({}, {})
    files["metadata"] = {"name": "two", "namespace": "team"}
    both = [of_container(envFrom=[{"configMapRef": {"name": "settings"}}]), files]
    jobs, found = read(SETTINGS, both[first], both[1 - first])
    assert (len(jobs), [item.message for item in found]) == (2, [NOT_CARRIED])
    jobs, found = read(SETTINGS, files)
    assert (len(jobs), list(found)) == (1, [])


def test_pods_with_other_texts_of_a_file_keep_their_volumes() -> None:
    body = on_volume({}, {})
    other = {**SETTINGS, "metadata": {"name": "others"}, "data": {"a.sh": "echo 2\n"}}
    worker = deepcopy(body["spec"]["pytorchReplicaSpecs"]["Master"])
    worker["template"]["spec"]["volumes"][0]["configMap"]["name"] = "others"
    body["spec"]["pytorchReplicaSpecs"]["Worker"] = worker
    _, found = read(body, SETTINGS, other)
    assert [item.message for item in found] == [NOT_CARRIED.replace("settings", "others")]


def test_a_job_with_a_schedule_keeps_the_volumes_of_its_maps() -> None:
    body = deepcopy(EQUAL["batch-on-a-schedule"])
    template = body["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    template["containers"][0]["volumeMounts"] = [{"name": "conf", "mountPath": "/conf"}]
    template["volumes"] = [{"name": "conf", "configMap": {"name": "settings"}}]
    made = proof_of(body, SETTINGS)
    assert made.remaining == ()
    assert [item.message for item in read(body, SETTINGS)[1]] == [NOT_CARRIED]


@for_each(
    ("bodies", "severity", "message"),
    [
        ([], Severity.ERROR, "no object of a kind that gen has"),
        (
            [an_object("apps/v1", "Deployment", {"replicas": 1})],
            Severity.ERROR,
            "no object of a kind that gen has, only Deployment",
        ),
        (
            [SERVICE, an_object("serving.example.com/v1", "Server", {"template": {"spec": {"containers": []}}})],
            Severity.ERROR,
            "gen has no kind of job for Server of serving.example.com/v1",
        ),
        ([{**PYTORCH, "metadata": {"namespace": "team"}}], Severity.ERROR, "`metadata.name` is missing"),
        ([{**PYTORCH, "spec": None}], Severity.ERROR, "`spec` is empty"),
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
            [with_labels({"app.kubernetes.io/name": "run"})],
            Severity.WARNING,
            "`app.kubernetes.io/name` is not carried: Helm, Arena or an engine sets it",
        ),
        (
            [with_labels({"kueue.x-k8s.io/queue-name": "other"})],
            Severity.WARNING,
            "`kueue.x-k8s.io/queue-name: other` is not carried: only the queue of the run admits it",
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
        (
            [an_object("kubeflow.org/v1alpha1", "MPIJob", {"replicas": 2, "template": pod("mpi")})],
            Severity.WARNING,
            "kubeflow.org/v1alpha1 becomes kubeflow.org/v2beta1, for which the image must have `/usr/sbin/sshd`",
        ),
        ([PYTORCH, BOARD], Severity.WARNING, ""),
        (
            [
                an_object(
                    "batch.volcano.sh/v1alpha1",
                    "Job",
                    {"tasks": [{"name": "task", "replicas": 1, "template": pod("main")} for _ in "ab"]},
                )
            ],
            Severity.ERROR,
            "two roles have the name `task`",
        ),
    ],
)
def test_reports(bodies: list[dict[str, Any]], severity: Severity, message: str) -> None:
    found = messages(*bodies, severity=severity)
    assert any(one.startswith(message) for one in found) or not message, found


def test_a_job_without_a_namespace_needs_one() -> None:
    found = Findings()
    raw = json.dumps(PYTORCH).encode()
    IMPORTERS["manifests"]().read(ImportInput(file="a", files=(("a", raw),)), found)
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


def test_a_config_map_with_bytes_is_no_file() -> None:
    messages = [one.message for one in read(of_container(), {**SETTINGS, "binaryData": {"b": "AAEC"}})[1]]
    assert messages == ["ConfigMap `settings` is not carried: files of a job are texts, and it has `binaryData`"]


def test_a_tensorboard_with_another_name_belongs_to_the_run_with_its_claim() -> None:
    body = of_container(volumeMounts=[{"name": "data", "mountPath": "/data"}])
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    for replica in body["spec"]["pytorchReplicaSpecs"].values():
        replica["template"]["spec"]["volumes"] = [claim]
    board = deepcopy(BOARD)
    board["metadata"]["name"] = "board"
    assert [one.message for one in read(body, board)[1]] == [
        "Deployment `board` is not carried: gen has no kind of job for it"
    ]
    board["spec"]["template"]["spec"]["volumes"] = [claim]
    jobs, found = read(body, board)
    assert jobs[0].fields["tensorboard"] == {"logdir": "/data/logs", "image": "tensorflow:1"}
    assert list(found) == []


def test_a_workflow_becomes_a_pipeline() -> None:
    container = {"image": "busybox:1", "command": ["run"]}
    metadata = {"labels": {"kueue.x-k8s.io/queue-name": "gold"}, "annotations": {"pipelines.kubeflow.org/x": "1"}}
    templates = [
        {"name": "all", "steps": [[{"name": "a", "template": "one"}], [{"name": "b", "template": "one"}]]},
        {"name": "one", "container": container, "metadata": metadata},
    ]
    flow = an_object("argoproj.io/v1alpha1", "Workflow", {"entrypoint": "all", "templates": templates}, name="flow")
    jobs, found = read(flow, PYTORCH)
    assert [(job.name, job.fields["kind"]) for job in jobs] == [("flow", "pipeline"), ("run", "pytorch")]
    assert jobs[0].fields["steps"]["b"]["needs"] == ["a"]
    assert [one.message for one in found] == [
        "`kueue.x-k8s.io/queue-name: gold` is not carried: only the queue of the run admits it"
    ]


SPARK = an_object(
    "sparkoperator.k8s.io/v1beta2",
    "SparkApplication",
    {
        "type": "Python",
        "mode": "cluster",
        "sparkVersion": "3.5.6",
        "mainApplicationFile": "local:///app/main.py",
        "arguments": ["5000", "x"],
        "restartPolicy": {"type": "Never"},
        "driver": {"image": "spark:3.5.6", "cores": 1, "memory": "1g"},
        "executor": {"image": "spark:3.5.6", "cores": 4, "memory": "2g", "instances": 15},
    },
)


def test_a_declared_kind_with_fields_in_place_of_templates(repo: Repository) -> None:
    copytree(HERE / "golden" / "declared-kind" / "overlays", repo.root / "overlays", dirs_exist_ok=True)
    file = repo.root.parent / "spark.json"
    file.write_text(json.dumps(SPARK))
    report, code = run_import(repo.root, str(file), importer="manifests", namespace="team")
    assert (code, [item.message for item in report.findings]) == (0, [])
    assert "team/run renders the original" in report.summary
    assert "patches" not in report.summary
    assert (repo.root / "jobs/team/run.yaml").read_text() == (
        "# Imported from SparkApplication run.\n"
        "kind: spark\n"
        "image: spark:3.5.6\n"
        "workers: 15\n"
        "spec:\n"
        "  sparkVersion: 3.5.6\n"
        "  mainApplicationFile: local:///app/main.py\n"
        "  arguments:\n"
        '    - "5000"\n'
        "    - x\n"
        "  driver:\n"
        "    memory: 1g\n"
        "  executor:\n"
        "    cores: 4\n"
        "    memory: 2g\n"
    )


def test_a_declared_kind_with_pods_in_its_own_fields_is_refused(repo: Repository) -> None:
    copytree(HERE / "golden" / "declared-kind" / "overlays", repo.root / "overlays", dirs_exist_ok=True)
    executor = {"template": {"containers": [{"name": "main", "image": "spark:3.5.6"}]}}
    file = repo.root.parent / "spark.json"
    file.write_text(json.dumps({**SPARK, "spec": {"driver": executor, "executor": executor}}))
    report, _ = run_import(repo.root, str(file), importer="manifests", namespace="team")
    assert errors(report) == ["invalid-manifest: `spec.driver.template` is not a pod template: it has no `spec`"]


def test_an_account_in_a_field_of_a_declared_kind_is_granted(repo: Repository) -> None:
    copytree(HERE / "golden" / "declared-kind" / "overlays", repo.root / "overlays", dirs_exist_ok=True)
    overlay = repo.root / "overlays/dev/overlay.yaml"
    overlay.write_text(overlay.read_text().replace("arguments, driver", "arguments, driver.serviceAccount, driver"))
    definition = repo.root / "overlays/dev/crds/sparkapplication.yaml"
    cores = next(line for line in definition.read_text().splitlines() if line.strip().startswith("cores:"))
    account = cores.partition("cores")[0] + "serviceAccount: {type: string}"
    definition.write_text(definition.read_text().replace(cores, f"{cores}\n{account}", 1))
    file = repo.root.parent / "spark.json"
    file.write_text(json.dumps({**SPARK, "spec": {**SPARK["spec"], "driver": {"serviceAccount": "spark"}}}))
    report, _ = run_import(repo.root, str(file), importer="manifests", namespace="team", overlay="dev", yes=True)
    assert [one.message for one in report.findings if "grant" in one.message] == []
    assert "serviceAccounts: [spark]" in overlay.read_text()


def test_an_error_of_a_declared_kind_is_reported(repo: Repository) -> None:
    kind = "{apiVersion: serving.example.com/v1, kind: Server, pods: {worker: {template: spec.template}}}"
    repo.overlay(f'kubernetes: "1.34"\nkinds: {{server: {kind}}}\n')
    file = repo.root.parent / "server.json"
    template: dict[str, Any] = {"spec": {"containers": []}}
    file.write_text(json.dumps(an_object("serving.example.com/v1", "Server", {"pods": {"template": template}})))
    report, _ = run_import(repo.root, str(file), importer="manifests", namespace="team")
    errors = [(item.message, item.hint) for item in report.findings if item.severity is Severity.ERROR]
    assert [message for message, _ in errors] == [
        "gen has no kind of job for Server of serving.example.com/v1",
        "`kinds.server.status` is missing",
    ]
    assert "such as `template: spec.pods.template`, declare it in `kinds` of an overlay" in errors[0][1]


def test_a_queue_can_have_dots_in_its_name() -> None:
    body = {**PYTORCH, "metadata": {"name": "run", "labels": {"kueue.x-k8s.io/queue-name": "h100-v1.8"}}}
    made = proof_of(body)
    assert made.remaining == ()
    assert made.job.fields["queue"] == "h100-v1-8"
    assert made.job.overlay["queues"]["h100-v1-8"]["kueue"]["localQueue"] == "h100-v1.8"


def test_the_default_number_of_workers_is_left_out() -> None:
    (job,) = read(an_object("batch/v1", "Job", {"template": pod("a")}))[0]
    assert "workers" not in job.fields


def test_volumes_of_any_form_are_compared() -> None:
    body = of_container(volumeMounts=["x", {"name": ["a"], "mountPath": "/data"}])
    for replica in body["spec"]["pytorchReplicaSpecs"].values():
        replica["template"]["spec"]["volumes"] = ["x", {"name": ["a"], "emptyDir": {"sizeLimit": "1Gi"}}]
    jobs, _ = read(body)
    found = Findings()
    assert list(prove(PROJECT, jobs[0], NAME, overlay_text(fragment(jobs)), found))


def test_a_volume_that_is_a_text_has_no_name() -> None:
    rendered = of_container()
    for replica in rendered["spec"]["pytorchReplicaSpecs"].values():
        replica["template"]["spec"]["volumes"] = [{"name": "a", "emptyDir": {}}]
    original = deepcopy(rendered)
    for replica in original["spec"]["pytorchReplicaSpecs"].values():
        replica["template"]["spec"]["volumes"] = ["x", {"name": "b", "emptyDir": {}}]
    (first, *_) = aligned(original, rendered)["spec"]["pytorchReplicaSpecs"].values()
    assert first["template"]["spec"]["volumes"] == ["x", {"name": "a", "emptyDir": {}}]


@pytest.mark.parametrize("name", [["a"], {"a": 1}, None, 7])
def test_names_of_any_form_are_no_bug(name: Any) -> None:
    body = of_container(env=[{"name": name, "value": "x"}], volumeMounts=[{"name": name, "mountPath": "/data"}])
    template = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    template["spec"]["volumes"] = [{"name": name, "configMap": {"name": name}}]
    template["metadata"] = {"annotations": name}
    program = {**template["spec"]["containers"][0], "args": 7}
    flow = {"entrypoint": "a", "templates": [{"name": "a", "container": program}]}
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {}}
    _, found = read(body, settings, an_object("argoproj.io/v1alpha1", "Workflow", flow, name="flow"))
    assert [one for one in found if one.code == "internal-error"] == []


def test_a_value_is_reported_at_its_line(repo: Repository) -> None:
    task = {"name": "task", "replicas": 1, "template": pod("main")}
    body = an_object("batch.volcano.sh/v1alpha1", "Job", {"tasks": [task], "minAvailable": 3}, namespace="team")
    file = repo.root.parent / "job.yaml"
    file.write_text(yaml.safe_dump(body, sort_keys=False))
    report, _ = run_import(repo.root, str(file), importer="manifests")
    (finding,) = [one for one in report.findings if one.severity is Severity.ERROR]
    assert finding.message == "`minAvailable` is more than the 1 pods of the job"
    line = file.read_text().splitlines()[finding.place.line - 1]
    assert line == "  minAvailable: 3"


def test_a_variable_is_reported_at_its_line(repo: Repository) -> None:
    variables = [{"name": "A", "value": "b"}, {"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]
    file = repo.root.parent / "job.yaml"
    file.write_text(yaml.safe_dump(of_container(env=variables), sort_keys=False))
    report, _ = run_import(repo.root, str(file), importer="manifests", namespace="team")
    (finding,) = [one for one in report.findings if one.severity is Severity.ERROR]
    assert file.read_text().splitlines()[finding.place.line - 1].strip() == "value: all"


def test_a_port_with_a_mapping_as_its_name_ends_no_import() -> None:
    body = of_container(ports=[{"name": {"a": 1}, "containerPort": 8080}, {"name": "http", "containerPort": 80}])
    assert "the port `http` is not carried: pods reach each other without it" in messages(body)


def test_a_dependency_with_a_mapping_as_its_name_ends_no_import() -> None:
    jobs = [
        {
            "name": "a",
            "dependsOn": [{"name": {"b": 1}, "status": "Ready"}],
            "template": {"spec": {"template": pod("c")}},
        }
    ]
    body = an_object("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": jobs})
    assert not [one for one in read(body)[1] if one.code == "internal-error"]


@for_each(
    ("of_container", "of_pod", "words"),
    [
        ({"image": "$IMAGE"}, {}, "`image` has the placeholder `$IMAGE`; gen adds"),
        ({"image": "$IMAGE", "args": ["$DATA"]}, {}, "`image` has the placeholder `$IMAGE`, and 1 more; gen adds"),
        ({}, {"hostUsers": "no"}, "`spec.pytorchReplicaSpecs.Master.template.spec.hostUsers`; gen adds"),
        (
            {"image": "$IMAGE"},
            {"hostUsers": "no"},
            "`spec.pytorchReplicaSpecs.Master.template.spec.hostUsers`, `image` has the placeholder `$IMAGE`; gen adds",
        ),
    ],
)
def test_the_report_names_the_parts_that_a_job_lacks(
    repo: Repository, of_container: dict[str, Any], of_pod: dict[str, Any], words: str
) -> None:
    template = pod("pytorch", **of_container)
    template["spec"] |= of_pod
    body = an_object("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": replicas(Master=(1, template))})
    file = repo.root.parent / "in.yaml"
    file.write_text(json.dumps(body))
    report, _ = run_import(repo.root, str(file), importer="manifests", namespace="team")
    assert f"team/run lacks a part of the original: {words}" in report.summary


def jobset_of(**env: Any) -> dict[str, Any]:
    variables = [
        {"name": name, **(value if isinstance(value, dict) else {"value": value})} for name, value in env.items()
    ]
    template = pod("main", env=variables)
    template["spec"]["restartPolicy"] = "Never"
    spec = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": template}
    jobs = [{"name": "workers", "template": {"spec": spec}}]
    return an_object("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": jobs})


def test_variables_with_the_values_of_a_run_are_left_out() -> None:
    field = {
        "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}
    }
    body = jobset_of(
        MASTER_ADDR="run-workers-0-0.run.team.svc", MASTER_PORT="3389", RANK=field, NODE_RANK="$(JOB_COMPLETION_INDEX)"
    )
    assert messages(body) == []
    fields = proof_of(body).job.fields
    assert ("env" in fields, fields["masterPort"]) == (False, 3389)


def test_variables_with_other_values_are_reported_at_their_lines() -> None:
    (job,), found = read(jobset_of(MASTER_ADDR="other", WORLD_SIZE="16", RANK="0", ARGS="$(WORLD_SIZE)"))
    address = "{{ run.id }}-workers-0-0.{{ run.id }}"
    assert [one.message for one in found] == [
        f"`MASTER_ADDR` is not carried: gen or the operator sets it in every pod, to `{address}`",
        "`WORLD_SIZE` is not carried: gen or the operator sets it in every pod, to `2`",
        "`RANK` is not carried: gen or the operator sets it in every pod",
    ]
    assert job.obstacles == ()
    (job,), _ = read(of_container(env=[{"name": "RANK", "value": "7"}, {"name": "ARGS", "value": "--rank=$(RANK)"}]))
    assert [one.message for one in job.obstacles] == ["`ARGS` refers to `RANK`, which the operator sets only behind it"]


@for_each(
    ("name", "above"),
    [
        ("batch-on-a-schedule", "spec.jobTemplate.spec"),
        ("paddle", "spec.paddleReplicaSpecs.Worker"),
        ("ray", "spec.rayClusterSpec"),
    ],
)
def test_fields_that_no_object_has_are_reported(name: str, above: str) -> None:
    body = deepcopy(EQUAL[name])
    follow(body, tuple(above.split("."))).update(ttlSecondAfterFinished=5)
    proof = proof_of(body)
    assert (proof.patch, proof.remaining) == (None, ())
    message = "the unknown field `ttlSecondAfterFinished` is not carried: an API server drops it"
    assert messages(body) == [message]


@for_each(("value", "text"), [(True, "true"), (3, "3"), ("True", "True")])
def test_labels_are_texts(value: object, text: str) -> None:
    body = deepcopy(EQUAL["batch"])
    body["metadata"]["labels"] = {"debug": value}
    body["spec"]["template"]["metadata"] = {"annotations": {"again": value}}
    fields = proof_of(body).job.fields
    assert (fields["labels"], fields["podAnnotations"]) == ({"debug": text}, {"again": text})
    lost = [f"`{name}: {text}` is not a text, and an API server refuses it" for name in ("debug", "again")]
    assert messages(body) == lost * (value != text)


def test_fields_that_no_pod_has_are_reported() -> None:
    body = changed(
        of_container(imagePullSecret="x"), imagePullPolicy="Always", imagePullSecrets=[{"name": "None"}, {"name": "r"}]
    )
    body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["kind"] = "Pod"
    proof = proof_of(body)
    assert (proof.patch, proof.remaining, proof.job.fields["imagePullSecrets"]) == (None, (), ["r"])
    unknown = [f"the unknown field `{name}`" for name in ("kind", "imagePullPolicy", "imagePullSecret")]
    expected = [f"{name} is not carried: an API server drops it" for name in unknown]
    assert sorted(messages(body)) == sorted([*expected, "`None` is not carried: no Secret can have this name"])


def test_a_number_of_pods_is_set_in_the_job() -> None:
    body = an_object("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": replicas(Master=(1, pod("pytorch")))})
    body["spec"]["pytorchReplicaSpecs"]["Worker"] = {"replicas": "$NODES", "template": pod("pytorch")}
    _, found = read(body)
    hint = "set the number of pods, such as `workers`, in the job, or import it again with `--define NODES=VALUE`"
    assert [one.hint for one in found if "placeholder" in one.message] == [hint]


@for_each(
    ("version", "kind", "run"),
    [("ray.io/v1", "RayCronJob", "RayJob"), ("batch.volcano.sh/v1alpha1", "CronJob", "Job")],
)
def test_other_schedules_are_those_of_a_job(version: str, kind: str, run: str) -> None:
    spec = {"jobTemplate": {"spec": {"template": pod("main")}}}
    _, found = read(an_object(version, kind, spec))
    (error,) = found
    hint = f"write its job template as a {run} of {version}, import that, and set `schedule` of the job"
    assert (error.message, error.hint) == (f"gen has no kind of job for {kind} of {version}", hint)


@for_each(("namespace", "remedy"), [("team", "import it without `--namespace`"), (None, "")])
def test_objects_with_one_name(repo: Repository, namespace: str | None, remedy: str) -> None:
    bodies = [{**EQUAL["batch"], "metadata": {"name": "run", "namespace": one}} for one in ("a", "b")]
    (repo.root.parent / "two.yaml").write_text("\n---\n".join(json.dumps(body) for body in bodies))
    file = str(repo.root.parent / "two.yaml")
    report, code = run_import(repo.root, file, importer="manifests", namespace=namespace)
    hints = [item.hint for item in report.findings]
    assert (code, len(hints)) == ((1, 1) if remedy else (0, 0))
    assert all(hint.startswith(remedy) for hint in hints)


RETAINED = {"retentionPolicy": {"whenDeleted": "Retain"}}


@for_each(("more", "end"), [({}, "are deleted with the run"), (RETAINED, "stay, and the run cannot be created again")])
def test_why_claims_of_a_set_have_no_patch(more: dict[str, Any], end: str) -> None:
    template = {"metadata": {"name": "a"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    body = deepcopy(EQUAL["jobset"])
    body["spec"]["volumeClaimPolicies"] = [{"templates": [template], **more}]
    ((why,),) = proof_of(body).refused.values()
    assert why.endswith(f"these claims {end}")


def test_a_workflow_without_its_template_is_an_error_at_its_name() -> None:
    body = an_object("argoproj.io/v1alpha1", "Workflow", {"workflowTemplateRef": {"name": "other"}})
    jobs, found = read(body)
    assert jobs == []
    assert [one.message for one in found] == ["the file has no WorkflowTemplate `other`"]
