"""Changes of storage that no cluster takes are refused before they are rendered."""

from __future__ import annotations

import pytest

from tests.render.write.demo import CLAIM, VOLUME
from tests.support import OVERLAY, Repository


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
    """A committed state may have been applied: reverting it is a change that no cluster accepts."""
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
