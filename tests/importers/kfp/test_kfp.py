"""Compiled pipelines: steps become steps of one job, in the same order; what steps cannot say is reported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from gen.base.findings import Findings, Severity
from gen.importers import IMPORTERS, ImportedJob, ImportInput
from gen.importers.draft import check_text, text_of
from tests.cases import for_each
from tests.importers.manifests.forms import EQUAL

OBJECT = json.dumps({**EQUAL["pytorch"], "metadata": {"name": "train-{{workflow.uid}}"}})
LAUNCHER = [
    *("python", "arena_launcher.py", "--name", "all-reduce", "--image", "uber/horovod:1", "--gpus", "1"),
    *("--workers", "2", "--data", "claim:/training", "--env", "A=b=c", "--metric", "images/sec:RAW", "--rdma", "False"),
    *("--output-data", "/tmp/out", "--timeout-hours", "24", "mpijob", "--", "mpirun python x.py"),  # noqa: S108 - a text
]


def argo(**templates: Any) -> dict[str, Any]:
    made = [{"name": name, **template} for name, template in templates.items()]
    return {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {}, "spec": {"templates": made}}


def ir(*words: str) -> dict[str, Any]:
    container = {"image": "x", "command": list(words)}
    return {
        "components": {"comp-train": {"executorLabel": "exec-train"}, "comp-prep": {"executorLabel": "exec-prep"}},
        "deploymentSpec": {
            "executors": {"exec-train": {"container": container}, "exec-prep": {"container": {"command": ["x"]}}}
        },
        "root": {
            "dag": {
                "tasks": {
                    "prep": {"componentRef": {"name": "comp-prep"}},
                    "train": {"componentRef": {"name": "comp-train"}, "dependentTasks": ["prep"]},
                }
            }
        },
        "schemaVersion": "2.1.0",
    }


def read(*documents: Any, define: Mapping[str, str] | None = None) -> tuple[list[ImportedJob], list[Any]]:
    found, text = Findings(), "\n---\n".join(map(json.dumps, documents))
    given = ImportInput(file="p.yaml", text=text, otherwise="team", define=dict(define or {}))
    jobs = list(IMPORTERS["kfp"]().read(given, found))
    for job in jobs:
        check_text(job, text_of(job, ""), found)
    return jobs, list(found)


def test_a_resource_template_is_imported_as_a_manifest() -> None:
    (job,), found = read(argo(train={"resource": {"action": "create", "manifest": OBJECT}}))
    assert (job.name, job.fields["kind"], job.fields["workers"]) == ("train", "pytorch", "4")
    assert job.originals
    assert found == []


def test_the_launcher_of_arena_is_a_submission() -> None:
    (job,), found = read(argo(train={"container": {"command": LAUNCHER}}))
    fields = job.fields
    assert (fields["kind"], fields["command"], fields["env"]) == ("mpi", "mpirun python x.py", {"A": "b=c"})
    assert (fields["metrics"], fields["timeout"]) == (["images/sec:RAW"], "24h")
    assert "network" not in fields
    assert any("`--output-data` of step `train` is not carried" in item.message for item in found)


@for_each(
    ("kind", "cpu"), [("mpijob", ("2", "10Gi")), ("job", ("2", "10Gi")), ("tfjob", ("2", "10Gi")), ("job", ("0", "0"))]
)
def test_the_launcher_has_the_options_of_its_sdk(kind: str, cpu: tuple[str, str]) -> None:
    own = ["--cpu", cpu[0], "--memory", cpu[1], "--step-name", "{{pod.name}}", "--workflow-name", "{{workflow.name}}"]
    words = [
        *LAUNCHER[:2],
        "--name",
        "a",
        "--image",
        "i:1",
        *own,
        "--env",
        "A=b",
        kind,
        "--",
        "\n  \tpython x.py \t--lr 1\n",
    ]
    (job,), found = read(argo(train={"container": {"command": words}}))
    expected = {"cpu": "2", "memory": "10Gi"} if cpu[0] != "0" else {}
    assert {name: value for name, value in job.fields.items() if name in ("cpu", "memory")} == expected
    assert job.fields["command"] == "python x.py --lr 1"
    assert [one.message for one in found if "NVIDIA" not in one.message and "ssh" not in one.message] == [
        "`--step-name` of step `train` is not carried: it concerns the pipeline",
        "`--workflow-name` of step `train` is not carried: it concerns the pipeline",
    ]
    assert job.obstacles == ()


@pytest.mark.parametrize(
    "words",
    [
        ["arena", "submit", "pytorch", "--name=a", "--image=x:1", "python a.py"],
        ["sh", "-c", "set -e\narena submit pytorch --name=a \\\n  --image=x:1 'python a.py'\n"],
    ],
)
def test_a_command_of_arena_is_a_submission(words: list[str]) -> None:
    for document in (argo(train={"container": {"command": words}}), ir(*words)):
        (job,), _ = read(document)
        assert (job.name, job.fields["command"]) == ("a", "python a.py")


def test_a_single_job_stays_a_job_of_its_kind() -> None:
    (job,), found = read(ir("python", "{{$.inputs.parameters['lr']}}"))
    assert (job.fields["kind"], job.name) == ("batch", "train")
    assert {item.message for item in found} == {
        "step `prep` is not carried: it needs the launcher of the pipeline, or runs no program",
        "the input `lr` of step `train` has no value",
    }
    assert {item.message for item in job.obstacles} == {item.message for item in found}


@for_each(
    ("document", "severity", "message"),
    [
        ({}, "error", "no step of a pipeline found"),
        (argo(), "error", "no step of a pipeline found"),
        (argo(a={"container": {"command": ["echo"]}}), "error", "no step can run without the pipeline"),
        (argo(a={"suspend": {}}), "warning", "step `a` is not carried: it needs the launcher"),
        (argo(a={"script": {"source": "print(1)"}}), "warning", "step `a` is not carried"),
        (argo(a={"container": {"command": ["arena submit tfjbo --name=a x"]}}), "error", "unknown job type `tfjbo`"),
        (argo(a={"container": {"command": ["arena submit pytorch 'x"]}}), "error", ""),
        (argo(a={"resource": {"manifest": "{"}}), "error", ""),
        ({"deploymentSpec": {"executors": {"a": 1, "b": {"container": {"command": [1]}}}}}, "error", "no step of a"),
        (
            {"spec": {"templates": [1, {"name": 2}, {"name": "a", "dag": {"tasks": [1]}}]}},
            "error",
            "no step of a pipeline",
        ),
    ],
)
def test_reports(document: Any, severity: str, message: str) -> None:
    _, found = read(document)
    assert any(item.message.startswith(message) and item.severity == severity for item in found), found


def test_a_workflow_of_the_server_is_refused() -> None:
    labels = {"pipelines.kubeflow.org/v2_component": "true"}
    document = argo(a={"container": {"image": "driver:1", "command": ["driver"]}})
    document["spec"]["podMetadata"] = {"labels": labels}
    jobs, found = read(document)
    assert not jobs
    assert "its steps need that server" in found[0].message


def test_parameters_are_no_expressions_of_gen() -> None:
    body = {**EQUAL["jax"], "metadata": {"name": "a", "annotations": {"note": "{{inputs.parameters.x}} {{ 7 }}"}}}
    (job,), found = read(argo(a={"resource": {"manifest": json.dumps(body)}}))
    assert job.fields["annotations"] == {"note": "change-me-x {{ '{{' }} 7 }}"}
    assert not any(item.severity is Severity.ERROR for item in found)
