"""Permissions of final objects, compared with the grants of an overlay."""

from __future__ import annotations

import pytest

from gen.base.findings import Findings
from gen.kubernetes.facts.permissions import permissions
from gen.overlay.read import OverlayReader
from gen.render.permissions import granted
from tests.history import History
from tests.support import Repository

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: fast}
spec:
  mlPolicy: {numNodes: 1, torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            template:
              spec:
                hostNetwork: true
                containers: [{name: node, image: "a:1", securityContext: {privileged: true}}]
"""
TRAIN = "kind: train\nimage: b:1\ncommand: python train.py\nruntime: fast\n"
STEPS = "kind: pipeline\nimage: b:1\nsteps: {one: {kind: train, command: python train.py, runtime: fast}}\n"
ARGO = "pipelines: {argo: {serviceAccount: gen}}\n"
OVERLAY = """\
kubernetes: "1.34"
queues: {gold: {volcano: {queue: gold, priorityClass: urgent}}}
namespaces: {team: {queues: [gold]}}
"""


def test_the_priority_of_a_queue_is_that_of_its_groups_alone(repo: Repository) -> None:
    repo.overlay(OVERLAY)
    (overlay,) = OverlayReader(repo.root, Findings()).read()
    known = granted(overlay, "team")
    assert known is not None

    def lacking(spec: dict[str, object]) -> list[str]:
        return sorted(value for one, value in permissions({"spec": spec}) if not known.has((one, value)))

    assert lacking({"queue": "gold", "priorityClassName": "urgent", "tasks": []}) == []
    assert lacking({"queue": "gold", "priorityClassName": "low"}) == ["low in queue gold"]
    assert lacking({"queue": "root", "priorityClassName": "urgent"}) == ["root", "urgent in queue root"]
    assert lacking({"schedulingPolicy": {"queue": "gold", "priorityClass": "urgent"}}) == []
    assert lacking({"schedulingPolicy": {"queue": "root", "priorityClass": "urgent"}}) == [
        "root",
        "urgent in queue root",
    ]
    pod = {"priorityClassName": "urgent", "containers": [{"name": "main"}]}
    assert lacking({"queue": "gold", "tasks": [{"template": {"spec": pod}}]}) == ["urgent"]


@pytest.mark.parametrize("job", [TRAIN, STEPS, TRAIN + "schedule: 0 3 * * *\n"])
def test_privileges_of_a_runtime_are_for_namespaces_that_name_it(history: History, job: str) -> None:
    history.write("overlays/dev/runtimes/fast.yaml", RUNTIME)
    for grant, refused in (("{}", ["hostNetwork"]), ("{runtimes: [fast]}", [])):
        history.overlay(f'kubernetes: "1.34"\nnamespaces: {{team: {grant}}}\n{ARGO}')
        history.job(job)
        found = history.render()[0].findings
        errors = [one for one in found if one.code == "not-granted"]
        assert [one.message.split("`")[3] for one in errors[:1]] == refused, found
        assert all("`namespaces.team.runtimes`" in one.hint for one in errors)
    shown = {one for one, _ in (*history.plan().permissions,)}
    assert {"hostNetwork", "privileged"} <= shown, "the plan lists them"
