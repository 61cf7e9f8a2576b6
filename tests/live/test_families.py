"""Pipelines, schedules and searches against a real API server, with the objects that their controllers create.

Statuses and owners are those that `workflow/controller` of argo-workflows, `pkg/controller.v1beta1` of Katib and
`pkg/controller/cronjob` of Kubernetes write.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.graphs import graph_of
from tests.live.node import NODE, Node, node
from tests.live.test_retire import file_of
from tests.live.world import RUNNING, World, waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

    Make = Callable[[str], World]

STEPS = """\
kind: pipeline
image: registry.example.com/train:1
command: python train.py
steps:
  prepare: {kind: pytorch, timeout: 1h}
  train: {kind: pytorch, needs: [prepare], workers: 2, gpus: 1, timeout: 1h}
  check: {kind: jobset, needs: [train]}
"""
SEARCH = """\
kind: pytorch
image: registry.example.com/train:1
command: python train.py --lr {{ params.lr }}
timeout: 1h
metrics: [{name: loss}]
search: {minimize: loss, params: {lr: {min: 1e-5, max: 0.1}}, maxTrials: 12}
"""


@pytest.fixture
def kubelet(server: Cluster) -> Iterator[Node]:
    with node(server, server.client.authority) as made:
        yield made


def applied(here: World, text: str) -> Body:
    here.repository.job(text, "demo", here.namespace)
    report, code = here.repository.render()
    assert code == 0, report
    (run,) = here.rendered()
    return here.cluster.apply(run)


def steps_of(workflow: Body) -> dict[str, Body]:
    facts = resource_of_object(workflow["apiVersion"], workflow["kind"])
    assert facts is not None
    bodies = list(graph_of(facts).objects(workflow))
    return {body["metadata"]["labels"].get("gen/step", ""): body for body in bodies}


def without_subresource(here: World, body: Body, status: Body) -> None:
    """The definition of Argo's workflows has no subresource for the status."""
    response = here.cluster.client.merge(here.cluster.path(body), {"status": status})
    assert response.status == 200, response.message


def names(rows: dict[str, dict[str, Any]]) -> dict[str, tuple[str, str | None, str | None]]:
    return {name: (row["phase"], row["git"], row["step"]) for name, row in rows.items()}


def test_a_pipeline_from_its_first_step_to_its_failure(world: Make) -> None:
    here = world("pipe")
    workflow = applied(here, STEPS)
    name = workflow["metadata"]["name"]
    steps = steps_of(workflow)
    without_subresource(here, workflow, {"phase": "Running", "startedAt": "2026-01-01T00:00:00Z", "progress": "0/6"})
    prepare = here.started(workflow, steps["prepare"])
    assert names(here.runs("pipe/demo")) == {
        name: ("pending", "active", None),
        f"{name}-prepare": ("pending", "pipeline", "prepare"),
    }
    assert here.code == 0
    here.ends(prepare, "Succeeded")
    train = here.started(workflow, steps["train"])
    here.pod(train, "master", 0, RUNNING)
    here.pod(train, "worker", 0, waiting("ImagePullBackOff", "no such image"))
    rows = here.runs()
    assert [row["phase"] for row in rows.values()] == ["running", "succeeded", "running"]
    assert (rows[name]["pods"]["running"], rows[f"{name}-train"]["pods"]) == (1, {"running": 1, "total": 2})
    assert rows[f"{name}-prepare"]["pods"]["running"] == 0, "its pods are not those of the other step"
    assert rows[name]["progress"] == {"done": 1, "total": 3, "unit": "step"}
    assert (rows[name]["reason"], rows[name]["message"]) == (
        "ImagePullBackOff",
        f"train: {name}-train-worker-0: no such image",
    )
    assert rows[f"{name}-train"]["file"] == "jobs/pipe/demo.yaml"
    text = here.gen("status")
    assert "ImagePullBackOff, 1/3 steps" in text
    assert "not in Git" not in text

    here.ends(train, "Failed", "out of memory")
    without_subresource(here, workflow, {"phase": "Failed", "message": "child 'x' failed"})
    rows = here.runs()
    assert (rows[name]["phase"], rows[name]["reason"], rows[name]["message"]) == (
        "failed",
        "RunFailed",
        "train: out of memory",
    )
    assert here.code == 1
    assert f"{name} failed in dev" in here.gen("retire")
    assert "\nstate: finished\n" in file_of(here)


