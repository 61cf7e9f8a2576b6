"""Pipelines from their first to their last step: the objects that the executor creates with the documented Role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.controllers.waiting import give_time, wait

if TYPE_CHECKING:
    from tests.controllers.argo_workflows.world import World

PIPELINE = """\
kind: pipeline
image: registry.example.com/train:1
env: {OUT: "/data/{{ run.id }}"}
steps:
  prepare: {kind: batch, command: python prepare.py}
  train:
    kind: pytorch
    needs: [prepare]
    command: python train.py
    workers: 2
    metrics: [loss]
    results: {best: checkpoint, loss: loss}
  evaluate:
    kind: batch
    needs: [train]
    command: python evaluate.py --from {{ steps.train.results.best }} --loss {{ steps.train.results.loss }}
  report: {kind: batch, needs: [evaluate], when: failed, command: python report.py}
  clean: {kind: batch, needs: [evaluate, report], when: ended, command: python clean.py}
"""
LOG = "epoch 1 loss=0.5 checkpoint=/data/a\nepoch 2 loss=0.25 checkpoint=/data/run/3\n"


def test_steps_run_in_their_order_and_pass_results_on(world: World) -> None:
    workflow = world.render(PIPELINE)
    run = workflow["metadata"]["name"]
    world.succeed("prepare")
    pods = world.training_pods("train", 2)
    world.node.bind(next(pod for pod in pods if "master" in pod["metadata"]["name"]), LOG)
    world.kubelet.run(*pods)
    assert set(world.objects("Job", "batch")) == {f"{run}-prepare"}, "no later step starts"
    world.kubelet.succeed(*pods)
    (evaluate,) = world.succeed("evaluate")
    assert evaluate["spec"]["containers"][0]["command"][-1].endswith("--from /data/run/3 --loss 0.25")
    world.succeed("clean")
    world.reaches(workflow, "Succeeded")
    phases = world.phases(workflow)
    assert phases["report"] == "Omitted"
    assert world.messages() == [(run, "Succeeded")]
    assert set(phases.values()) <= {"Succeeded", "Omitted"}
    owner = {"kind": "Workflow", "name": run}
    for body in (*world.objects("Job", "batch").values(), *world.objects("PyTorchJob", "kubeflow.org").values()):
        (reference,) = body["metadata"]["ownerReferences"]
        assert reference.items() >= owner.items()
        assert body["metadata"]["name"].startswith(f"{run}-")
    assert all(pod["spec"].get("serviceAccountName") != "gen-pipeline" for pod in pods)
    world.delete(workflow)
    wait(lambda: not world.objects("PyTorchJob", "kubeflow.org"), "deletion of the training")
    wait(lambda: not world.objects("Job", "batch"), "deletion of the jobs")
    wait(lambda: not world.objects("Pod"), "deletion of the pods")
    give_time()
    assert not world.objects("Workflow", "argoproj.io")


FAILING = """\
kind: pipeline
image: registry.example.com/train:1
steps:
  train: {kind: pytorch, command: python train.py, retries: 0}
  other: {kind: batch, command: python other.py}
  evaluate: {kind: batch, needs: [train], command: python evaluate.py}
  report: {kind: batch, needs: [train], when: failed, command: python report.py}
"""
ONE_RETRY = """\
patches:
- target: {kind: Workflow}
  patch:
  - {op: test, path: /spec/templates/4/name, value: train-wait}
  - {op: replace, path: /spec/templates/4/retryStrategy/limit, value: "1"}
