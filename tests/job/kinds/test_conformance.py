"""The parts of a kind. A class, its facts, its schema and a line in `KINDS` make one; missing parts fail here."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import yaml

from gen.base.findings import BugError, Findings
from gen.base.routes import follow
from gen.base.yaml.source import source_of
from gen.commands.new import OPTIONAL, job_text, optional
from gen.job import kinds
from gen.job.kinds import KINDS
from gen.job.kinds.base import Job
from gen.job.kinds.kubeflow import KubeflowJob
from gen.job.kinds.role import Role
from gen.job.model import field_docs, reachable
from gen.job.profile import with_profiles
from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.kubeflow import JAXJOB
from gen.kubernetes.facts.pods import pod_sets
from gen.kubernetes.schemas.registry import schemas, versions
from gen.overlay.entries import GitopsFields
from gen.overlay.fields import OverlayFields
from gen.overlay.profiles.accelerators import ACCELERATORS
from gen.overlay.profiles.engines import ENGINES
from gen.overlay.profiles.networks import NETWORKS
from gen.overlay.profiles.queues import QUEUES
from gen.overlay.profiles.storage import STORAGE
from gen.overlay.profiles.stores import STORES
from gen.overlay.read import OverlayReader
from gen.render.expand import expand, run_values
from gen.render.model import read_job
from gen.render.plan import make_plan
from tests.cases import for_each
from tests.support import HERE, PROJECT, Repository

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from gen.job.plan import Plan
    from gen.kubernetes.objects import Body

EVERY = sorted(KINDS.items())


def faults(name: str, model: type[Job]) -> list[str]:
    """The missing parts of a kind."""
    found = []
    if get_args(model.model_fields["kind"].annotation) != (name,):
        found.append(f"the field `kind` is not Literal[{name!r}]")
    if not (model.__doc__ or "").strip():
        found.append("no docstring")
    for part in reachable([model]):
        missing = part.model_fields.keys() - field_docs(part).keys()
        found += [f"{part.__name__}.{field} has no description" for field in sorted(missing)]
    facts = getattr(model, "facts", None)
    if not isinstance(facts, Resource):
        return [*found, "no facts of its Kubernetes kind"]
    found += missing_facts(facts)
    found += missing_schemas(facts)
    for field in model.unsupported:
        if field not in {str(one.alias) for one in model.model_fields.values()}:
            found.append(f"`unsupported` names the unknown field `{field}`")
    if f"`kind: {name}`" not in (PROJECT / "docs/reference-job.md").read_text("utf-8"):
        found.append("not in docs/reference-job.md")
    if not any(f"kind: {name}\n" in path.read_text("utf-8") for path in HERE.glob("golden/*/jobs/*/*.yaml")):
        found.append("no golden case")
    return found


def missing_schemas(facts: Resource) -> list[str]:
    found = []
    for api_version in facts.versions:
        try:
            schemas(versions()[-1]).schema(api_version, facts.kind)
        except BugError:
            found.append(f"no schema of {api_version} {facts.kind}")
    return found


def missing_facts(facts: Resource) -> list[str]:
    """The facts that guards, rules, health checks and `gen plan` need of every kind of job."""
    parts = {
        "not registered in gen.kubernetes.facts": RESOURCES.get(facts.key) is facts,
        "not marked as a run": facts.is_run,
        "no API version": facts.versions,
        "no restart policy": all(facts.versions.values()) or facts.is_workflow,
        "no pods": facts.pods or facts.nodes or facts.is_workflow,
        "no status, which the health checks of GitOps engines need": facts.status is not None,
    }
    return [missing for missing, there in parts.items() if not there]


@for_each(("name", "model"), EVERY)
def test_a_kind_is_complete(name: str, model: type[Job]) -> None:
    assert faults(name, model) == []


class Forgetful(Job):
    facts: ClassVar[Resource] = Resource(group="example.com", kind="ForgetfulJob", versions={"example.com/v1": ()})
    unsupported: ClassVar[Mapping[str, str]] = {"retires": "a typo"}
    example: ClassVar[Mapping[str, object]] = {}

    kind: Literal["forgetful"]
    """Kind of job."""
    undescribed: str = ""

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        return (Role(name="worker", replica_type=run, replicas=1),)

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        return {"template": pods[plan.pods[0].role.name]}


def test_missing_parts_are_found() -> None:
    assert faults("forgetful", Forgetful) == [
        "no docstring",
        "Forgetful.undescribed has no description",
        "not registered in gen.kubernetes.facts",
        "not marked as a run",
        "no restart policy",
        "no pods",
        "no status, which the health checks of GitOps engines need",
        "no schema of example.com/v1 ForgetfulJob",
        "`unsupported` names the unknown field `retires`",
        "not in docs/reference-job.md",
        "no golden case",
    ]


def test_a_kind_without_facts_is_found() -> None:
    class Factless(Forgetful):
        """A kind."""

        facts: ClassVar[Resource] = None  # type: ignore[assignment]

    assert faults("forgetful", Factless)[-1] == "no facts of its Kubernetes kind"


class JAX(KubeflowJob):
    """JAX, which has a replica map like PyTorchJob."""

    facts: ClassVar[Resource] = JAXJOB
    example: ClassVar[Mapping[str, object]] = {"image": "jax:1", "command": "python train.py"}

    kind: Literal["flax"]
    """Kind of job."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        assert run
        return (Role(name="worker", replica_type="Worker", replicas=self.workers),)


