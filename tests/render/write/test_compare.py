"""Status of files: missing, stale, hand-edited, orphaned, foreign, and data."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import Findings, Location, UsageError
from gen.render.emit import emit_file
from gen.render.results import RunResult
from gen.render.write import compare
from gen.report.findings.text import text
from gen.report.formats import REPORTERS
from tests.render.write.demo import CLAIM, JOB, RUN, VOLUME, statuses
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_what_was_rendered_is_clean_and_rendering_again_touches_nothing(rendered: Repository) -> None:
    before = {path: path.stat().st_mtime_ns for path in rendered.root.rglob("*.yaml")}
    report, code = rendered.check()
    assert (code, report.changes, report.findings) == (0, (), ())
    report, code = rendered.render()
    assert (code, report.changes) == (0, ())
    assert {path: path.stat().st_mtime_ns for path in rendered.root.rglob("*.yaml")} == before


def test_a_missing_file_is_missing(rendered: Repository) -> None:
    (rendered.root / RUN).unlink()
    report, code = rendered.check()
    assert code == 1
    assert statuses(report) == {RUN: "missing"}


def test_a_file_from_other_inputs_is_stale(rendered: Repository) -> None:
    rendered.job(JOB + "gpus: 1\n")
    report, code = rendered.check()
    assert code == 1
    assert statuses(report) == {RUN: "stale"}


def test_a_changed_file_is_hand_edited(rendered: Repository) -> None:
    path = rendered.root / RUN
    path.write_text(path.read_text().replace("replicas: 1", "replicas: 9"))
    report, code = rendered.check()
    assert code == 1
    assert statuses(report) == {RUN: "hand-edited"}
    rendered.render()
    assert "replicas: 1" in path.read_text()


def test_an_edit_of_stale_output_is_still_an_edit(rendered: Repository) -> None:
    path = rendered.root / RUN
    path.write_text(path.read_text() + "x: y\n")
    rendered.job(JOB + "gpus: 1\n")
    assert statuses(rendered.check()[0]) == {RUN: "hand-edited"}


def test_check_shows_the_difference_and_writes_nothing(rendered: Repository) -> None:
    rendered.job(JOB + "gpus: 1\n")
    before = rendered.rendered()
    assert f"--- a/{RUN}" not in text(rendered.check()[0])
    said = text(rendered.check(diff=True)[0])
    assert f"--- a/{RUN}" in said
    assert '+                nvidia.com/gpu: "1"' in said
    assert rendered.rendered() == before


def test_a_job_that_is_gone_leaves_files_that_render_removes_with_their_folders(rendered: Repository) -> None:
    rendered.job(JOB, name="other")
    rendered.render()
    (rendered.root / "jobs/team/demo.yaml").unlink()
    assert statuses(rendered.check()[0]) == {RUN: "leftover"}
    rendered.render()
    assert not (rendered.root / RUN).parent.exists()
    assert (rendered.root / RUN.replace("demo", "other")).exists()


def test_an_overlay_that_is_gone_leaves_files_too(rendered: Repository) -> None:
    rendered.overlay(OVERLAY, name="prod")
    rendered.render()
    shutil.rmtree(rendered.root / "overlays/prod")
    assert set(statuses(rendered.check()[0])) == {RUN.replace("dev", "prod")}
    report, _ = rendered.render()
    assert {finding.code for finding in report.findings} == {"unused-storage"}
    assert not (rendered.root / RUN.replace("dev", "prod")).exists()


def test_storage_that_no_job_uses_is_reported_and_stays_until_it_is_pruned(rendered: Repository) -> None:
    rendered.job(JOB.replace("data: {nas: /data}\n", ""))
    for report, code in (rendered.check(), rendered.render(), rendered.check()):
        assert [finding.place.file for finding in report.findings] == [VOLUME, CLAIM]
        assert {finding.code for finding in report.findings} == {"unused-storage"}
        assert code == (1 if report.changes and not report.done else 0)
    assert (rendered.root / VOLUME).exists()
    report, code = rendered.render(prune_storage=True)
    assert code == 0
    assert not (rendered.root / VOLUME).exists()
    assert not (rendered.root / "rendered/dev/storage").exists()


def test_a_job_that_is_gone_does_not_take_its_storage_along(rendered: Repository) -> None:
    (rendered.root / "jobs/team/demo.yaml").unlink()
    rendered.job(JOB.replace("data: {nas: /data}\n", ""), name="other")
    rendered.render()
    assert (rendered.root / CLAIM).exists()


def test_files_of_others_are_left_alone_and_are_errors(rendered: Repository) -> None:
    path = rendered.write("rendered/dev/jobs/team/demo/extra.yaml", "a: b\n")
    bundle = rendered.write("rendered/argocd/dev/app.yaml", "of: somebody else\n")
    for report, code in (rendered.check(), rendered.render()):
        assert code == 1
        assert [(f.code, f.severity.value) for f in report.findings] == [("foreign-file", "error")] * 2
    assert path.read_text() == "a: b\n"
    assert bundle.read_text() == "of: somebody else\n"


@pytest.mark.parametrize("content", [b"a: b\n", b"\xff\xfe", b"\n", b"# Generated by another\n"])
def test_a_foreign_file_in_the_place_of_ours_is_never_replaced(rendered: Repository, content: bytes) -> None:
    rendered.write(RUN, content)
    report, code = rendered.render()
    assert code == 1
    assert [finding.code for finding in report.findings] == ["foreign-file"]
    assert (rendered.root / RUN).read_bytes() == content


EDITS: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": lambda raw: raw.replace(b"\n", b"\r\n"),
    "byte order mark": lambda raw: b"\xef\xbb\xbf" + raw,
    "no UTF-8": lambda raw: raw + b"# \xff\n",
    "empty": lambda _raw: b"",
}


def first_line(raw: bytes) -> bytes:
    return raw.split(b"\n", maxsplit=1)[0]


def test_a_run_without_files_but_a_record_cannot_be_kept(rendered: Repository) -> None:
    rendered.write(RUN, first_line((rendered.root / RUN).read_bytes()))
    assert rendered.codes() == ["hand-edited"]


@pytest.mark.parametrize(
    ("path", "edit"),
    [*((path, edit) for path in (RUN, VOLUME) for edit in EDITS.values()), (VOLUME, first_line)],
)
def test_what_an_editor_git_or_a_crash_made_of_ours_is_still_ours(
    rendered: Repository, edit: Callable[[bytes], bytes], path: str
) -> None:
    original = (rendered.root / path).read_bytes()
    rendered.write(path, edit(original))
    report, code = rendered.check()
    assert (code, statuses(report), report.findings) == (1, {path: "hand-edited"}, ())
    for reporter in REPORTERS.values():
        assert reporter(report).encode()
    assert rendered.render()[1] == 0
    assert (rendered.root / path).read_bytes() == original


def test_a_narrowed_render_leaves_other_jobs_alone(rendered: Repository) -> None:
    rendered.job(JOB, name="other")
    rendered.render()
    rendered.job(JOB + "gpus: 1\n")
    rendered.job(JOB + "gpus: 1\n", name="other")
    report, _ = rendered.render("team/demo")
    assert [change.path for change in report.changes] == [RUN]
    assert statuses(rendered.check("jobs/team/other.yaml")[0]) == {RUN.replace("demo", "other"): "stale"}


def test_a_narrowed_render_removes_what_the_job_itself_no_longer_has(rendered: Repository) -> None:
    rendered.job(JOB + "tensorboard: true\n")
    rendered.render()
    rendered.job(JOB)
    report, _ = rendered.render("team/demo")
    assert {change.status.value for change in report.changes} == {"leftover"}
    assert len(report.changes) == 2


def test_nothing_is_removed_when_there_are_suddenly_no_jobs(rendered: Repository) -> None:
    (rendered.root / "jobs/team/demo.yaml").unlink()
    with pytest.raises(UsageError, match="no jobs found; refusing to remove all 1 rendered file"):
        rendered.render()
    assert (rendered.root / RUN).exists()
    rendered.render(allow_empty=True)
    assert not (rendered.root / RUN).exists()


@pytest.mark.parametrize("place", ["x.yaml", "dev/x.yaml", "gone.yaml/x"])
def test_ours_in_another_place_is_left_over(rendered: Repository, place: str) -> None:
    stray = rendered.write(f"rendered/{place}", (rendered.root / RUN).read_bytes())
    report, code = rendered.render()
    assert (code, statuses(report)) == (0, {f"rendered/{place}": "leftover"})
    assert not stray.exists()


def test_files_that_several_processes_compare_are_those_that_one_finds(tmp_path: Path) -> None:
    source = Location("jobs/team/demo.yaml")
    files = [emit_file(f"rendered/dev/jobs/team/demo/{name}.yaml", {"a": name}, source, "") for name in range(3000)]
    (tmp_path / "rendered/dev/jobs/team/demo").mkdir(parents=True)
    for number, file in enumerate(files):
        if number % 100:
            text = file.text or ""
            (tmp_path / file.path).write_text(text.replace("a:", "b:") if number % 100 == 1 else text, "utf-8")
    run = RunResult(files={file.path: file for file in files}, overlays=("dev",), jobs=1, whole=True)
    one, several = (compare(tmp_path, run, Findings(), parallel=processes) for processes in (1, 2))
    assert several == one
    assert (one.same, len(one.changes)) == (2940, 60)
    shutil.move(tmp_path / "rendered/dev/jobs/team", tmp_path / "moved")
    (tmp_path / "rendered/dev/jobs/team").symlink_to(tmp_path / "moved")
    with pytest.raises(UsageError, match="rendered/dev/jobs/team is not a regular folder"):
        compare(tmp_path, run, Findings(), parallel=2)
