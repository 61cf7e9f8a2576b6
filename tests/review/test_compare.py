"""The comparison of two trees without files, Git or overlays."""

from __future__ import annotations

from pathlib import Path

from gen.base.findings import Findings
from gen.base.repository.git import Base
from gen.render.rendered_object import RenderedObject, parse_object
from gen.review.compare import compare_trees, run_scopes
from gen.review.rendered_trees import RenderedTrees

BASE = Base(Path("/nowhere"), "", "main", "0" * 40)


def manifest(kind: str, name: str, extra: str = "", overlay: str = "dev") -> RenderedObject:
    version = "batch/v1" if kind == "Job" else "v1"
    text = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: team}}\n{extra}"
    one = parse_object(text.encode(), f"rendered/{overlay}/{kind}-{name}.yaml", Findings())
    assert one is not None
    return one


def test_actions_on_objects() -> None:
    kept, removed, added = (manifest("ConfigMap", name) for name in ("kept", "removed", "added"))
    before, after = (manifest("ConfigMap", "changed", f"data: {{a: '{value}'}}\n") for value in (1, 2))
    trees = RenderedTrees([kept, before, removed], [kept, after, added])
    review = compare_trees(BASE, trees, {}, Findings())
    actions = {change.pair.object.key.name: change.action.value for change in review.objects}
    assert actions == {"changed": "changed", "removed": "removed", "added": "added"}
    assert (review.before, review.after, review.findings) == (3, 3, ())


def test_only_equal_trees_ask_whether_inputs_differ() -> None:
    one, other = manifest("ConfigMap", "a"), manifest("ConfigMap", "b")
    for after, codes in (([one], ["not-rendered"]), ([other], [])):
        found = Findings()
        compare_trees(BASE, RenderedTrees([one], after), {}, found, inputs_differ=lambda: True)
        assert [finding.code for finding in found] == codes


def test_findings_of_reading_are_part_of_the_review() -> None:
    found = Findings()
    parse_object(b"- a\n", "rendered/dev/x.yaml", found)
    assert compare_trees(BASE, RenderedTrees(), {}, found).refused


def test_overlays_with_runs_are_those_after_the_merge() -> None:
    trees = RenderedTrees(
        [manifest("Job", "a", overlay="old")], [manifest("Job", "b", overlay="new"), manifest("Pod", "c", overlay="x")]
    )
    assert run_scopes(trees.after) == {"new"}
