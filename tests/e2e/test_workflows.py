"""Workflows against the code of Argo Workflows: its validator, its conditions and its variables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.job.kinds import KINDS
from gen.kubernetes.facts.argo import Workflow, manifest_text
from gen.kubernetes.facts.state import waiting
from gen.kubernetes.facts.steps import manifest_body
from tests.e2e.objects import Rendered, all_rendered
from tests.e2e.workflows import Ask, built
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.cluster import Cluster

WORKFLOWS = [one for one in all_rendered() if one.body["kind"] == "Workflow"]
EMBEDDED = [(workflow, body) for workflow in WORKFLOWS for body in Workflow(("spec",)).objects(workflow.body)]


@pytest.fixture(scope="session")
def argo(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    return built(tmp_path_factory.mktemp("argo"))


def test_there_are_workflows() -> None:
    assert len(WORKFLOWS) > 1
    steps = {body["kind"] for _, body in EMBEDDED}
    assert steps == {model.facts.kind for model in KINDS.values() if not model.own_fields}, "of every kind"


@pytest.mark.parametrize("rendered", WORKFLOWS, ids=str)
def test_argo_accepts_a_rendered_workflow(rendered: Rendered, argo: Ask) -> None:
    assert argo([{"workflow": rendered.body}]) == [{}]


def test_argo_accepts_a_schedule_and_names_its_runs(argo: Ask) -> None:
    schedules = [one.body for one in all_rendered() if one.body["kind"] == "CronWorkflow"]
    assert len(schedules) > 1
    assert argo([{"cron": body} for body in schedules]) == [{}] * len(schedules)
    alone = [one for one in schedules if one["spec"]["workflowSpec"]["templates"][1]["name"] == "run"]
    literals = 0
    for body in alone:
        create = body["spec"]["workflowSpec"]["templates"][1]
        valid, replaced = argo(
            [{"cron": body}, {"template": create, "variables": {"workflow.name": "demo-1700000000"}}]
        )
        assert valid == {}
        assert replaced["object"]["metadata"]["name"] == "demo-1700000000"
        text = json.dumps(replaced["object"])
        assert "/data/demo-1700000000" in text, "a placeholder of the run has its name"
        literals += json.dumps('--literal "{{workflow.name}}"')[1:-1] in text
    assert literals, "braces that the author wrote stay"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"depends": "nothing.Succeeded"}, "nothing"),
        ({"depends": "prepare.Done"}, "Done"),
        ({"name": "another"}, "invalid dependency"),
    ],
)
def test_the_validator_finds_what_is_wrong(change: dict[str, str], error: str, argo: Ask) -> None:
    body = json.loads(json.dumps(WORKFLOWS[0].body))
    body["spec"]["templates"][0]["dag"]["tasks"][1] |= change
    (answer,) = argo([{"workflow": body}])
    assert error in answer["error"]


@pytest.mark.parametrize(("rendered", "body"), EMBEDDED, ids=lambda one: str(one) if isinstance(one, Rendered) else "")
def test_the_server_accepts_the_object_of_a_step(rendered: Rendered, body: dict[str, Any], cluster: Cluster) -> None:
    response = cluster.try_to_create(body)
    assert response.status == 201, f"{rendered}: {response.message}"
    assert response.warnings == ()


def condition(kind: str, status: str = "True") -> dict[str, str]:
    return {"type": kind, "status": status}


_KUBEFLOW = {
    "created": ({"conditions": [condition("Created")]}, "waiting"),
    "running": (
        {"conditions": [condition("Created"), condition("Running")], "startTime": "2026-01-01T00:00:00Z"},
        "waiting",
    ),
    "restarted": ({"conditions": [condition("Created"), condition("Restarting")]}, "waiting"),
    "suspended": ({"conditions": [condition("Created"), condition("Suspended")]}, "waiting"),
    "resumed": ({"conditions": [condition("Suspended", "False"), condition("Running")]}, "waiting"),
    "succeeded": (
        {
            "conditions": [condition("Running", "False"), condition("Succeeded")],
            "completionTime": "2026-01-01T01:00:00Z",
        },
        "succeeded",
    ),
    "failed": (
        {"conditions": [condition("Running", "False"), condition("Failed")], "completionTime": "2026-01-01T01:00:00Z"},
        "failed",
    ),
    "failed after many changes": (
        {
            "conditions": [*map(condition, ("Created", "Suspended", "Running", "Restarting")), condition("Failed")],
            "completionTime": "2026-01-01T01:00:00Z",
        },
        "failed",
    ),
    "evicted": ({"conditions": [condition("Created"), condition("Failed")]}, "failed"),
}
"""Statuses as the operators write them, each with the expected result of a workflow."""
_JOBSET = {
    "running": ({"conditions": [condition("StartupPolicyCompleted")], "restarts": 0}, "waiting"),
    "restarted": ({"restarts": 1, "conditions": [condition("Suspended", "False")]}, "waiting"),
    "suspended": ({"conditions": [condition("Suspended")]}, "waiting"),
    "succeeded": ({"conditions": [condition("Completed")], "terminalState": "Completed"}, "succeeded"),
    "failed": ({"conditions": [condition("Failed")], "terminalState": "Failed"}, "failed"),
}
STATUSES: dict[str, Any] = {
    **dict.fromkeys(("jax", "mpi", "paddle", "pytorch", "tensorflow", "xgboost"), _KUBEFLOW),
    "batch": {
        "running": ({"active": 2, "ready": 2}, "waiting"),
        "restarted": ({"active": 1, "failed": 1}, "waiting"),
        "suspended": ({"conditions": [condition("Suspended")]}, "waiting"),
        "about to fail": ({"conditions": [condition("FailureTarget")]}, "waiting"),
        "succeeded": (
            {
                "conditions": [*map(condition, ("Suspended", "SuccessCriteriaMet", "Complete"))],
                "completionTime": "2026-01-01T01:00:00Z",
            },
            "succeeded",
        ),
        "failed": ({"conditions": [condition("FailureTarget"), condition("Failed")], "failed": 1}, "failed"),
    },
    "jobset": _JOBSET,
    "train": _JOBSET,
    "ray": {
        "starting": ({"jobDeploymentStatus": "Initializing"}, "waiting"),
        "running": ({"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"}, "waiting"),
        "restarted": ({"jobDeploymentStatus": "Retrying", "jobStatus": "FAILED", "failed": 1}, "waiting"),
        "suspended": ({"jobDeploymentStatus": "Suspended", "jobStatus": ""}, "waiting"),
        "succeeded": ({"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, "succeeded"),
        "failed": ({"jobDeploymentStatus": "Failed", "jobStatus": "FAILED", "reason": "AppFailed"}, "failed"),
        "stopped": ({"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}, "failed"),
        "too long": ({"jobDeploymentStatus": "Failed", "reason": "DeadlineExceeded"}, "failed"),
    },
    "volcano": {
        "waits in a queue": ({"state": {"phase": "Pending"}, "pending": 2}, "waiting"),
        "running": ({"state": {"phase": "Running"}, "running": 2}, "waiting"),
        "restarted": ({"state": {"phase": "Restarting"}, "retryCount": 1}, "waiting"),
        "succeeded": ({"state": {"phase": "Completed"}, "succeeded": 2}, "succeeded"),
        "failed": ({"state": {"phase": "Failed"}, "failed": 1}, "failed"),
        "aborted": ({"state": {"phase": "Aborted"}}, "failed"),
        "evicted": ({"state": {"phase": "Terminated"}}, "failed"),
    },
}


def test_every_kind_has_statuses() -> None:
    assert STATUSES.keys() == {name for name, model in KINDS.items() if not model.own_fields}


@pytest.mark.parametrize(
    ("kind", "about"), [(kind, about) for kind, statuses in STATUSES.items() for about in [*statuses, "not seen"]]
)
def test_argo_reports_the_end_of_a_step(kind: str, about: str, argo: Ask) -> None:
    status, expected = {**STATUSES[kind], "not seen": ({}, "waiting")}[about]
    found = waiting(KINDS[kind].facts)
    assert found is not None
    body = {"kind": found.of.kind, "metadata": {"name": "demo"}, "spec": {}, "status": status}
    assert argo([{"object": body, "success": found.success, "failure": found.failure}]) == [{"outcome": expected}]


def test_a_bad_condition_is_found(argo: Ask) -> None:
    (answer,) = argo([{"object": {}, "success": 'status.conditions.#(type=="Failed")', "failure": "a"}])
    assert "unable to parse" in answer["error"]


TEXTS = [
    "{{workflow.name}}",
    "{{=1+1}}",
    "{{ inputs.parameters.a }}",
    "{{{{workflow.name}}}}",
    "{{{workflow.name}}}",
    "{ {workflow.name}}",
    "\\{{workflow.name}}",
    "a: {{workflow.name}}\nb: |\n  {{=workflow.name}}\n",
    '{"a": "{{workflow.name}}"}',
    "\u202e{{workflow.name}}\x85\ufeff\U000e0041",
    "'{{workflow.name}}' # comment",
    "{% raw %}{{workflow.name}}{% endraw %}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_no_value_of_a_job_becomes_a_variable(text: str, argo: Ask) -> None:
    body = {"kind": "Job", "spec": {"command": [text], text: text}}
    manifest = manifest_text(body)
    template = {"name": "a", "resource": {"action": "create", "manifest": manifest}}
    answer = argo([{"template": template, "variables": {"workflow.name": "stolen"}}])
    assert answer == [{"object": body}]
    assert manifest_body(manifest) == body


def test_a_result_becomes_a_part_of_the_object(argo: Ask, tmp_path: Path) -> None:
    repo = Repository.at(tmp_path / "repo")
    literal = "{{ '{{' }}inputs.parameters.first_best}}"
    brace = "{{ '{' }}{{ steps.first.results.best }}}}{{ '{' }}{{ run.id }}"
    repo.job(
        "kind: pipeline\nimage: a:1\ncommand: x\nsteps:\n  first: {kind: batch, results: {best: best}}\n"
        "  second:\n    kind: batch\n    needs: [first]\n"
        f'    command: [a, "--from={{{{ steps.first.results.best }}}}", "{literal}", "{brace}"]\n'
    )
    workflow = repo.one("Workflow")
    assert argo([{"workflow": workflow}]) == [{}]
    (template,) = [one for one in workflow["spec"]["templates"] if one["name"] == "second"]
    (answer,) = argo([{"template": template, "variables": {"inputs.parameters.first_best": "/data/a=b"}}])
    (container,) = answer["object"]["spec"]["template"]["spec"]["containers"]
    texts = ["a", "--from=/data/a=b", "{{inputs.parameters.first_best}}"]
    assert container["command"] == [*texts, f"{{/data/a=b}}}}{{{workflow['metadata']['name']}"]


def test_without_an_escape_it_would(argo: Ask) -> None:
    template = {"name": "a", "resource": {"manifest": json.dumps({"a": "{{workflow.name}}{{=1+1}}"})}}
    answer = argo([{"template": template, "variables": {"workflow.name": "stolen"}}])
    assert answer == [{"object": {"a": "stolen2"}}]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_passes_through_a_rendered_file(text: str, argo: Ask, tmp_path: Path) -> None:
    repo = Repository.at(tmp_path / "repo")
    repo.overlay(OVERLAY)
    literal = text.replace("{", "\0").replace("\0", "{{ '{' }}") if "{%" not in text else "x"
    step = {"kind": "batch", "env": {"TEXT": literal}, "command": "true"}
    repo.job(yaml.safe_dump({"kind": "pipeline", "image": "a:1", "steps": {"only": step}}, allow_unicode=True))
    report, code = repo.render()
    if code:
        assert {finding.code for finding in report.findings} <= {"invalid-text", "invalid-value", "control-character"}
        return
    workflow = repo.one("Workflow")
    (template,) = [one for one in workflow["spec"]["templates"] if one["name"] == "only"]
    (answer,) = argo([{"template": template, "variables": {"workflow.name": "stolen"}}])
    (container,) = answer["object"]["spec"]["template"]["spec"]["containers"]
    values = {one["name"]: one.get("value") for one in container["env"]}
    assert values["TEXT"] == (text if "{%" not in text else "x")
    assert argo([{"workflow": workflow}]) == [{}]