"""
"""The node would read the failed object again for five minutes."""


def test_a_failed_step_fails_the_pipeline_after_the_steps_that_handle_it(world: World) -> None:
    world.overlay(ONE_RETRY)
    workflow = world.render(FAILING)
    (pod,) = world.training_pods("train")
    world.kubelet.run(pod)
    (training,) = world.objects("PyTorchJob", "kubeflow.org").values()
    world.bench.reaches(training, "Running")
    world.kubelet.restart(pod, 1)
    world.node_reaches(workflow, "train-wait", "Failed")
    world.succeed("other")
    world.succeed("report")
    world.reaches(workflow, "Failed")
    phases = world.phases(workflow)
    assert phases["evaluate"] == "Omitted"
    assert phases["report-wait"] == phases["other-wait"] == "Succeeded"
    assert len(world.objects("PyTorchJob", "kubeflow.org")) == 1, "the training does not run again"
    assert world.messages() == [(workflow["metadata"]["name"], "Failed")]


def test_a_retried_step_and_an_evicted_waiter(world: World) -> None:
    workflow = world.render(
        "kind: pipeline\nimage: a:1\nsteps:\n  only: {kind: batch, command: x, retries: 2}\n"
        "  last: {kind: batch, command: y, needs: [only]}\n"
    )
    (first,) = world.training_pods("only")
    world.kubelet.run(first)
    world.node_reaches(workflow, "only-wait", "Running")
    (waiter,) = [pod for name, pod in world.objects("Pod").items() if "-only-wait-" in name]
    world.wait(lambda: "kubectl get" in world.node.output(world.namespace), "executor that waits")
    world.kubelet.evict(waiter)
    world.kubelet.fail(first)
    (second,) = world.training_pods("only", without=first)
    world.kubelet.run(second)
    world.kubelet.succeed(second)
    world.succeed("last")
    world.reaches(workflow, "Succeeded")
    assert len(world.objects("Job", "batch")) == 2


CHAIN = """\
kind: pipeline
image: a:1
steps:
  first: {kind: pytorch, command: x}
  second: {kind: batch, command: y, needs: [first]}
"""


def test_git_suspends_a_pipeline_before_and_between_its_steps(world: World) -> None:
    workflow = world.render(f"{CHAIN}state: suspended\n")
    give_time()
    assert not world.objects("Pod"), "no step starts"
    assert world.render(CHAIN)["metadata"]["name"] == workflow["metadata"]["name"], "the same run"
    world.training_pods("first")
    world.node_reaches(workflow, "first-wait", "Running")
    world.render(f"{CHAIN}state: suspended\n")
    world.succeed("first")
    (waiter,) = (name for name in world.objects("Pod") if "-first-wait-" in name)
    world.wait(lambda: world.objects("Pod")[waiter]["status"]["phase"] == "Succeeded", "end of the waiter")
    give_time()
    assert not world.objects("Job", "batch"), "a step that runs goes on, and no other starts"
    world.render(CHAIN)
    world.succeed("second")
    world.reaches(workflow, "Succeeded")
    uid = world.live(workflow)["metadata"]["uid"]
    world.render(f"{CHAIN}labels: {{seen: once}}\n")
    world.render(CHAIN)
    give_time()
    assert world.live(workflow)["metadata"]["uid"] == uid
    assert len(world.objects("Job", "batch")) == 1, "a finished workflow does not run again"


def test_a_pipeline_that_is_removed_while_it_runs(world: World) -> None:
    workflow = world.render(CHAIN)
    world.kubelet.run(*world.training_pods("first"))
    world.node_reaches(workflow, "first-wait", "Running")
    world.delete(workflow)
    wait(lambda: not world.objects("PyTorchJob", "kubeflow.org"), "deletion of the training")
    wait(lambda: not world.objects("Pod"), "deletion of the pods")


MPI = """\
kind: pipeline
image: a:1
steps:
  train: {kind: mpi, command: mpirun python train.py, workers: 2, results: {best: best}}
  last: {kind: batch, command: "x {{ steps.train.results.best }}", needs: [train]}
"""


@pytest.mark.usefixtures("mpi_operator")
def test_the_result_of_an_mpi_step_is_in_the_log_of_its_launcher(world: World) -> None:
    workflow = world.render(MPI)
    world.kubelet.run(*world.training_pods("train-worker", 2))
    (launcher,) = world.training_pods("train-launcher")
    world.node.bind(launcher, "best=/data/7\n")
    world.kubelet.run(launcher)
    world.kubelet.succeed(launcher)
    (last,) = world.succeed("last")
    assert last["spec"]["containers"][0]["command"][-1] == "x /data/7"
    world.reaches(workflow, "Succeeded")
