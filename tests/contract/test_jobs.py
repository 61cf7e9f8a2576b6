"""Every field of a job changes the rendered files of every kind, or is refused; other reach needs a grant."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base.findings import Findings, Route
from gen.base.yaml.source import Source, source_of
from gen.job.kinds import KINDS
from gen.job.kinds.base import Job
from gen.job.model import Form, fields_at, form_at
from gen.overlay.overlay import selects
from gen.overlay.read import OverlayReader
from gen.render.pipeline import render_job
from gen.review.job_list import HIDDEN
from tests.cases import for_each
from tests.contract.fields import EACH, leaves, model_fields, pattern, without
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.job.plan import Plan
    from gen.kubernetes.objects import Body
    from gen.overlay.overlay import Overlay

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "jobs.yaml").read_text("utf-8"))
OVERLAY: dict[str, Any] = {
    "kubernetes": "1.34",
    "namespaces": {
        EACH: {
            "queues": ["research"],
            "priorities": ["high"],
            "serviceAccounts": ["trainer"],
            "metadata": ["example.com/*"],
            "networks": ["eni"],
            "accelerators": ["a100", "h100"],
            "volumes": ["nas", "scratch"],
            "stores": ["results", "other"],
            "nodeLabels": ["pool"],
            "taints": ["dedicated=train"],
            "registries": ["registry.example.com", "docker.io"],
            "sweepRuns": 256,
            "kfp": True,
            "search": {"maxTrials": 30, "parallelTrials": 9},
        }
    },
    "katib": {
        "trialResources": [
            *("MPIJob.v2beta1.kubeflow.org", "JAXJob.v1.kubeflow.org", "PaddleJob.v1.kubeflow.org"),
            *("JobSet.v1alpha2.jobset.x-k8s.io", "Job.v1alpha1.batch.volcano.sh"),
        ]
    },
    "volumes": {
        "nas": {"size": "10Gi", "nas": {"server": "nas.example.com", "path": "/x"}},
        "scratch": {"emptyDir": {}},
    },
    "stores": {name: {"s3": {}, "bucket": name} for name in ("results", "other")},
    "accelerators": {"a100": {"nvidia": {}}, "h100": {"nvidia": {}, "nodeLabels": {"pool": "h100"}}},
    "spot": {"nodeLabels": {"example.com/capacity": "spot"}},
    "defaults": {"accelerator": "a100"},
    "networks": {"eni": {"terway": {"version": "1.0.10"}}},
    "codeSync": {"rsyncImage": "rsync:1"},
    "pipelines": {"argo": {"serviceAccount": "gen-pipeline"}, "kfp": {"image": "tools:1"}},
    "runtimes": {"torch-distributed": {}, "jax-distributed": {}, "deepspeed-large": {"kind": "TrainingRuntime"}},
    "tensorboard": {"image": "registry.example.com/tb:1", "ingress": {"host": "tb.example.com"}},
}
BASE = {"cpu": 2, "memory": "16Gi"}
"""Fields that others need, so that each can be taken out on its own."""


@dataclass(frozen=True)
class Case:
    """Fields laid over the example of one kind."""

    kind: str
    fields: Mapping[str, Any]
    said: Mapping[str, Any]

    @property
    def document(self) -> dict[str, Any]:
        given = {"kind": self.kind, **KINDS[self.kind].example, **BASE, **copy.deepcopy(dict(self.fields))}
        return {field: value for field, value in given.items() if field not in self.said.get("instead", ())}


def roles_of(model: type[Job]) -> list[str]:
    """Roles of a kind; where authors name them, the role that every job has."""
    return ["worker"] if names_roles(model) else fields_at(model, ("roles",))


def names_roles(model: type[Job]) -> bool:
    return form_at(model, ("roles",)) is Form.KEYS


def cases_of(kind: str, model: type[Job] | None = None) -> Iterator[Case]:
    """The cases that a kind has the fields of, and those that its roles have the fields of."""
    model = model or KINDS[kind]
    known = set(fields_at(model, ()))
    for said in CASES:
        fields = said["fields"]
        roles = fields.get("roles", {})
        own = kind in said.get("kinds", ()) and names_roles(model)
        if kind in said.get("kinds", [kind]) and set(fields) <= known and (own or set(roles) <= set(roles_of(model))):
            yield Case(kind, fields, said)
        for role in roles_of(model) if "kinds" not in said else ():
            if set(fields) <= set(fields_at(model, ("roles", role))):
                yield Case(kind, {"roles": {role: fields}}, said)


EVERY = [case for kind in KINDS for case in cases_of(kind)]


def read_overlay(root: Path, document: dict[str, Any]) -> Overlay:
    repository = Repository.at(root)
    repository.overlay(yaml.safe_dump(document))
    found = Findings()
    (overlay,) = OverlayReader(root, found).read()
    assert found.items == []
    return overlay


Outcome = tuple[dict[str, str | None], Findings]


@dataclass(frozen=True, eq=False)
class Renderer:
    """Renders jobs of one overlay. Many cases only differ in the value that is taken out, so documents repeat."""

    overlay: Overlay
    _known: dict[str, Outcome] = field(default_factory=dict)

    def outcome(self, document: dict[str, Any]) -> Outcome:
        text = dump(document)
        if text not in self._known:
            self._known[text] = self._outcome(source(text))
        return self._known[text]

    def _outcome(self, given: Source) -> Outcome:
        """Objects by path, with the storage that the job uses, and findings.

        The first line does not count: it has a digest of the whole job.
        """
        found = Findings()
        if not selects(self.overlay, "team/demo", given.data):
            return {}, found
        done = render_job(given, "team", self.overlay, found)
        texts = {file.path: file.text or "" for run in done.rendered for file in run.files}
        files: dict[str, str | None] = {path: text.partition("\n")[2] for path, text in texts.items()}
        return {**files, "volumes": ",".join(name for run in done.rendered for name in run.volumes)}, found


@pytest.fixture(scope="module")
def granted(tmp_path_factory: pytest.TempPathFactory) -> Renderer:
    return Renderer(read_overlay(tmp_path_factory.mktemp("contract") / "repository", OVERLAY))


def dump(document: dict[str, Any]) -> str:
    return yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False)


def source(text: str) -> Source:
    found = Findings()
    read = source_of(text.encode(), "jobs/team/demo.yaml", found)
    assert read is not None, found
    return read


def used(case: Case, renderer: Renderer) -> dict[str, Any]:
    """The job of a case without fields of the example that the case overrides for every pod, which is refused."""
    document = case.document
    lines = {item.place.line for item in renderer.outcome(document)[1] if item.code == "no-effect"}
    if not lines:
        return document
    given = source(dump(document))
    unused = {key for key in document if given.place((key,), key=True).line in lines}
    return {key: value for key, value in document.items() if key not in unused - set(case.fields)}


def ignored(case: Case, renderer: Renderer) -> list[Route]:
    """Values of a case that neither change a file nor are refused."""
    document = used(case, renderer)
    given = source(dump(document))
    with_it, found = renderer.outcome(document)
    lines = {item.place.line for item in found if item.severity.value == "error"}
    silent = []
    for route in leaves(dict(case.fields)):
        holders = [given.place(route[:length], key=True).line for length in range(1, len(route))]
        item_of_list = isinstance(route[-1], int)
        refused = {given.place(route).line, *holders, *([given.place(route[:-1]).line] if item_of_list else [])}
        if refused & lines:
            continue
        assert not lines, f"refused for another value: {found.items}"
        without_it, _ = renderer.outcome(without(document, route))
        if without_it == with_it:
            silent.append(route)
    return silent


@pytest.mark.parametrize("kind", KINDS)
def test_no_value_is_accepted_and_ignored(kind: str, granted: Renderer) -> None:
    @for_each("case", cases_of(kind), ids=lambda case: f"{'-'.join(case.fields)}-{case.said['name']}")
    def check(case: Case) -> None:
        assert ignored(case, granted) == []

    check()


def test_every_case_names_its_grant_or_stays_within_the_job() -> None:
    assert [case["name"] for case in CASES if ("grant" in case) == (case.get("reach") == "job")] == []


Amounts = list[tuple[int, dict[str, int], int]]


def amounts(document: dict[str, Any], renderer: Renderer) -> Amounts:
    """GPUs and pods of each run, without its TensorBoard."""
    board = bool(document.get("tensorboard"))
    runs = render_job(source(dump(document)), "team", renderer.overlay, Findings()).rendered
    return [(run.gpus, run.accelerators, run.pods - board) for run in runs]


def test_no_field_that_the_list_of_jobs_leaves_out_decides_its_numbers(granted: Renderer) -> None:
    """Jobs that differ only in these fields share their numbers. The list reads `params` if an expression does.

    All fields of a case are left out together, and one by one where the others are not valid alone.
    """
    compared = set[str]()
    known: dict[str, Amounts] = {}

    def without_fields(document: dict[str, Any], fields: frozenset[str]) -> Amounts:
        rest = {name: value for name, value in document.items() if name not in fields}
        text = dump(rest)
        if text not in known:
            known[text] = amounts(rest, granted)
        return known[text]

    for case in EVERY:
        document = used(case, granted)
        hidden = frozenset(HIDDEN & set(case.fields) & set(document))
        numbers = without_fields(document, frozenset()) if hidden else []
        if not numbers:
            continue  # not valid, or nothing to leave out
        together = without_fields(document, hidden)
        for fields in [hidden] if together else [frozenset({one}) for one in sorted(hidden)]:
            if rest := without_fields(document, fields):
                assert numbers == rest, (case.kind, fields)
                compared.update(fields)
    assert HIDDEN - compared == {"params"}


def uncovered(kind: str, model: type[Job]) -> list[Route]:
    """Fields of the model of a kind that no case has a value for."""
    known = set(model_fields(model))
    values = [route for case in cases_of(kind, model) for route in leaves(dict(case.fields))]
    covered = {field for route in values if (field := pattern(route, known)) is not None}
    return sorted(known - covered - {("kind",)}, key=str)


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_has_a_case(kind: str) -> None:
    assert uncovered(kind, KINDS[kind]) == []


@pytest.mark.parametrize("said", [said for said in CASES if "grant" in said], ids=lambda said: said["name"])
def test_what_reaches_beyond_the_job_is_refused_without_its_grant(said: dict[str, Any], tmp_path: Path) -> None:
    holder = without(OVERLAY, (*said["grant"],))
    if "without" in said:
        holder = copy.deepcopy(OVERLAY)
        inner: Any = holder
        for step in said["grant"][:-1]:
            inner = inner[step]
        inner[said["grant"][-1]] = said["without"]
    renderer = Renderer(read_overlay(tmp_path / "repository", holder))
    found = [(case, renderer.outcome(case.document)[1]) for case in EVERY if case.said is said]
    assert [case for case, items in found if said["refusal"] not in {item.code for item in items}] == []


def with_scheduler() -> type[Job]:
    """A kind with an additional field that no stage uses."""
    kind = KINDS["pytorch"]

    class Extended(kind):  # type: ignore[misc,valid-type] # one of the registry
        """A kind with a field that is ignored."""

        scheduler: str | None = None

    return Extended


def test_a_field_in_the_model_alone_is_found(monkeypatch: pytest.MonkeyPatch, granted: Renderer) -> None:
    assert uncovered("pytorch", with_scheduler()) == [("scheduler",)]
    monkeypatch.setitem(KINDS, "pytorch", with_scheduler())
    case = Case("pytorch", {"scheduler": "volcano", "cpu": 5}, {"name": "scheduler"})
    assert ignored(case, Renderer(granted.overlay)) == [("scheduler",)]


def test_a_field_that_a_kind_drops_is_found(monkeypatch: pytest.MonkeyPatch, granted: Renderer) -> None:
    kind = KINDS["tensorflow"]

    class Dropping(kind):  # type: ignore[misc,valid-type] # one of the registry
        """A kind that drops the time limit."""

        def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
            body: Body = super().workload(plan, pods)
            body["runPolicy"].pop("activeDeadlineSeconds", None)
            return body

    monkeypatch.setitem(KINDS, "tensorflow", Dropping)
    (case,) = [case for case in cases_of("tensorflow") if "timeout" in case.fields]
    assert ignored(case, Renderer(granted.overlay)) == [("timeout",)]
