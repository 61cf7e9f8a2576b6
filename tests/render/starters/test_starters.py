"""Starters: which one starts the runs of a job, what each states, and that no other module knows any of them."""

from __future__ import annotations

import ast
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pytest
import yaml

from gen.base.findings import Findings
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import source_of
from gen.job.kinds import KINDS
from gen.job.plan import Edit
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.builtin import JOB
from gen.kubernetes.facts.demand import Demand, demand
from gen.live.diagnosis import Waiting
from gen.live.model import Phase
from gen.live.status import assess
from gen.overlay.read import OverlayReader
from gen.render import starters
from gen.render.pipeline import render_files
from gen.render.starters import STARTERS, starter_of, starter_of_object
from gen.render.starters.base import Starter
from gen.render.work import Inputs
from tests.cases import for_each
from tests.source_tree import modules, tree, walk
from tests.support import HERE, Repository, copy_case

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gen.job.plan import Plan, PodPlan
    from gen.kubernetes.facts.base import Resource
    from gen.kubernetes.objects import Body
    from gen.render.parts.context import Context

PLACE = "gen.render.starters"
OF_KINDS = "pytorch"
"""A kind with a golden case for each starter of kinds with pods."""
OWN = {"kind", "image", "roles"}
"""Fields that differ between kinds."""


@for_each(
    ("kind", "fields", "name"),
    [
        ("batch", {}, "direct"),
        ("batch", {"schedule": "0 3 * * *"}, "CronJob"),
        ("pytorch", {"schedule": "0 3 * * *"}, "CronWorkflow"),
        ("pytorch", {"search": {}}, "Experiment"),
        ("pipeline", {}, "Workflow"),
        ("pipeline", {"schedule": "0 3 * * *"}, "CronWorkflow"),
        ("pipeline", {"kfp": {}}, "Kubeflow pipeline"),
        ("pytorch", {"kfp": {}}, "direct"),  # an unknown field there
    ],
)
def test_fields_select_the_starter(kind: str, fields: dict[str, Any], name: str) -> None:
    assert starter_of(KINDS[kind], fields).name == name


def test_names_are_unique() -> None:
    assert len({starter.name for starter in STARTERS}) == len(STARTERS)


def pairs() -> list[Any]:
    """Each starter with each kind that allows it."""
    found = []
    for starter in STARTERS:
        fields: dict[str, Any] = {starter.field: {}} if starter.field else {}
        for kind, model in KINDS.items():
            if starter_of(model, fields) is starter and not fields.keys() & model.unsupported_fields().keys():
                found.append(pytest.param(starter, kind, id=f"{starter.name}-{kind}"))
    return found


def data(text: str) -> Any:
    source = source_of(text.encode(), "a.yaml", Findings())
    assert source is not None
    return source.data


@cache
def golden() -> dict[tuple[str, str], Path]:
    """A job file of the golden cases for each starter and kind."""
    found: dict[tuple[str, str], Path] = {}
    for path in sorted((HERE / "golden").glob("*/jobs/*/*.yaml")):
        job = data(path.read_text("utf-8"))
        if isinstance(job, dict) and job.get("kind") in KINDS and job.get("state", "active") == "active":
            found.setdefault((starter_of(KINDS[job["kind"]], job).name, job["kind"]), path)
    return found


@for_each(("starter", "kind"), pairs())
def test_each_starter_has_a_case_a_health_and_a_count_for_each_kind(
    starter: type[Starter], kind: str, tmp_path: Path
) -> None:
    path = golden().get((starter.name, kind)) or golden()[starter.name, OF_KINDS]
    repository = copy_case(path.parents[2], tmp_path / "repo")
    root = repository.root
    if (starter.name, kind) not in golden():  # the case of another kind, with the example of this one
        job = yaml.safe_load(path.read_text("utf-8"))
        fields = {"kind": kind, **KINDS[kind].example, **{field: job[field] for field in job if field not in OWN}}
        repository.job(yaml.safe_dump(fields), path.stem, path.parent.name)
    overlays = OverlayReader(root, Findings()).read()
    (result,) = render_files(Inputs(root=root, overlays=overlays), [JobFile(path.parent.name, path.stem)])
    assert result.rendered, result.findings
    for run in result.rendered:
        (overlay,) = (one for one in overlays if one.name == run.overlay)
        body = data(next(file.text or "" for file in run.files if file.record))
        resource = resource_of_object(body["apiVersion"], body["kind"])
        assert resource is not None
        assert starter_of_object(resource) is starter
        asked = demand(body, resource, overlay.device_units)
        at_once, a_month = starter.rate(body["spec"], asked, active=True)
        counted = asked.times(at_once)
        assert (run.gpus, dict(run.accelerators)) == (counted.gpus, dict(counted.accelerators))
        assert 0 <= run.pods - counted.pods <= 1  # a TensorBoard
        assert a_month > 0
        phase, reason, message = assess(resource, body, [], Waiting())
        assert phase is (Phase.SCHEDULED if starter.edit is Edit.IN_PLACE else Phase.PENDING)
        assert (reason, message) == ("", "")
        assert resource.status is not None or resource.known_to_engines or not starter.runs_in_git or not resource.group


