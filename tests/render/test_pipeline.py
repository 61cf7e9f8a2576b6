"""The stages of a render: their types, and the batches that pass them."""

from __future__ import annotations

import typing
from itertools import pairwise
from types import UnionType
from typing import TYPE_CHECKING, Any

from gen.base.findings import Findings
from gen.base.repository.job_files import all_jobs
from gen.overlay.read import OverlayReader
from gen.render import pipeline, stages, work
from gen.render.pipeline import AT_ONCE, STAGES, render_files
from gen.render.work import EndedRun, Inputs, RequestedFile, Work

if TYPE_CHECKING:
    import pytest

    from tests.support import Repository

JOB = "kind: batch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
SWEEP = JOB.replace("train.py", "train.py --seed {{ params.seed }}") + "sweep: {matrix: {seed: [%s]}}\n"


def results(annotation: Any) -> set[type]:
    """The types of the items that a stage returns."""
    if isinstance(annotation, UnionType):
        return set().union(*map(results, annotation.__args__))
    if typing.get_origin(annotation) is tuple:
        return set().union(*map(results, annotation.__args__))
    return set() if annotation is Ellipsis else {annotation}


def test_each_stage_takes_what_the_previous_one_returns() -> None:
    known = [typing.get_type_hints(stage, {**vars(work), "work": work}) for stage in STAGES]
    taken = [next(kind for name, kind in hints.items() if name != "return") for hints in known]
    returned = [results(hints["return"]) for hints in known]
    assert taken[0] is RequestedFile
    assert [one - {EndedRun} for one in returned] == [*({one} for one in taken[1:]), set()]
    assert len(set(taken)) == len(STAGES)
    assert all(one is not other for one, other in pairwise(taken))


def test_each_result_is_immutable_and_of_the_pipeline() -> None:
    items = [one for one in vars(work).values() if isinstance(one, type) and issubclass(one, Work)]
    items = [one for one in items if not one.__subclasses__()]
    assert all(one.__struct_config__.frozen for one in items)
    assert len(items) == len(STAGES) + 1


def stage_batches(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[int]]:
    """The numbers of items that pass a stage before another stage runs."""
    counts: dict[str, list[int]] = {stage.__name__: [] for stage in STAGES}
    last: list[str] = []

    def counted(stage: Any) -> Any:
        def call(item: object) -> object:
            if last[-1:] != [stage.__name__]:
                counts[stage.__name__].append(0)
                last.append(stage.__name__)
            counts[stage.__name__][-1] += 1
            return stage(item)

        return call

    monkeypatch.setattr(pipeline, "advance", _advance_with(tuple(map(counted, STAGES))))
    return counts


def _advance_with(counted: tuple[Any, ...]) -> Any:
    real = pipeline.advance

    def advance(batch: Any, stages: Any = counted, done: Any = lambda _: None) -> Any:
        return real(batch, stages, done)

    return advance


def render(repo: Repository, done: Any = lambda _: None) -> list[Any]:
    overlays = OverlayReader(repo.root, Findings()).read()
    return render_files(Inputs(root=repo.root, overlays=overlays), all_jobs(repo.root, Findings()), done)


def test_jobs_pass_each_stage_together(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(AT_ONCE + 2):
        repo.job(JOB, name=f"job-{number}")
    counts = stage_batches(monkeypatch)
    heard: list[int] = []
    found = render(repo, heard.append)
    assert all(len(result.rendered) == 1 for result in found)
    assert set(map(tuple, counts.values())) == {(AT_ONCE, 2)}
    assert heard[-1] == AT_ONCE + 2


def test_the_runs_of_a_long_sweep_pass_alone(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """With other jobs, they would take memory for all jobs."""
    repo.job(JOB, name="a")
    repo.job(SWEEP % ", ".join(map(str, range(40))), name="b")
    repo.job(JOB, name="c")
    counts = stage_batches(monkeypatch)
    heard: list[int] = []
    found = render(repo, heard.append)
    assert [len(result.rendered) for result in found] == [1, 40, 1]
    assert counts["model"] == [3]
    assert counts["expand"] == counts["plan"] == [1, 1, 1]
    assert counts["build"] == counts["keep"] == [1, AT_ONCE, 8, 1]
    assert heard == [0, 1, 1, 2, 3]


def test_an_item_is_no_longer_processed_after_an_error(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.job(JOB + "gpus: many\n", name="a")
    repo.job(JOB, name="b")
    counts = stage_batches(monkeypatch)
    broken, fine = render(repo)
    assert (len(broken.rendered), len(fine.rendered)) == (0, 1)
    assert [item.code for item in broken.findings] == ["invalid-value"]
    assert counts["plan"] == [2]
    assert counts["build"] == [1]


def test_every_stage_is_in_the_list() -> None:
    defined = {
        name
        for name, one in vars(stages).items()
        if getattr(one, "__module__", "") == stages.__name__ and not name.startswith("_") and name != "plan_run"
    }
    assert {stage.__name__ for stage in STAGES} == defined
