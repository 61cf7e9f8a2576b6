"""Effects of a merge on data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.history import JOB, UNRENDERED, History, branch
from tests.support import OVERLAY

if TYPE_CHECKING:
    from pathlib import Path

WITH_DATA = JOB + "data: {nas: /data}\n"


@pytest.fixture
def stored(history: History) -> History:
    history.job(WITH_DATA)
    branch(history)
    return history


def counts(history: History) -> dict[str, int]:
    return {name: count for name, count in history.report()["summary"]["data"].items() if count}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_removing_a_job_keeps_its_data(stored: History) -> None:
    (stored.root / "jobs/team/demo.yaml").unlink()
    stored.job(JOB, name="other")
    assert counts(stored) == {"kept": 2}
    assert stored.plan().refused is False


def test_new_data_is_listed(stored: History) -> None:
    stored.job(WITH_DATA, namespace="more")
    report = stored.report()
    assert [(item["action"], item["kind"], item["namespace"]) for item in report["data"]] == [
        ("added", "PersistentVolume", ""),
        ("added", "PersistentVolumeClaim", "more"),
    ]
    assert report["refused"] is False


def test_removed_data_is_an_error_unless_allowed(stored: History) -> None:
    stored.job(JOB)
    stored.rendering(prune_storage=True)
    assert counts(stored) == {"removed": 2}
    assert stored.codes() == [("data-removed", "error")] * 2
    plan = stored.plan(allow_data_removal=True)
    assert [finding.severity.value for finding in plan.findings] == ["warning"] * 2
    assert (plan.refused, stored.plan().refused) == (False, True)
    assert "2 data objects removed" in stored.report("text")


def test_a_renamed_volume_is_recognized(stored: History) -> None:
    stored.overlay(OVERLAY.replace("  nas: {", "  disk: {"))
    stored.job(WITH_DATA.replace("nas", "disk"))
    stored.rendering(prune_storage=True)
    plan = stored.plan()
    assert [finding.code for finding in plan.findings] == ["data-renamed"] * 2
    assert "`PersistentVolumeClaim team/nas` would be renamed to `disk`" in [
        f.message.split(";")[0] for f in plan.findings
    ]
    assert "copy the data" in plan.findings[0].hint


def test_shrinking_a_claim_or_volume_is_an_error(stored: History) -> None:
    for path in (stored.root / "rendered/dev/storage").rglob("*.yaml"):
        edit(path, "10Gi", "5Gi")
    plan = stored.plan()
    found = [f for f in plan.findings if f.code not in UNRENDERED]
    assert [(f.code, f.severity.value) for f in found] == [("data-shrunk", "error")] * 2
    assert all("from 10Gi to 5Gi" in f.message and "keep 10Gi" in f.hint for f in found)
    assert stored.plan(allow_data_removal=True).refused, "no option allows it"


def test_a_larger_claim_of_a_class_is_a_change(history: History) -> None:
    provisioned = OVERLAY.replace("nas: {server: nas.example.com, path: /training}", "storageClass: fast")
    history.overlay(provisioned)
    history.job(WITH_DATA)
    branch(history)
    history.overlay(provisioned.replace("10Gi", "20Gi"))
    assert counts(history) == {"changed": 1}
    assert history.codes() == []


def test_a_larger_claim_of_a_given_volume_is_an_error(stored: History) -> None:
    """The server: "only dynamically provisioned pvc can be resized"."""
    for path in (stored.root / "rendered/dev/storage").rglob("*.yaml"):
        edit(path, "10Gi", "20Gi")
    (finding,) = [f for f in stored.plan().findings if f.code not in UNRENDERED]
    assert (finding.code, finding.severity.value) == ("immutable-storage", "error")
    assert "from 10Gi to 20Gi" in finding.message
    assert finding.hint.startswith("keep 10Gi")


@pytest.mark.parametrize(
    ("start", "old", "new", "field"),
    [
        ("persistentvolume-", "nas.example.com", "other.example.com", "spec.csi.volumeAttributes.server"),
        ("persistentvolume-", "volumeHandle: team-nas", "volumeHandle: x", "spec.csi.volumeHandle"),
        ("persistentvolumeclaim-", "ReadWriteMany", "ReadOnlyMany", "spec.accessModes"),
        ("persistentvolumeclaim-", 'storageClassName: ""', "storageClassName: fast", "spec.storageClassName"),
    ],
)
def test_a_changed_immutable_field_is_an_error(stored: History, start: str, old: str, new: str, field: str) -> None:
    path = stored.file(start)
    edit(path, old, new)
    stored.git("commit", "--all", "--quiet", "--message", "so that the work tree is clean")
    (finding,) = [f for f in stored.plan().findings if f.code not in UNRENDERED]
    assert (finding.code, finding.place.file) == ("immutable-storage", path.relative_to(stored.root).as_posix())
    assert f"`{field}`" in finding.message
    assert "declare a new volume" in finding.hint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Prune=false,Delete=false", "Delete=false"),
        ("Prune=false,Delete=false", "Prune=false"),
        ("prune: disabled", "prune: enabled"),
        ("persistentVolumeReclaimPolicy: Retain", "persistentVolumeReclaimPolicy: Delete"),
    ],
)
def test_removed_protection_of_data_is_an_error(stored: History, old: str, new: str) -> None:
    edit(stored.file("persistentvolume-"), old, new)
    assert stored.codes() == [("data-unprotected", "error")]
    assert stored.codes(allow_data_removal=True) == [("data-unprotected", "warning")]


def test_moving_a_file_does_not_change_data(stored: History) -> None:
    path = stored.file("persistentvolumeclaim-")
    path.rename(path.with_name("moved.yaml"))
    plan = stored.plan()
    assert [item.action.value for item in plan.objects] == ["moved"]
    assert [item.action.value for item in plan.data] == ["kept", "kept"]
    assert [f.code for f in plan.findings] == ["foreign-file"], "gen gives the file another name"