class Deferred(Starter, frozen=True, kw_only=True):
    """A starter in one file."""

    name: ClassVar[str] = "deferred"
    field: ClassVar[str] = "attempt"

    @classmethod
    def plan(cls, context: Context, api_version: str, pods: Sequence[PodPlan]) -> Self:
        return cls(facts=context.job.facts, at_once=3)

    @classmethod
    def makes(cls, resource: Resource) -> bool:
        return resource is JOB

    @classmethod
    def rate(cls, spec: object, demand: Demand, *, active: bool) -> tuple[int, Fraction]:
        return 3, Fraction(1)

    def scheduled(self, workload: Body, plan: Plan) -> Body:
        metadata = {**workload["metadata"], "annotations": {"example.com/starter": f"{self.name} {plan.attempt}"}}
        return {**workload, "metadata": metadata}


def test_one_more_starter_is_a_line_in_the_registry(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.job("kind: batch\nimage: registry.example.com/train:1\ncommand: a\nworkers: 2\ngpus: 4\nattempt: 7\n")
    monkeypatch.setattr(starters, "STARTERS", (Deferred, *STARTERS))
    monkeypatch.setattr(starters, "starter_of_object", starters.starter_of_object.__wrapped__)
    overlays = OverlayReader(repo.root, Findings()).read()
    (result,) = render_files(Inputs(root=repo.root, overlays=overlays), [JobFile("team", "demo")])
    (run,) = result.rendered
    assert run.gpus == 24
    assert "example.com/starter: deferred 7" in (run.files[0].text or "")


STARTED = frozenset({"search", "schedule", "definition", "kfp", "in_workflow"})
"""Former fields of jobs and plans for the starter of their runs."""
FACTS = frozenset({"is_schedule", "is_definition", "holds"})
"""Facts of Kubernetes kinds with which starters find their objects."""
MODELS = ("gen.job", "gen.kubernetes", "gen.overlay", "gen.importers")
"""Rooms with the fields themselves, and with facts of Kubernetes."""


def concrete() -> set[str]:
    """Names of the classes in the files of starters, without the base class."""
    names = {module for module in modules() if module.startswith(f"{PLACE}.") and not module.endswith(".base")}
    return {node.name for module in names for node in walk(tree(module)) if isinstance(node, ast.ClassDef)}


@pytest.mark.slow
def test_no_other_module_has_a_condition_on_a_starter() -> None:
    classes = concrete()
    assert {starter.__name__ for starter in STARTERS} <= classes
    found = set()
    for module in modules():
        if module.startswith(PLACE):
            continue
        for node in walk(tree(module)):
            if module.startswith(MODELS):
                continue
            if isinstance(node, ast.Attribute):
                used = (node.attr in FACTS and ast.unparse(node.value) != "rules") or (
                    node.attr in STARTED
                    and isinstance(node.value, ast.Name | ast.Attribute)
                    and ast.unparse(node.value).rpartition(".")[2] in {"plan", "job", "fields", "own", "given"}
                )
                found |= {f"{module}: {ast.unparse(node)}"} if used else set()
            if isinstance(node, ast.Name) and node.id in classes:
                found.add(f"{module}: {node.id}")
            if isinstance(node, ast.Compare) and any(
                isinstance(part, ast.Attribute)
                and part.attr in {"name", "field"}
                and ast.unparse(part.value).endswith("starter")
                for part in (node.left, *node.comparators)
            ):
                found.add(f"{module}: {ast.unparse(node)}")
    assert sorted(found) == []
