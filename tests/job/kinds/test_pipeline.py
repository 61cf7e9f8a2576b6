"""Pipelines: the graph of a workflow, and the objects of its steps."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from gen.job.kinds import KINDS
from tests.cases import for_each
from tests.support import OVERLAY, Repository

TWO = """\
kind: pipeline
image: a:1
command: x
steps:
  first: {kind: batch}
  second: {kind: pytorch, needs: [first]}
"""


def step(workflow: dict[str, Any], name: str) -> dict[str, Any]:
    """The object that a step creates."""
    (template,) = [one for one in workflow["spec"]["templates"] if one["name"] == name]
    body: dict[str, Any] = json.loads(template["resource"]["manifest"])
    return body


def tasks(workflow: dict[str, Any]) -> dict[str, str]:
    """Conditions of the nodes of the graph."""
    return {task["name"]: task.get("depends", "") for task in workflow["spec"]["templates"][0]["dag"]["tasks"]}


@for_each("kind", [kind for kind, model in KINDS.items() if not model.own_fields])
def test_a_step_is_the_object_of_a_job_of_its_kind(kind: str, repo: Repository) -> None:
    fields = {**KINDS[kind].example, "env": {"A": "{{ params.a }}"}, "params": {"a": "b"}, "data": {"nas": "/data"}}
    fields = {name: value for name, value in fields.items() if name not in KINDS[kind].unsupported_fields()}
    repo.job(yaml.safe_dump({"kind": kind, **fields}))
    (alone,) = [body for body in repo.objects() if body["kind"] == KINDS[kind].facts.kind]
    repo.job(yaml.safe_dump({"kind": "pipeline", "steps": {"only": {"kind": kind, **fields}}}))
    workflow = repo.one("Workflow")
    body = step(workflow, "only")
    assert body["metadata"]["name"] == f"{workflow['metadata']['name']}-only"
    assert body["apiVersion"] == alone["apiVersion"]

    def plain(one: dict[str, Any]) -> str:
        name, run = one["metadata"]["name"], one["metadata"]["labels"]["gen/run"]
        text = json.dumps(one["spec"], sort_keys=True).replace(', "gen/step": "only"', "")
        return text.replace(name, "NAME").replace(f"demo-{run}", "NAME").replace(run, "RUN")

    assert plain(body) == plain(alone)


def test_the_conditions_of_steps(repo: Repository) -> None:
    repo.job(
        "kind: pipeline\nimage: a:1\ncommand: x\nsteps:\n"
        "  a: {kind: batch}\n  b: {kind: batch}\n"
        "  all: {kind: batch, needs: [a, b]}\n"
        "  wrong: {kind: batch, needs: [a], when: failed}\n"
        "  last: {kind: batch, needs: [a, b], when: ended}\n"
    )
    graph = tasks(repo.one("Workflow"))
    assert graph["a"] == ""
    assert graph["a-wait"] == "a.Succeeded"
    assert graph["all"] == "a-wait.Succeeded && b-wait.Succeeded"
    assert graph["wrong"] == "a.Failed || a.Errored || a-wait.Failed || a-wait.Errored"
    assert graph["last"].count("a-wait.") == graph["last"].count("b-wait.") == 5


def test_every_wait_decides_about_the_pipeline(repo: Repository) -> None:
    repo.job(TWO)
    graph = repo.one("Workflow")["spec"]["templates"][0]["dag"]
    assert graph["target"].split() == ["first-wait", "second-wait"]
    assert graph["failFast"] is False


def test_a_run_never_deletes_itself_and_owns_its_steps(repo: Repository) -> None:
    repo.job(TWO)
    workflow = repo.one("Workflow")
    assert "ttlStrategy" not in workflow["spec"]
    assert "generateName" not in workflow["metadata"]
    created = [one["resource"] for one in workflow["spec"]["templates"][1:] if one["resource"]["action"] == "create"]
    assert [one["setOwnerReference"] for one in created] == [True, True]


def names(repo: Repository) -> str:
    name: str = repo.one("Workflow")["metadata"]["name"]
    return name


@pytest.mark.parametrize(
    "more", ["labels: {a: b}\n", "annotations: {a: b}\n", "metrics: [loss]\n", "state: suspended\n"]
)
def test_what_starts_no_new_run(more: str, repo: Repository) -> None:
    repo.job(TWO)
    first = repo.one("Workflow")
    more = more.replace("[loss]", "[{name: loss}]")
    repo.job(TWO + more)
    second = repo.one("Workflow")
    assert second["metadata"]["name"] == first["metadata"]["name"]
    assert second != first
    assert second["spec"].pop("suspend", True) is True
    assert second["spec"] == first["spec"], "a live workflow is not edited"


@pytest.mark.parametrize("change", [("a:1", "a:2"), ("[first]", "[first], env: {A: b}"), ("needs: [first]", "gpus: 1")])
def test_what_starts_a_new_run(change: tuple[str, str], repo: Repository) -> None:
    repo.job(TWO)
    first = names(repo)
    repo.job(TWO.replace(*change))
    assert names(repo) != first


def test_the_order_of_steps_has_no_meaning(repo: Repository) -> None:
    repo.job(TWO)
    first = repo.one("Workflow")
    lines = TWO.splitlines()
    repo.job("\n".join([*lines[:4], lines[5], lines[4]]) + "\n")
    assert repo.one("Workflow") == first


def test_no_pod_of_a_step_has_the_account_of_the_workflow(repo: Repository) -> None:
    repo.job(TWO.replace("{kind: batch}", "{kind: batch, results: {best: best}}"))
    workflow = repo.one("Workflow")
    assert workflow["spec"]["serviceAccountName"] == "gen-pipeline"
    own = [one for one in workflow["spec"]["templates"] if "container" in one or "script" in one]
    assert [(one["name"], one["container"]["image"]) for one in own] == [
        ("first-results", "registry.example.com/tools:1")
    ], "an image of the overlay, with a script of gen"
    assert "gen-pipeline" not in json.dumps([step(workflow, name) for name in ("first", "second")])


def test_pods_of_one_step_are_no_peers_of_another(repo: Repository) -> None:
    repo.job(TWO.replace("batch", "batch, workers: 2, placement: {spread: node}"))
    workflow = repo.one("Workflow")
    (service,) = [body for body in repo.objects() if body["kind"] == "Service"]
    assert service["spec"]["selector"]["gen/step"] == "first"
    template = step(workflow, "first")["spec"]["template"]
    assert template["metadata"]["labels"]["gen/step"] == "first"
    assert '"gen/step": "first"' in json.dumps(template["spec"]["affinity"])


def test_patches_of_the_overlay_reach_steps(repo: Repository) -> None:
    patch = "- target: {kind: PyTorchJob}\n  patch: {metadata: {annotations: {patched: 'yes'}}}\n"
    repo.overlay(OVERLAY + f"patches:\n{patch}")
    repo.job(TWO)
    assert step(repo.one("Workflow"), "second")["metadata"]["annotations"] == {"patched": "yes"}
    invalid = "- target: {kind: PyTorchJob}\n  patch: {spec: {unknown: 1}}\n"
    repo.overlay(OVERLAY + f"patches:\n{invalid}")
    assert repo.codes() == ["undefined-field"]


def test_a_pipeline_with_a_sweep_has_a_workflow_for_each_value(repo: Repository) -> None:
    repo.job(TWO.replace("command: x", "command: x {{ params.lr }}") + "sweep: {matrix: {lr: [1, 2]}}\n")
    workflows = [body for body in repo.objects() if body["kind"] == "Workflow"]
    commands = [step(one, "second")["spec"]["pytorchReplicaSpecs"]["Master"] for one in workflows]
    assert sorted(one["template"]["spec"]["containers"][0]["command"][-1] for one in commands) == ["x 1", "x 2"]


def test_defaults_for_pipelines_and_for_kinds_of_steps(repo: Repository) -> None:
    repo.overlay(OVERLAY + "defaults: {timeout: 1h, kinds: {batch: {timeout: 2h}}}\n")
    repo.job(TWO)
    workflow = repo.one("Workflow")
    assert step(workflow, "first")["spec"]["activeDeadlineSeconds"] == 7200
    assert step(workflow, "second")["spec"]["runPolicy"]["activeDeadlineSeconds"] == 3600
    repo.job(TWO + "timeout: 3h\n")
    assert step(repo.one("Workflow"), "first")["spec"]["activeDeadlineSeconds"] == 10800


def test_a_declared_kind_can_be_a_step_if_its_end_is_a_phase(repo: Repository) -> None:
    job = "kind: pipeline\nimage: a:1\ncommand: x\nsteps: {only: {kind: odd}}\n"
    declared = (
        "kinds:\n  odd:\n    apiVersion: example.com/v1\n    kind: OddJob\n"
        "    pods: {worker: {template: spec.template}}\n    status: {succeeded: [Done], failed: [Broken]}\n"
    )
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "oddjobs.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "OddJob", "plural": "oddjobs"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                }
            ],
        },
    }
    repo.write("overlays/dev/crds/odd.yaml", yaml.safe_dump(definition))
    repo.overlay(OVERLAY + declared)
    repo.job(job)
    found = repo.render()[0].findings
    assert [finding.message for finding in found if finding.severity.value == "error"] == [
        "an OddJob cannot be a step: Argo Workflows has no condition for its end"
    ]
    repo.overlay(OVERLAY + declared.replace("{succeeded", "{phase: status.phase, succeeded"))
    workflow = repo.one("Workflow")
    assert workflow["spec"]["templates"][2]["resource"]["successCondition"] == "status.phase == Done"


@pytest.mark.parametrize(
    ("first", "second"),
    [("mpi", "a-launcher"), ("pytorch", "a-worker-0"), ("jobset", "a-worker-0"), ("jax", "a-worker-11")],
)
def test_a_step_cannot_have_a_name_that_an_operator_gives(repo: Repository, first: str, second: str) -> None:
    """The operator of one step and the workflow would both create this object."""
    common = {"image": "a:1", "command": "x"}
    for name, wanted in ((second, ["invalid-value"]), (f"{second}-x", [])):
        steps = {"a": {"kind": first, **common}, name: {"kind": "batch", "needs": ["a"], **common}}
        repo.job(yaml.safe_dump({"kind": "pipeline", "steps": steps}))
        assert repo.codes() == wanted, name
