"""Runs with the amounts of another one are what their own files say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from gen.base import Findings
from gen.base.yaml.strict import parse, typed
from gen.overlay.read import OverlayReader
from gen.render.rendered_object import RenderedObject, generated_object, workload
from gen.render.starters import starter_of_object
from gen.render.starters.direct import Direct
from gen.review.run_versions import EqualRuns, RunVersion, version_of
from tests.cases import for_each
from tests.render.write.test_foreign import forged
from tests.support import PROJECT, copy_case

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = sorted((PROJECT / "tests/golden").glob("*/"))
PATH = "rendered/dev/jobs/team/a/job-a.yaml"
RUN = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: a-00000000
  namespace: team
spec:
  parallelism: 2
  template:
    spec:
      containers:
      - name: trainer
        image: registry.example.com/train:1
        env:
        - name: A
          value: "1"
        resources:
          limits:
            nvidia.com/gpu: "1"
"""


def runs_of(case: Path) -> list[RenderedObject]:
    files = sorted(case.glob("rendered/*/jobs/**/*.yaml"))
    objects = (generated_object(path.read_bytes(), path.relative_to(case).as_posix()) for path in files)
    return [one for one in objects if one is not None and workload(one) is not None]


def read(run: RenderedObject, overlays: Any, equal: EqualRuns | None = None) -> tuple[RunVersion, list[Any]]:
    found = Findings()
    return version_of(run, overlays, ("argocd", "flux"), found, equal), found.items


@for_each("case", GOLDEN, ids=[path.name for path in GOLDEN])
def test_a_file_without_its_uncounted_fields_has_the_same_amounts(case: Path, tmp_path: Path) -> None:
    root = copy_case(case, tmp_path / "repo").root
    overlays = {one.name: one for one in OverlayReader(root, Findings()).read()}
    equal: EqualRuns = {}
    for run in runs_of(case):
        assert read(run, overlays, equal) == read(run, overlays)
        rest, kind = run.counted, workload(run)
        assert kind is not None
        if rest and starter_of_object(kind) is Direct:
            head = run.text.partition("\nspec:\n")[0]
            body: Any = typed(parse(f"{head}\nspec:\n{rest}", "", Findings()) or {})
            assert read(replace(run, parsed=body), overlays) == read(run, overlays)


def generated(text: str) -> RenderedObject:
    one = generated_object(forged(text, "jobs/team/a.yaml").encode(), PATH)
    assert one is not None
    return one


def test_runs_of_one_form_are_read_once() -> None:
    edits = [("a-00000000", "b-11111111"), ("train:1", "train:2"), ('"1"\n        res', '"2"\n        res')]
    texts = [RUN, *(RUN.replace(*edit) for edit in edits)]
    equal: EqualRuns = {}
    versions = [read(generated(text), {}, equal)[0] for text in texts]
    assert [one.name for one in versions] == ["a-00000000", "b-11111111", "a-00000000", "a-00000000"]
    assert [(one.demand.pods, one.demand.gpus) for one in versions] == [(2, 2)] * 4
    assert len(equal) == 1


@pytest.mark.parametrize(
    ("text", "gpus"),
    [
        (RUN.replace("parallelism: 2", "parallelism: 3"), 3),
        (RUN.replace('gpu: "1"', 'gpu: "4"'), 8),
        (RUN.replace('        env:\n        - name: A\n          value: "1"\n', ""), 2),
        (RUN.replace('value: "1"\n', 'value: "1\n          "\n'), 2),
    ],
)  # fmt: skip
def test_other_amounts_are_read(text: str, gpus: int) -> None:
    equal: EqualRuns = {}
    read(generated(RUN), {}, equal)
    one = generated(text)
    assert read(one, {}, equal) == read(one, {})
    assert read(one, {}, equal)[0].demand.gpus == gpus


def test_lines_that_only_look_like_fields_of_gen_are_counted() -> None:
    flow = "containers: [\n        {image: x,\n        env:\n          [], resources: {limits: {nvidia.com/gpu: 1}}}]\n"
    text = RUN.partition("containers:")[0] + flow
    equal: EqualRuns = {}
    versions = [read(generated(text.replace("gpu: 1", f"gpu: {count}")), {}, equal)[0] for count in (1, 4)]
    assert [one.demand.gpus for one in versions] == [2, 8]
