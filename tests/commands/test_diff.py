"""`gen diff`: changes of a render by object."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gen.commands import diff
from gen.report.formats import DIFF_REPORTERS
from tests.processes import gen

if TYPE_CHECKING:
    from gen.report.terminal import View
    from gen.review.result import RenderedDiff
    from tests.support import Repository

JOB = """\
kind: pytorch
image: registry.example.com/train:1
command: |
  set -e
  python prepare.py
  python train.py
  python report.py
gpus: 1
timeout: 1h
"""


def compared(repo: Repository, **options: Any) -> tuple[RenderedDiff, int]:
    result = diff.run(diff.Request(root=repo.root, parallel=1, no_cache=True, **options))
    return result.output.data, result.exit_code


def text(repo: Repository) -> str:
    shown: View[RenderedDiff] = diff.run(diff.Request(root=repo.root, no_cache=True)).output
    return DIFF_REPORTERS["text"](shown)


@pytest.fixture
def rendered(repo: Repository) -> Repository:
    repo.job(JOB)
    assert repo.render()[1] == 0
    return repo


def test_without_a_difference_the_exit_code_is_0(rendered: Repository) -> None:
    found, code = compared(rendered)
    assert (found.objects, found.rewritten, found.edited, code) == ((), (), frozenset(), 0)
    assert text(rendered) == "1 job in 1 overlay: would write 0, would remove 0, 1 unchanged\n"


def test_a_changed_field_is_shown_with_its_path_and_a_long_text_as_a_diff_of_lines(rendered: Repository) -> None:
    rendered.job(JOB.replace("train.py", "train.py --lr 1").replace("train:1", "train:2"))
    assert compared(rendered)[1] == 1
    shown = text(rendered)
    lines = [line.strip() for line in shown.splitlines()]
    assert lines[0] == "replaced PyTorchJob:"
    assert lines[1].startswith("dev team/demo-")
    container = "spec.pytorchReplicaSpecs.Master.template.spec.containers[pytorch]"
    assert f"- {container}.image: registry.example.com/train:1" in lines
    assert f"+ {container}.image: registry.example.com/train:2" in lines
    at = next(index for index, line in enumerate(lines) if line.startswith(f"{container}.command["))
    difference = [line.split() for line in lines[at + 1 :]]
    assert ["-", "python", "train.py"] in difference
    assert ["+", "python", "train.py", "--lr", "1"] in difference
    assert "report.py" not in " ".join(lines[:at])


def test_a_job_that_is_new_and_one_that_is_gone_are_added_and_removed(rendered: Repository) -> None:
    (rendered.root / "jobs/team/demo.yaml").unlink()
    rendered.write("jobs/other/new.yaml", JOB.replace("pytorch", "batch"))
    actions = {(one.action.value, one.pair.object.job) for one in compared(rendered)[0].objects}
    assert actions == {("added", "new"), ("removed", "demo")}


def test_an_equal_difference_of_many_jobs_is_shown_once(rendered: Repository) -> None:
    for name in ("a", "b", "c"):
        rendered.job(JOB, name=name)
    rendered.render()
    for name in ("a", "b", "c"):
        rendered.job(JOB + "labels: {team.example.com/x: y}\n".replace("team.example.com", "example.com"), name=name)
    shown = text(rendered)
    assert shown.count("+ metadata.labels") == 1
    assert [name for name in ("team/a", "team/b", "team/c") if name not in shown] == []


def test_a_file_that_was_edited_by_hand_is_named_even_if_its_object_is_the_same(rendered: Repository) -> None:
    (path,) = (rendered.root / "rendered").rglob("*.yaml")
    assert compared(rendered)[0].findings == ()
    name = path.relative_to(rendered.root).as_posix()
    path.write_text(path.read_text("utf-8") + "# a comment\n", "utf-8")
    found, code = compared(rendered)
    assert (found.objects, found.rewritten, found.edited, code) == ((), (name,), frozenset({name}), 1)
    path.write_text(path.read_text("utf-8") + "  : [broken", "utf-8")
    found, code = compared(rendered)
    assert (found.objects, found.rewritten, found.edited, code) == ((), (name,), frozenset({name}), 1)


def test_errors_are_findings_and_nothing_is_compared(rendered: Repository) -> None:
    rendered.job(JOB + "gpu: 1\n")
    found, code = compared(rendered)
    assert ([one.code for one in found.findings], found.objects, code) == (["unknown-field"], (), 1)
    assert text(rendered).splitlines()[-1] == "1 error; nothing was compared"


def test_warnings_are_shown_behind_the_differences_and_leave_the_exit_code(rendered: Repository) -> None:
    rendered.job(JOB.replace("train:1", "train"))
    rendered.render()
    found, code = compared(rendered)
    assert ([(one.code, one.is_error) for one in found.findings], code) == ([("mutable-image", False)], 0)
    rendered.job(JOB.replace("train:1", "train").replace("train.py", "train.py --lr 1"))
    assert compared(rendered)[1] == 1
    lines = text(rendered).splitlines()
    assert lines[0] == "replaced PyTorchJob:"
    assert lines[-3].startswith("jobs/team/demo.yaml:2:8: warning: PyTorchJob team/demo, ")
    assert lines[-1].startswith("1 job in 1 overlay: would write 1")
    shown = diff.run(diff.Request(root=rendered.root, no_cache=True)).output
    (finding,) = json.loads(DIFF_REPORTERS["json"](shown))["findings"]
    assert (finding["code"], finding["severity"]) == ("mutable-image", "warning")
    assert "warning: PyTorchJob team/demo" in DIFF_REPORTERS["markdown"](shown)


def test_nothing_is_written(rendered: Repository) -> None:
    before = rendered.rendered()
    rendered.job(JOB.replace("train:1", "train:2"))
    compared(rendered)
    assert rendered.rendered() == before


def test_a_restart_shows_what_today_s_overlay_changes(rendered: Repository) -> None:
    overlay = rendered.root / "overlays/dev/overlay.yaml"
    patch = "patches:\n- target: {kind: PyTorchJob}\n  patch: |\n    spec: {runPolicy: {backoffLimit: 7}}\n"
    overlay.write_text(overlay.read_text("utf-8") + patch, "utf-8")
    assert compared(rendered)[0].objects == ()
    found, code = compared(rendered, restart=True)
    assert ([field.path for one in found.objects for field in one.fields], code) == (["spec.runPolicy.backoffLimit"], 1)


def test_json_and_markdown_have_the_same_differences(rendered: Repository) -> None:
    rendered.job(JOB.replace("train:1", "train:2"))
    document = json.loads(gen("diff", "--output", "json", "--no-cache", cwd=rendered.root).stdout)
    (change,) = document["objects"]
    (field,) = change["fields"]
    image = "registry.example.com/train:"
    assert (change["change"], field["before"], field["after"]) == ("replaced", f"{image}1", f"{image}2")
    comment = gen("diff", "--output", "markdown", "--no-cache", cwd=rendered.root).stdout
    assert comment.startswith("### `gen render` would change 1 object\n")
    assert f"containers[pytorch].image: {image}2\n" in comment
    assert "```diff\n- spec." in comment
