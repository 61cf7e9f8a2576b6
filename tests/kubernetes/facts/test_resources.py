"""The facts of each kind fit the definition of its operator, and the registry holds them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.job.kinds import KINDS
from gen.kubernetes.facts import RESOURCES, RUNS, Having, resource_of, resource_of_object
from gen.kubernetes.facts.api_versions import RETIRED
from gen.kubernetes.facts.base import ANY_ITEM, ANY_KEY, Conditions, Pattern, Phase, Resource
from gen.kubernetes.facts.builtin import DATA
from gen.kubernetes.schemas.registry import Schemas, versions
from tests.cases import for_each
from tests.support import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator

Schema = dict[str, Any]
BUILT_IN = {"", "apps", "batch", "networking.k8s.io", "resource.k8s.io"}
EVERY = sorted(RESOURCES.values(), key=str)
DEFINED = [resource for resource in EVERY if resource.group not in BUILT_IN]
WITHOUT_SCHEMA = {"Experiment", "Suggestion", "Trial"}
"""The definitions of Katib accept any object."""
NOT_THERE = {"ClusterWorkflowTemplate", "Pipeline", "PipelineVersion", "RayService", "Suggestion", "Trial"}
"""Kinds without a definition in the folder."""


def definitions() -> dict[tuple[str, str], Schema]:
    """The schema of each version of each upstream definition, by API version and kind."""
    found = {}
    for path in sorted((SHARED / "crds").rglob("*.yaml")):
        spec = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)["spec"]
        for version in spec["versions"]:
            schema = version["schema"]["openAPIV3Schema"]
            found[f"{spec['group']}/{version['name']}", spec["names"]["kind"]] = schema
    return found


@pytest.fixture(scope="module")
def upstream() -> dict[tuple[str, str], Schema]:
    if not (SHARED / "crds").is_dir():
        pytest.skip("the upstream CRDs are not here")
    return definitions()


def routes(resource: Resource) -> Iterator[Pattern]:
    """Every route of a kind below `spec`, and those of its status if that has phases."""
    for pods in resource.pods:
        yield pods.template
        yield from (count.route for count in pods.counts)
    if resource.nodes is not None:
        yield from (resource.nodes.count, resource.nodes.resources)
    appends = resource.kueue.appends if resource.kueue is not None else None
    yield from (
        route
        for route in (appends, resource.suspend, resource.deadline, resource.ttl, resource.cleanup)
        if route is not None
    )
    settings = (route for group in resource.groups for route in group.settings.values())
    yield from (route for route in settings if route[0] != "metadata")
    status = resource.status
    if status is not None and not isinstance(status, Conditions):
        yield from (phase.field for phase in (*status.succeeded, *status.failed, *status.suspended))


def leads(schema: Schema, pattern: Pattern) -> bool:
    """Whether a schema has the fields of a route, with mappings and lists where the wildcards are."""
    for step in pattern:
        if step is ANY_KEY:
            inner = schema.get("additionalProperties")
        elif step is ANY_ITEM:
            inner = schema.get("items")
        else:
            inner = schema.get("properties", {}).get(step)
        if not isinstance(inner, dict):
            return False
        schema = inner
    return True


@pytest.mark.slow  # reads the definitions
@pytest.mark.parametrize("resource", DEFINED, ids=str)
def test_every_route_exists_in_the_definition(resource: Resource, upstream: dict[tuple[str, str], Schema]) -> None:
    served = [upstream.get((version, resource.kind)) for version in resource.versions]
    for schema in served:
        if schema is not None and resource.kind not in WITHOUT_SCHEMA:
            assert [route for route in routes(resource) if not leads(schema, route)] == []
    assert any(served) or resource.kind in NOT_THERE or resource.group == "kueue.x-k8s.io"


@for_each("resource", [one for one in EVERY if one.group in BUILT_IN], ids=str)
def test_every_route_exists_in_kubernetes(resource: Resource) -> None:
    schemas = Schemas(versions()[-1])
    for version in resource.versions:
        for route in routes(resource):
            schema = schemas.resolve(schemas.schema(version, resource.kind))
            for step in route:
                inner = schema["properties"][step]
                schema = schemas.resolve(inner)


@pytest.mark.slow  # reads the definitions
def test_a_wrong_route_is_found(upstream: dict[tuple[str, str], Schema]) -> None:
    schema = upstream["jobset.x-k8s.io/v1alpha2", "JobSet"]
    assert leads(schema, ("spec", "replicatedJobs", ANY_ITEM, "replicas"))
    assert not leads(schema, ("spec", "replicatedJobs", ANY_KEY, "replicas"))
    assert not leads(schema, ("spec", "activeDeadlineSeconds"))


@for_each("resource", EVERY, ids=str)
def test_facts_are_complete(resource: Resource) -> None:
    assert resource.versions
    assert not resource.versions.keys() & resource.retired.keys()
    assert set(resource.releases.values()) <= resource.versions.keys()
    for pods in resource.pods:
        for count in pods.counts:
            shared = [step for step in count.route if not isinstance(step, str)]
            places = [index for index, step in enumerate(count.route) if not isinstance(step, str)]
            assert shared == [pods.template[index] for index in places], "wildcards at the same places as the template"
    if resource.is_run:
        assert resource.status is not None
        assert resource.suspend is not None or resource.kueue is None


def test_the_registry_is_complete() -> None:
    assert len({id(resource) for resource in EVERY}) == len(EVERY)
    of_jobs = {str(model.facts) for model in KINDS.values()}
    assert {str(resource) for resource in EVERY if resource.key in RUNS} == of_jobs | {"kubeflow.org/Experiment"}
    assert [resource.kind for resource in DATA] == ["PersistentVolume", "PersistentVolumeClaim"]


def test_facts_are_looked_up_by_group_and_kind() -> None:
    assert resource_of("batch", "Job") is not resource_of("batch.volcano.sh", "Job")
    assert resource_of("example.com", "Job") is None
    assert resource_of_object("kubeflow.org/v1", "MPIJob") is resource_of_object("kubeflow.org/v2beta1", "MPIJob")
    strange: tuple[object, ...] = (None, 3, [], {})
    assert [one for one in strange if resource_of_object(one, one) is not None] == []


def test_a_set_of_kinds_follows_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    phased = Having(
        "phased", lambda resource: resource.status is not None and not isinstance(resource.status, Conditions)
    )
    assert ("ray.io", "RayJob") in phased
    assert ("kubeflow.org", "PyTorchJob") not in phased
    assert not any(strange in phased for strange in ("RayJob", None, 3))  # type: ignore[comparison-overlap]
    before = len(phased)
    status = resource_of("ray.io", "RayJob")
    assert status is not None
    late = Resource(group="example.com", kind="Late", status=status.status)
    monkeypatch.setitem(RESOURCES, late.key, late)
    assert late.key in phased
    assert len(phased) == before + 1


def test_retired_versions_of_operators_are_facts_of_their_kinds() -> None:
    assert RETIRED["kueue.x-k8s.io/v1beta1", "LocalQueue"].instead == "kueue.x-k8s.io/v1beta2"
    assert RETIRED["kueue.x-k8s.io/v1beta1", "LocalQueue"].removed is None
    assert RETIRED["xgboostjob.kubeflow.org/v1alpha1", "XGBoostJob"].removed == 0
    assert RETIRED["extensions/v1beta1", "Ingress"].removed == 22


def test_phases_and_conditions_name_different_states() -> None:
    for resource in EVERY:
        status = resource.status
        if isinstance(status, Conditions):
            states = [status.succeeded, status.failed, status.suspended]
            assert len(set(states)) == len(states)
        elif status is not None:
            phases: tuple[Phase, ...] = (*status.succeeded, *status.failed, *status.suspended)
            values = [(phase.field, value) for phase in phases for value in phase.values]
            assert len(set(values)) == len(values)
