"""Telling apart what is missing, stale, edited by hand, left over, somebody else's, and data."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from gen.diagnostics import UsageError
from gen.report.formats import REPORTERS
from gen.report.text import text
from tests.support import OVERLAY, Repository, tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.report.report import Report

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {nas: /data}\n"
RUN = "rendered/dev/jobs/team/demo/pytorchjob-demo.yaml"
VOLUME = "rendered/dev/storage/team/persistentvolume-team-nas.yaml"
CLAIM = "rendered/dev/storage/team/persistentvolumeclaim-nas.yaml"


@pytest.fixture
def rendered(repo: Repository) -> Repository:
    repo.job(JOB)
    assert repo.render()[1] == 0
    return repo


def statuses(report: Report) -> dict[str, str]:
    return {change.path: change.status.value for change in report.changes}


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


def test_a_file_that_somebody_changed_is_edited_by_hand(rendered: Repository) -> None:
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
    said = text(rendered.check()[0])
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


def test_a_run_of_which_only_the_record_is_left_cannot_be_kept(rendered: Repository) -> None:
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


def test_a_link_in_the_place_of_ours_is_never_followed(rendered: Repository) -> None:
    outside = rendered.root.parent / "outside.yaml"
    outside.write_text((rendered.root / RUN).read_text())
    (rendered.root / RUN).unlink()
    (rendered.root / RUN).symlink_to(outside)
    rendered.job(JOB + "gpus: 1\n")
    assert rendered.render()[1] == 1
    assert "gpu" not in outside.read_text()


def test_a_folder_that_is_a_link_is_refused(repo: Repository) -> None:
    repo.job(JOB)
    outside = repo.root.parent / "outside"
    outside.mkdir()
    (repo.root / "rendered").mkdir()
    (repo.root / "rendered/dev").symlink_to(outside)
    with pytest.raises(UsageError, match="rendered/dev is not a regular folder"):
        repo.render()
    assert list(outside.iterdir()) == []


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


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("nas.example.com", "other.example.com", "spec.csi.volumeAttributes.server"),
        ("size: 10Gi", "size: 5Gi", "spec.resources.requests.storage"),
        ("size: 10Gi", "size: 20Gi", "spec.resources.requests.storage"),
        ("size: 10Gi", "size: 10Gi, accessModes: [ReadWriteOnce]", "spec.accessModes"),
        (
            "nas: {server: nas.example.com, path: /training}",
            "nfs: {server: nas.example.com, path: /training}",
            "spec.csi",
        ),
    ],
)
def test_a_change_that_no_cluster_takes_is_refused(rendered: Repository, old: str, new: str, field: str) -> None:
    rendered.overlay(OVERLAY.replace(old, new))
    report, code = rendered.render()
    assert code == 1
    assert {finding.code for finding in report.findings} == {"immutable-storage"}
    assert field in report.findings[0].message
    assert str(report.findings[0].place) == "overlays/dev/overlay.yaml:13:3"
    assert "nas.example.com" in (rendered.root / VOLUME).read_text()


def test_the_hint_of_another_size_names_the_old_one(rendered: Repository) -> None:
    rendered.overlay(OVERLAY.replace("size: 10Gi", "size: 20Gi"))
    (finding,) = rendered.render()[0].findings
    assert finding.hint.startswith("keep 10Gi: ")
    rendered.overlay(OVERLAY)
    assert rendered.render()[1] == 0


def test_a_zone_can_be_added_once(rendered: Repository) -> None:
    for zone, code in (("a", 0), ("b", 1)):
        rendered.overlay(OVERLAY.replace("size: 10Gi", f"size: 10Gi, zone: {zone}"))
        assert rendered.render()[1] == code


@pytest.mark.parametrize(
    "change", [("size: 10Gi", "size: 10240Mi"), ("size: 10Gi", "size: 10Gi, mountOptions: [nolock]")]
)
def test_a_change_that_a_cluster_takes_is_rendered(rendered: Repository, change: tuple[str, str]) -> None:
    rendered.overlay(OVERLAY.replace(*change))
    assert rendered.render()[1] == 0
    assert rendered.check()[1] == 0


def test_a_claim_of_a_class_may_grow_but_not_shrink(rendered: Repository) -> None:
    provisioned = OVERLAY.replace("nas: {server: nas.example.com, path: /training}", "storageClass: fast")
    rendered.overlay(provisioned)
    assert rendered.render(prune_storage=True)[1] == 1, "the volume of the claim is immutable"
    (rendered.root / CLAIM).unlink()
    for size, code in (("10Gi", 0), ("20Gi", 0), ("5Gi", 1)):
        rendered.overlay(provisioned.replace("10Gi", size))
        assert rendered.render(prune_storage=True)[1] == code


@pytest.mark.parametrize("path", [VOLUME, CLAIM])
def test_a_storage_file_that_was_edited_by_hand_is_held_to_the_same(rendered: Repository, path: str) -> None:
    """What was committed may have been applied: taking it back is a change that no cluster takes."""
    file = rendered.root / path
    file.write_text(
        file.read_text().replace("nas.example.com", "x.example.com").replace("ReadWriteMany", "ReadOnlyMany")
    )
    edited = file.read_text()
    report, code = rendered.render()
    assert code == 1
    assert {finding.code for finding in report.findings} == {"immutable-storage"}
    assert f"revert the edit of {path}" in report.findings[0].hint
    assert file.read_text() == edited


@pytest.mark.parametrize("place", ["x.yaml", "dev/x.yaml", "gone.yaml/x"])
def test_ours_in_another_place_is_left_over(rendered: Repository, place: str) -> None:
    stray = rendered.write(f"rendered/{place}", (rendered.root / RUN).read_bytes())
    report, code = rendered.render()
    assert (code, statuses(report)) == (0, {f"rendered/{place}": "leftover"})
    assert not stray.exists()


@pytest.mark.parametrize("narrowed", [(), ("team/demo",)])
@pytest.mark.parametrize("folder", ["rendered", "rendered/dev", "rendered/dev/jobs", "rendered/dev/jobs/team/demo"])
def test_nothing_is_compared_or_removed_through_a_linked_folder(
    rendered: Repository, folder: str, narrowed: tuple[str, ...]
) -> None:
    outside = rendered.root.parent / "outside"
    (rendered.root / folder).rename(outside)
    (rendered.root / folder).symlink_to(outside)
    before = tree(outside)
    rendered.job(JOB.replace("kind: pytorch", "kind: batch"))
    for command in (rendered.check, rendered.render):
        with pytest.raises(UsageError, match=f"{folder} is not a regular folder"):
            command(*narrowed)
    assert tree(outside) == before


def test_a_file_in_the_place_of_a_folder_is_said(rendered: Repository) -> None:
    shutil.rmtree(rendered.root / "rendered/dev/jobs/team")
    rendered.write("rendered/dev/jobs/team", "a: b\n")
    with pytest.raises(UsageError, match="rendered/dev/jobs/team is not a regular folder"):
        rendered.render()


def test_a_folder_in_the_place_of_a_file_is_not_ours(rendered: Repository) -> None:
    (rendered.root / RUN).unlink()
    (rendered.root / RUN).mkdir()
    report, code = rendered.render()
    assert (code, [(f.code, f.place.file) for f in report.findings]) == (1, [("foreign-file", RUN)])
