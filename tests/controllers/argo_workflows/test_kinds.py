"""Steps of kinds without a running operator: the executor creates the objects, and waits for their statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.controllers.argo_workflows.world import World, documented_rules
from tests.e2e.cluster import read_definitions
from tests.support import SHARED

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body
    from tests.controllers.argo_workflows.node import Node

_GROUPS = ("batch.volcano.sh", "jobset.x-k8s.io", "ray.io", "trainer.kubeflow.org")
PIPELINE = """\
kind: pipeline
image: a:1
command: train
steps:
  jobset: {kind: jobset}
  ray: {kind: ray}
  train: {kind: train}
  volcano: {kind: volcano}
  last: {kind: batch, needs: [jobset, ray, train, volcano]}
"""


@pytest.fixture(scope="module")
def kinds(node: Node) -> None:
    """The definitions of these kinds."""
    if not (SHARED / "crds").is_dir():
        pytest.skip("the definitions of other operators are missing")
    for group in _GROUPS:
        node.cluster.install(read_definitions(SHARED / "crds" / group))


def report(world: World, kind: str, group: str, status: Body) -> None:
    """Write the status of the only object of a kind, as its operator does."""
    (body,) = world.wait(lambda: list(world.objects(kind, group).values()), f"{kind} of the step")
    response = world.cluster.client.merge(f"{world.cluster.path(body)}/status", {"status": status})
    assert response.status == 200, response.message


@pytest.mark.usefixtures("kinds")
def test_steps_of_every_other_kind_with_the_documented_role(world: World) -> None:
    world.overlay("runtimes: {torch-distributed: {}}\n")
    workflow = world.render(PIPELINE)
    report(world, "RayJob", "ray.io", {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"})
    report(world, "Job", "batch.volcano.sh", {"state": {"phase": "Completed"}})
    report(world, "JobSet", "jobset.x-k8s.io", {"terminalState": "Completed", "restarts": 0})
    (training,) = world.wait(lambda: list(world.objects("TrainJob", "trainer.kubeflow.org").values()), "TrainJob")
    (template,) = world.objects("JobSet", "jobset.x-k8s.io").values()
    name = training["metadata"]["name"]
    world.node_reaches(workflow, "train", "Succeeded")
    assert world.phases(workflow)["train-wait"] == "Running", "it waits for the JobSet that the operator makes"
    metadata = {"name": name, "namespace": world.namespace}
    jobset = {"apiVersion": template["apiVersion"], "kind": "JobSet", "metadata": metadata, "spec": template["spec"]}
    world.cluster.apply(jobset)
    path = f"{world.cluster.path(jobset)}/status"
    status = {"status": {"terminalState": "Completed", "restarts": 0}}
    assert world.cluster.client.merge(path, status).status == 200
    world.succeed("last")
    world.reaches(workflow, "Succeeded")


def test_without_its_rule_a_step_is_not_created(world: World) -> None:
    world.grant([rule for rule in documented_rules() if rule["apiGroups"] != ["batch"]])
    workflow = world.render("kind: pipeline\nimage: a:1\ncommand: x\nsteps: {only: {kind: batch}}\n")
    world.reaches(workflow, "Failed", "Error")
    assert "forbidden" in world.node.output(world.namespace)
    assert world.messages() == [(workflow["metadata"]["name"], world.live(workflow)["status"]["phase"])]