def test_a_step_that_waits_in_a_queue(world: Make) -> None:
    here = world("pipe-queue")
    workflow = applied(here, STEPS.replace("gpus: 1", "gpus: 1, queue: research"))
    steps = steps_of(workflow)
    here.ends(here.started(workflow, steps["prepare"]), "Succeeded")
    train = here.started(workflow, steps["train"])
    policy = {"spec": {"runPolicy": {"suspend": True}}}
    assert here.cluster.client.merge(here.cluster.path(train), policy).status == 200
    rows = here.runs()
    head, step = rows[workflow["metadata"]["name"]], rows[train["metadata"]["name"]]
    assert (step["phase"], head["phase"], head["queue"]) == ("queued", "queued", "research")


def test_pods_of_a_step_with_an_object_between_operator_and_pods(world: Make) -> None:
    here = world("pipe-jobset")
    workflow = applied(here, STEPS)
    check = here.started(workflow, steps_of(workflow)["check"])
    pod = here.pod(check, "worker", 0, RUNNING)
    labels = {"jobset.sigs.k8s.io/jobset-name": check["metadata"]["name"], "training.kubeflow.org/job-name": None}
    assert here.cluster.client.merge(here.cluster.path(pod), {"metadata": {"labels": labels}}).status == 200
    assert here.runs()[check["metadata"]["name"]]["pods"]["running"] == 1


def test_steps_of_a_pipeline_that_git_does_not_have(world: Make) -> None:
    here = world("pipe-orphan")
    workflow = applied(here, STEPS)
    here.started(workflow, steps_of(workflow)["prepare"])
    (here.repository.root / "jobs/pipe-orphan/demo.yaml").unlink()
    here.repository.render()
    assert [row["git"] for row in here.runs().values()] == [None, "pipeline"]
    assert here.code == 1


def test_owners_that_own_each_other(world: Make) -> None:
    here = world("pipe-circle")
    run = here.job("first")
    other = here.started(run, here.job("second", apply=False))
    owner = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "controller": True}
    circle = [{**owner, "name": other["metadata"]["name"], "uid": here.live(other)["metadata"]["uid"]}]
    path = here.cluster.path(run)
    assert here.cluster.client.merge(path, {"metadata": {"ownerReferences": circle}}).status == 200
    assert "second" in here.gen("status")


def test_logs_name_the_step(world: Make, kubelet: Node) -> None:
    here = world("pipe-logs")
    workflow = applied(here, STEPS)
    steps = steps_of(workflow)
    for second, step in enumerate(("prepare", "train")):
        body = here.started(workflow, steps[step])
        pod = here.pod(body, "master", 0, RUNNING, nodeName=NODE)
        kubelet.log(pod["metadata"]["name"], (second, f"hello from {step}"))
    assert here.gen("logs", "pipe-logs/demo") == (
        "prepare/master-0 hello from prepare\ntrain/master-0 hello from train\n"
    )
    assert here.gen("logs", "pipe-logs/demo", "--step", "train") == "train/master-0 hello from train\n"
    (line,) = here.gen("logs", "pipe-logs/demo", "--step", "train", "--output", "json").splitlines()
    assert json.loads(line)["part"] == "train"
    name = steps["prepare"]["metadata"]["name"]
    assert here.gen("logs", "pipe-logs/demo", "--run", name).endswith("hello from prepare\n")


