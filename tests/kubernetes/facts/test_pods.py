"""Pod templates of an object, by the facts of its kind and by shape."""

from __future__ import annotations

from typing import Any

from gen.base.routes import follow
from gen.kubernetes.facts import resource_of
from gen.kubernetes.facts.builtin import POD_LIST_KEYS
from gen.kubernetes.facts.pods import pod_sets, templates_by_shape
from gen.kubernetes.schemas.registry import schemas, versions
from tests.cases import for_each

TEMPLATE = {"spec": {"containers": [{"name": "a"}]}}


def pods(group: str, kind: str, spec: Any) -> list[tuple[tuple[str | int, ...], tuple[Any, ...]]]:
    resource = resource_of(group, kind)
    assert resource is not None
    return [(one.route, one.counts) for one in pod_sets(resource, {"spec": spec})]


def test_lists_of_pods_merge_by_the_keys_of_kubernetes() -> None:
    holders = [f"io.k8s.api.core.v1.{name}" for name in ("PodSpec", "Container")]
    fields = [schemas(version).types[name]["properties"] for version in versions() for name in holders]
    every = {name: field for one in fields for name, field in one.items()}
    keys = {name: field.get("x-kubernetes-patch-merge-key") for name, field in every.items()}
    assert {name: key for name, key in keys.items() if key} == POD_LIST_KEYS


def test_templates_in_a_map_of_roles() -> None:
    spec = {"mpiReplicaSpecs": {"Launcher": {"template": {}}, "Worker": {"replicas": 3, "template": {}}}}
    assert pods("kubeflow.org", "MPIJob", spec) == [
        (("spec", "mpiReplicaSpecs", "Launcher", "template"), (1,)),
        (("spec", "mpiReplicaSpecs", "Worker", "template"), (3,)),
    ]


def test_templates_in_a_list_of_jobs_multiply() -> None:
    job = {"replicas": 2, "template": {"spec": {"parallelism": 4, "template": {}}}}
    spec = {"replicatedJobs": [{"template": {"spec": {"template": {}}}}, job]}
    assert pods("jobset.x-k8s.io", "JobSet", spec) == [
        (("spec", "replicatedJobs", 0, "template", "spec", "template"), (1, 1)),
        (("spec", "replicatedJobs", 1, "template", "spec", "template"), (2, 4)),
    ]


def test_the_templates_of_a_runtime_are_those_of_its_job_set() -> None:
    job = {"replicas": 2, "template": {"spec": {"parallelism": 4, "template": {}}}}
    spec = {"template": {"spec": {"replicatedJobs": [job]}}}
    ((route, counts),) = pods("trainer.kubeflow.org", "ClusterTrainingRuntime", spec)
    assert route == ("spec", "template", "spec", "replicatedJobs", 0, "template", "spec", "template")
    assert counts == (2, 4)


def test_a_head_and_groups_of_workers() -> None:
    groups = [{"template": {}}, {"replicas": 3, "numOfHosts": 2, "template": {}}]
    spec = {"rayClusterSpec": {"headGroupSpec": {"template": {}}, "workerGroupSpecs": groups}}
    assert [counts for _, counts in pods("ray.io", "RayJob", spec)] == [(), (0, 1), (3, 2)]


@for_each(
    "spec",
    [
        None,
        3,
        "text",
        [],
        {"rayClusterSpec": []},
        {"rayClusterSpec": {"headGroupSpec": "x", "workerGroupSpecs": {"a": {}}}},
        {"rayClusterSpec": {"workerGroupSpecs": [None, 3, "x", [], {}]}},
    ],
)
def test_an_object_of_any_form_has_no_pods(spec: Any) -> None:
    assert pods("ray.io", "RayJob", spec) == []


def test_counts_of_any_type_are_returned_as_they_are() -> None:
    spec = {"rayClusterSpec": {"workerGroupSpecs": [{"replicas": {"a": 1}, "numOfHosts": "x", "template": None}]}}
    assert pods("ray.io", "RayJob", spec) == [
        (("spec", "rayClusterSpec", "workerGroupSpecs", 0, "template"), ({"a": 1}, "x"))
    ]


def test_templates_by_shape_at_any_depth_in_order() -> None:
    deep: Any = TEMPLATE
    for _ in range(2000):
        deep = {"a": [deep]}
    body = {"first": [[TEMPLATE]], "second": {"x": deep}, "skipped": TEMPLATE, "none": {"spec": {"containers": {}}}}
    found = [route for route, _ in templates_by_shape(body, ("spec",), frozenset({"skipped"}))]
    assert [len(route) for route in found] == [4, 4003]
    assert found[0] == ("spec", "first", 0, 0)


@for_each(
    ("route", "expected"),
    [((), {"a": [{"b": 1}]}), (("a", 0, "b"), 1), (("a", 1), None), (("a", "b"), None), (("a", 0, "b", "c"), None)],
)
def test_a_route_is_followed_as_far_as_it_goes(route: tuple[str | int, ...], expected: Any) -> None:
    assert follow({"a": [{"b": 1}]}, route) == expected
