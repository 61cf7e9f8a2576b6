"""Patches of pods: every template of every kind, by role, and the training container under one name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from gen.job.kinds import KINDS
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.pods import pod_sets
from gen.kubernetes.objects import COMPONENT
from tests.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support import Repository

WITH_TEMPLATES = sorted(name for name, kind in KINDS.items() if kind.facts.pods)
STEADY = [{"name": "STEADY", "value": "1"}]


def overlay(target: Mapping[str, Any], patch: Any) -> str:
    return yaml.safe_dump({"kubernetes": "1.34", "patches": [{"target": target, "patch": patch}]})


def templates(repo: Repository, kind: str, **fields: Any) -> dict[str, Any]:
    """Pod templates of a job by role."""
    repo.job(yaml.safe_dump({"kind": kind, **KINDS[kind].example, **fields}))
    facts = KINDS[kind].facts
    (run,) = [body for body in repo.objects() if resource_of_object(body["apiVersion"], body["kind"]) is facts]
    found = [pods.template for pods in pod_sets(facts, run) if pods.template]
    return {template["metadata"]["labels"][COMPONENT]: template for template in found}


@for_each("kind", WITH_TEMPLATES)
def test_a_patch_changes_the_training_container_of_every_pod(repo: Repository, kind: str) -> None:
    repo.overlay('kubernetes: "1.34"\n')
    before = templates(repo, kind)
    repo.overlay(overlay({"pods": {}}, {"spec": {"containers": [{"name": "$training", "env": STEADY}]}}))
    after = templates(repo, kind, attempt=2)  # otherwise the run is kept
    assert before.keys() == after.keys()
    for role, template in after.items():
        containers, old = template["spec"]["containers"], before[role]["spec"]["containers"]
        assert [one["name"] for one in containers] == [one["name"] for one in old]
        assert STEADY[0] in containers[0]["env"]


@for_each("kind", WITH_TEMPLATES)
def test_operations_are_relative_to_the_template(repo: Repository, kind: str) -> None:
    operation = {"op": "add", "path": "/spec/terminationGracePeriodSeconds", "value": 77}
    repo.overlay(overlay({"pods": {}}, [operation]))
    assert {pod["spec"]["terminationGracePeriodSeconds"] for pod in templates(repo, kind).values()} == {77}


def test_only_pods_of_the_role_are_changed(repo: Repository) -> None:
    repo.overlay(overlay({"pods": {"role": "work*"}}, {"spec": {"hostname": "x"}}))
    pods = templates(repo, "pytorch", workers=3)
    assert {role: pod["spec"].get("hostname") for role, pod in pods.items()} == {"master": None, "worker": "x"}


def test_runs_without_the_role_are_left_as_they_are(repo: Repository) -> None:
    repo.overlay(overlay({"pods": {"role": "launcher"}}, {"spec": {"hostname": "x"}}))
    repo.job(yaml.safe_dump({"kind": "mpi", **KINDS["mpi"].example}), name="other")
    pods = templates(repo, "pytorch", workers=3)
    assert {role: pod["spec"].get("hostname") for role, pod in pods.items()} == {"master": None, "worker": None}
    assert "unmatched-patch" not in repo.codes()


def test_only_runs_of_the_kind_and_the_name_are_changed(repo: Repository) -> None:
    repo.overlay(overlay({"name": "demo", "pods": {"kind": "PyTorch*"}}, {"spec": {"hostname": "x"}}))
    repo.job(yaml.safe_dump({"kind": "mpi", **KINDS["mpi"].example}), name="other")
    repo.job(yaml.safe_dump({"kind": "pytorch", **KINDS["pytorch"].example}))
    named = {body["kind"]: "'hostname': 'x'" in repr(body) for body in repo.objects()}
    assert named["PyTorchJob"]
    assert not named["MPIJob"]


def test_other_objects_than_the_run_are_not_changed(repo: Repository) -> None:
    """TensorBoard is a Deployment with a pod template of its own."""
    repo.overlay(
        overlay({"pods": {}}, {"spec": {"hostname": "x"}}) + "volumes: {nas: {size: 1Gi, nfs: {server: a, path: /a}}}\n"
    )
    repo.job(
        yaml.safe_dump({"kind": "pytorch", **KINDS["pytorch"].example, "data": {"nas": "/l"}, "tensorboard": True})
    )
    assert "hostname" not in repr(repo.one("Deployment"))


def test_a_fault_is_at_the_line_of_the_patch(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\npatches:\n  - target: {pods: {}}\n    patch:\n      spec:\n        hostnam: x\n')
    repo.job(yaml.safe_dump({"kind": "pytorch", **KINDS["pytorch"].example}))
    places = {str(finding.place) for finding in repo.render()[0].findings if finding.code == "undefined-field"}
    assert places == {"overlays/dev/overlay.yaml:6:9"}