def test_a_schedule_of_training_is_followed_by_its_workflows_and_their_runs(world: Make, kubelet: Node) -> None:
    here = world("cronflow")
    cron = applied(here, 'kind: pytorch\nimage: a:1\ncommand: run\ntimeout: 1h\nschedule: "0 3 * * *"\n')
    assert cron["kind"] == "CronWorkflow"
    spec = cron["spec"]
    for number in (1, 2):
        flow = {
            "apiVersion": cron["apiVersion"],
            "kind": "Workflow",
            "metadata": {**spec["workflowMetadata"], "name": f"demo-{number}"},
            "spec": spec["workflowSpec"],
        }
        workflow = here.started(cron, flow)
        (body,) = steps_of(workflow).values()
        run = json.loads(json.dumps(body).replace("{{workflow.name}}", f"demo-{number}"))
        live = here.started(workflow, run)
        pod = here.pod(live, "master", 0, RUNNING, nodeName=NODE)
        kubelet.log(pod["metadata"]["name"], (number, f"night {number}"))
    here.ends(live, "Succeeded")
    rows = here.answer("cronflow/demo")["runs"]
    assert [(row["kind"], row["run"], row["git"], row["phase"]) for row in rows] == [
        ("CronWorkflow", "demo", "active", "scheduled"),
        ("Workflow", "demo-1", "schedule", "running"),
        ("PyTorchJob", "demo-1", "schedule", "running"),
        ("Workflow", "demo-2", "schedule", "running"),
        ("PyTorchJob", "demo-2", "schedule", "succeeded"),
    ]
    assert [row["pods"]["running"] for row in rows[1:3]] == [1, 1], "not those of the other run"
    assert here.code == 0
    assert here.gen("logs", "cronflow/demo") == "demo-1/master-0 night 1\ndemo-2/master-0 night 2\n"
    assert here.gen("logs", "cronflow/demo", "--run", "demo-2") == "demo-2/master-0 night 2\n"

    error = {"type": "SubmissionError", "status": "True", "message": "template main is invalid"}
    without_subresource(here, cron, {"conditions": [error], "phase": "Active"})
    row = here.runs("cronflow/demo")["demo"]
    assert (row["phase"], row["reason"], row["message"]) == ("scheduled", "SubmissionError", error["message"])


def test_a_search_with_its_trials(world: Make, kubelet: Node) -> None:
    here = world("search")
    experiment = applied(here, SEARCH)
    name = experiment["metadata"]["name"]
    trial = {"apiVersion": "kubeflow.org/v1beta1", "kind": "Trial", "metadata": {"name": f"{name}-aaaa", "uid": "t-1"}}
    for number, status in (("aaaa", RUNNING), ("bbbb", RUNNING)):
        body = {**experiment["spec"]["trialTemplate"]["trialSpec"]}
        live = here.started(trial, body, name=f"{name}-{number}")
        pod = here.pod(live, "master", 0, status, nodeName=NODE)
        kubelet.log(pod["metadata"]["name"], (1, f"loss=1 of {number}"))
    here.ends(live, "Failed")
    here.status(
        experiment, {"conditions": [], "trials": 4, "trialsSucceeded": 1, "trialsFailed": 1, "trialsRunning": 2}
    )
    rows = here.runs("search/demo")
    assert names(rows) == {
        name: ("running", "active", None),
        f"{name}-aaaa": ("running", "search", None),
        f"{name}-bbbb": ("failed", "search", None),
    }
    assert rows[name]["progress"] == {"done": 2, "total": 12, "unit": "trial"}
    assert here.code == 0, "a search goes on after a failed trial"
    assert here.gen("logs", "search/demo", "--run", f"{name}-aaaa").endswith("loss=1 of aaaa\n")
    done = {"lastTransitionTime": "2026-01-01T00:00:00Z", "lastUpdateTime": "2026-01-01T00:00:00Z"}
    here.status(experiment, {"conditions": [{"type": "Succeeded", "status": "True", "reason": "GoalReached", **done}]})
    assert "Retire search/demo" in here.gen("retire")
    assert "\nstate: finished\n" in file_of(here)