def test_a_class_and_a_line_in_the_registry_make_a_kind(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(kinds.KINDS, "flax", JAX)
    repo.job(job_text("flax", with_schema=False) + "workers: 2\n")
    (body,) = repo.objects()
    assert body["spec"]["jaxReplicaSpecs"]["Worker"]["replicas"] == 2
    repo.job("kind: flxa\n")
    report, _ = repo.render()
    assert report.findings[0].hint == "did you mean `flax`?"


@for_each(("name", "model"), EVERY)
def test_a_workload_is_a_function_of_its_plan(name: str, model: type[Job], repo: Repository) -> None:
    job, plan = planned(repo, name)
    container = {"name": "c", "image": "i"}
    pods: dict[str, Any] = {one.role.name: {"metadata": {}, "spec": {"containers": [container]}} for one in plan.pods}
    before = copy.deepcopy(pods)
    first = job.workload(plan, pods)
    assert pods == before
    assert job.workload(plan, pods) == first
    assert isinstance(job, model)
    if model.facts.nodes is not None:  # its template is in the cluster
        number = follow({"spec": first}, model.facts.nodes.count)
        assert number == sum(pod.role.replicas for pod in plan.pods)
        return
    assert {pod.role.name for pod in plan.pods} == set(templates(first, pods)), "each role's template is used"
    found = [one.template for one in pod_sets(model.facts, {"spec": first})]
    assert sorted(map(id, found)) == sorted(map(id, pods.values())), "the facts lead to each template"
    counts = {id(one.template): math.prod(one.counts) for one in pod_sets(model.facts, {"spec": first})}
    replicas = {id(pods[pod.role.name]): pod.role.replicas for pod in plan.pods}
    assert counts == replicas, "the facts lead to each number of pods"


def templates(workload: Any, pods: dict[str, Any]) -> list[str]:
    """Roles of the templates in the object, once for each place."""
    here = [name for name, pod in pods.items() if workload is pod]
    parts = workload.values() if isinstance(workload, dict) else workload if isinstance(workload, list) else ()
    return here or [name for inner in parts for name in templates(inner, pods)]


def planned(repo: Repository, kind: str) -> tuple[Job, Plan]:
    found = Findings()
    source = source_of(job_text(kind, with_schema=False).encode(), "jobs/team/demo.yaml", found)
    (overlay,) = OverlayReader(repo.root, found).read()
    assert source is not None
    written = read_job(source, "team", overlay, found)
    assert written is not None
    (one,) = expand(written, run_values(written, overlay, found))
    assert one.run is not None
    plan = make_plan(one.run, overlay, found)
    assert not found.items
    assert plan is not None
    return one.run.given.job, plan


@for_each("name", list(KINDS))
def test_a_new_job_renders_as_it_is_and_with_every_option(name: str, repo: Repository) -> None:
    text = job_text(name, with_schema=False)
    repo.job(text)
    assert repo.render()[1] == 0
    written = yaml.safe_load(text)
    offered = yaml.safe_load("\n".join(line.removeprefix("# ") for line in text.splitlines() if is_option(line)))
    assert offered == optional(KINDS[name])
    options = {key: value for key, value in offered.items() if key not in ("queue", "data", "tensorboard")}
    repo.job(yaml.safe_dump({**written, **options}))
    assert repo.render()[1] == 0


def is_option(line: str) -> bool:
    """A commented field, and not a sentence: an option's first line is a field, the others are indented below it."""
    body = line.removeprefix("# ")
    return line.startswith("# ") and (body.split(":")[0] in OPTIONAL or body.startswith("  "))


def test_every_field_of_an_overlay_and_of_every_profile_is_described() -> None:
    profiles = [*STORAGE.values(), *NETWORKS.values(), *ACCELERATORS.values(), *QUEUES.values(), *STORES.values()]
    for model in reachable([OverlayFields, with_profiles(GitopsFields, ENGINES, ENGINES), *profiles]):
        assert model.model_fields.keys() - field_docs(model).keys() == set(), model.__name__
        assert (model.__doc__ or "").strip(), model.__name__


@for_each(
    "registry",
    [STORAGE, NETWORKS, ACCELERATORS, QUEUES, STORES],
    ids=["storage", "networks", "accelerators", "queues", "stores"],
)
def test_every_profile_has_a_golden_case(registry: dict[str, Any]) -> None:
    overlays = "".join(path.read_text() for path in golden_overlays())
    assert [name for name in registry if f"{name}:" not in overlays] == []


def golden_overlays() -> list[Path]:
    return [*HERE.glob("golden/*/overlays/*/overlay.yaml"), HERE / "support.py"]
