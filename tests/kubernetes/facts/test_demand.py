"""Pods and GPUs of a run, read from its object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.commands.new import job_text
from gen.job.kinds import KINDS
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.demand import Demand, demand, step_demands
from gen.kubernetes.facts.pods import created_pods
from gen.render.run import render
from tests.cases import for_each
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Mapping

UNITS = {"": {"nvidia.com/gpu": 1}}
WITH_PODS = [kind for kind, model in KINDS.items() if not model.own_fields]
"""Kinds with pods in their own objects, not in those of their steps."""


def asked(text: str, **units: Mapping[str, int]) -> Demand:
    body = yaml.safe_load(text)
    resource = resource_of_object(body["apiVersion"], body["kind"])
    assert resource is not None
    return demand(body, resource, units)


@for_each("kind", WITH_PODS)
def test_the_demand_of_each_kind_matches_its_job(repo: Repository, kind: str) -> None:
    limited = "timeout" not in KINDS[kind].unsupported_fields()
    repo.job(job_text(kind, with_schema=False) + ("timeout: 90m\n" if limited else ""))
    assert repo.render()[1] == 0
    (text,) = [text for text in repo.rendered().values() if f"\nkind: {KINDS[kind].facts.kind}\n" in text]
    found = asked(text)
    assert (found.gpus, found.seconds) == (2, 5400 if limited else None), "two workers with one each"
    job = KINDS[kind].model_validate({**KINDS[kind].example, "kind": kind, "workers": 2})
    leading = sum(not role.trains for role in job.replica_roles("demo"))
    assert found.pods == 2 + leading, "and those that lead"


@pytest.mark.parametrize("schedule", ["", "schedule: 0 3 * * *\n"])
@for_each("kind", WITH_PODS)
def test_a_render_counts_the_pods_of_the_object_also_after_a_patch(repo: Repository, kind: str, schedule: str) -> None:
    """Quotas, plans and lists count what operators create, not what a job asks for."""
    if schedule and KINDS[kind].facts.scheduled_by is None:
        return
    aside = "{name: aside, image: 'b:1', resources: {limits: {nvidia.com/gpu: 1}}}"
    patch = f"{{target: {{pods: {{}}}}, patch: {{spec: {{containers: [{aside}]}}}}}}"
    repo.overlay(OVERLAY + ("" if KINDS[kind].facts.nodes else f"patches: [{patch}]\n"))
    repo.job(job_text(kind, with_schema=False) + schedule)
    result = render(repo.root, (), (), 1)
    assert not result.findings.failed(), result.findings.items
    texts = (file.text or "" for file in result.files.values())
    (text,) = [text for text in texts if f"\nkind: {outer(kind, schedule)}\n" in text]
    body = yaml.safe_load(text)
    resource = resource_of_object(body["apiVersion"], body["kind"])
    assert resource is not None
    found = demand(body, resource, UNITS)
    assert result.requested["dev", "team", ("gpus",)] == found.gpus
    assert result.requested["dev", "team", ("pods",)] == found.pods
    pods = list(created_pods(body, resource))
    several = [int(one["resources"]["limits"].get("nvidia.com/gpu", 0)) for pod in pods for one in pod.containers]
    assert found.gpus == sum(several)
    assert len(pods) == found.pods - resource.is_schedule * bool(resource.steps)


def outer(kind: str, schedule: str) -> str:
    """The kind of the object in Git."""
    facts = KINDS[kind].facts
    return facts.scheduled_by.kind if schedule and facts.scheduled_by is not None else facts.kind


def pod(**spec: Any) -> str:
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}
    return json.dumps({**body, "spec": {"parallelism": 2, "template": {"spec": spec}}})


def container(count: object, **more: Any) -> dict[str, Any]:
    return {"name": f"c{count}", "resources": {"limits": {"nvidia.com/gpu": count, "cpu": "8"}}, **more}


@for_each(
    ("spec", "gpus"),
    [
        ({"containers": [container(1), container("2")]}, 3),
        ({"containers": [container(1)], "initContainers": [container(4), container(2)]}, 4),
        ({"containers": [container(1)], "initContainers": [container(1, restartPolicy="Always"), container(1)]}, 2),
        ({"containers": [container(1)], "initContainers": [container(1, restartPolicy="Always"), container(4)]}, 5),
        ({"containers": [{}], "initContainers": [container(1, restartPolicy="Always")]}, 1),
        ({"containers": [{"resources": {"requests": {"nvidia.com/gpu": "1"}}}]}, 1),
        ({"containers": "none", "initContainers": [3]}, 0),
        ({}, 0),
    ],
)
def test_a_pod_counts_as_the_scheduler_counts_it(spec: dict[str, Any], gpus: int) -> None:
    assert asked(pod(**spec)).gpus == 2 * gpus


@for_each("amount", ["many", -1, {}, [1], "1e99"])
def test_an_invalid_amount_is_an_error(amount: object) -> None:
    with pytest.raises(ValueError, match=r"quantity|number|range|expected"):
        asked(pod(containers=[container(amount)]))


@pytest.mark.parametrize("spec", ["spec: 3", "spec: {pytorchReplicaSpecs: [1]}", "spec: {pytorchReplicaSpecs: {a: b}}"])
def test_malformed_specs_are_read(spec: str) -> None:
    asked(f"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: a}}\n{spec}\n")


DEVICES = [
    ({"nvidia.com/gpu": 2}, {}, 2),
    ({"nvidia.com/gpu": 1, "nvidia.com/gpumem": "3k", "nvidia.com/gpucores": 30}, {}, 1),
    ({"huawei.com/Ascend910": 8, "huawei.com/Ascend910-memory": 64}, {}, 8),
    ({"aws.amazon.com/neuroncore": 4, "vpc.amazonaws.com/efa": 8}, {}, 4),
    ({"example.com/board": 4}, {}, 0),
    ({"example.com/board": 4}, {"board": {"example.com/board": 2}}, 2),
    ({"example.com/board": 4, "nvidia.com/gpu": 1}, {"board": {"example.com/board": 2}}, 3),
]


@for_each(("limits", "units", "gpus"), DEVICES)
def test_devices_count_also_if_the_overlay_does_not_declare_them(
    limits: dict[str, Any], units: dict[str, Any], gpus: int
) -> None:
    text = pod(containers=[{"name": "main", "resources": {"limits": limits}}])
    assert asked(text, **units).gpus == 2 * gpus
    labelled = json.loads(text)
    labelled["spec"]["template"]["metadata"] = {"labels": {"gen/accelerator": "board"}}
    assert asked(json.dumps(labelled), **units).accelerators == {"board": 2 * gpus}


def test_the_steps_that_a_step_waits_for(repo: Repository) -> None:
    """Not the nodes that wait for their end and read their results."""
    repo.job(
        "kind: pipeline\nimage: a:1\ncommand: x\nsteps:\n  a: {kind: batch, results: {x: y}}\n"
        "  b: {kind: batch, needs: [a], command: 'x {{ steps.a.results.x }}'}\n"
        "  c: {kind: batch, needs: [a, b], when: ended}\n  d: {kind: batch, needs: [a], when: failed}\n"
    )
    body = repo.one("Workflow")
    kind = resource_of_object(body["apiVersion"], body["kind"])
    assert kind is not None
    known = {step.name: (step.depth, step.needs) for step in step_demands(body, kind, {})}
    assert known == {"a": (0, ()), "b": (1, ("a",)), "c": (2, ("a", "b")), "d": (1, ("a",))}
