"""A patch that matches nothing is an error of its own, and none that follows from another one."""

from __future__ import annotations

import pytest

from gen.report.findings.text import text
from tests.cases import for_each
from tests.support import OVERLAY, Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {nas: /nas}\n"


def patched(target: str, patch: str = "{metadata: {annotations: {a: b}}}") -> str:
    return OVERLAY + f"patches:\n  - target: {target}\n    patch: {patch}\n"


def test_storage_that_failed_excuses_its_patches(repo: Repository) -> None:
    """The first patch stops the storage of the overlay, so the matches of the second are unknown."""
    repo.overlay(
        patched("{kind: PersistentVolume}", "[{op: remove, path: /spec/nothing}]")
        + "  - target: {kind: PersistentVolumeClaim, name: nas}\n    patch: {metadata: {annotations: {a: b}}}\n"
        + "  - target: {kind: Service}\n    patch: {metadata: {annotations: {a: b}}}\n"
    )
    repo.job(JOB)
    assert repo.codes() == ["patch-does-not-apply", "unmatched-patch"]


@pytest.mark.parametrize("target", ["{name: other}", "{kind: TFJob}", "{namespace: other}", "{labelSelector: a=b}"])
def test_without_a_valid_job_patches_are_not_reported(repo: Repository, target: str) -> None:
    repo.overlay(patched(target))
    repo.job(JOB.replace("image", "imaeg"))
    assert "unmatched-patch" not in repo.codes()


@for_each(
    ("target", "hint"),
    [
        ("{kind: Pytorchjob}", "no object has kind `Pytorchjob`; did you mean `PyTorchJob`?"),
        ("{kind: Deploymnet}", "did you mean `Deployment`?"),
        ("{name: dmeo}", "no object is named `dmeo`; did you mean `demo`?"),
        ("{kind: PyTorchJob, name: 'x-.*'}", "patterns of `target` are not regular expressions"),
        ("{kind: TFJob}", "correct `target`, or remove the patch"),
    ],
)
def test_the_hint_suggests_the_intended_name(repo: Repository, target: str, hint: str) -> None:
    repo.overlay(patched(target))
    repo.job(JOB)
    said = text(repo.render()[0])
    assert "[unmatched-patch]" in said
    assert hint in said


SPREAD = "{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}"


def with_deletion(field: str, entry: str, before: str = "") -> str:
    """An overlay that adds something to the pods of workers, and then deletes an entry of a list."""
    patches = "".join(
        f"  - target: {{kind: PyTorchJob}}\n    patch: {patch}\n"
        for patch in (
            before,
            f"{{spec: {{pytorchReplicaSpecs: {{Worker: {{template: {{spec: {{{field}: [{entry}]}}}}}}}}}}}}",
        )
        if patch
    )
    return OVERLAY + "patches:\n" + patches


def added(field: str, value: str) -> str:
    path = f"/spec/pytorchReplicaSpecs/Worker/template/spec/{field}"
    return f"[{{op: add, path: {path}, value: {value}}}]"


TWO_WORKERS = JOB + "workers: 2\n"


@pytest.mark.parametrize(
    ("field", "entry", "before", "hint"),
    [
        ("topologySpreadConstraints", "{topologyKey: zone, $patch: delete}", SPREAD, "`whenUnsatisfiable`"),
        (
            "containers",
            "{name: pytorch, ports: [{containerPort: 53, $patch: delete}]}",
            "{containerPort: 53, protocol: UDP}",
            "`protocol`",
        ),
        ("volumes", "{name: absent, $patch: delete}", "", "correct the entry, or remove it"),
        ("securityContext", "", "", "remove"),
    ],
)
def test_a_deletion_that_matches_nothing_is_reported(
    repo: Repository, field: str, entry: str, before: str, hint: str
) -> None:
    where = {"containers": "containers/0/ports"}.get(field, field)
    overlay = with_deletion(field, entry, added(where, f"[{before}]") if before else "")
    if not entry:
        overlay = overlay.replace("[]", "{$patch: delete}")
    repo.overlay(overlay)
    repo.job(TWO_WORKERS)
    said = text(repo.render()[0])
    assert said.count(" warning: ") == 1
    assert "`$patch: delete` matches nothing in the patched objects [unmatched-directive]" in said
    assert hint in said


def test_a_deletion_has_to_match_in_one_object_only(repo: Repository) -> None:
    deletion = with_deletion("volumes", "{name: nas, $patch: delete}")
    repo.overlay(deletion.replace("containers", "containers"))
    repo.job(TWO_WORKERS)
    repo.job(TWO_WORKERS.replace("data: {nas: /nas}\n", ""), "other")
    assert "unmatched-directive" not in repo.codes()


def test_a_failed_job_excuses_a_deletion(repo: Repository) -> None:
    repo.overlay(with_deletion("volumes", "{name: absent, $patch: delete}"))
    repo.job(TWO_WORKERS)
    repo.job(TWO_WORKERS.replace("image", "imaeg"), "other")
    assert "unmatched-directive" not in repo.codes()


OF_ONE_JOB = 'kubernetes: "1.34"\npatches:\n  - target: {name: demo}\n    patch: {metadata: {labels: {a: b}}}\n'


def test_an_author_can_remove_the_last_job_of_a_patch(repo: Repository) -> None:
    repo.overlay(OF_ONE_JOB)
    repo.job(TWO_WORKERS.replace("data: {nas: /nas}\n", ""))
    repo.job(TWO_WORKERS.replace("data: {nas: /nas}\n", ""), "other")
    assert repo.codes() == []
    (repo.root / "jobs/team/demo.yaml").unlink()
    report, code = repo.render()
    assert code == 0
    assert [(item.code, item.severity.value) for item in report.findings] == [("unmatched-patch", "warning")]
    assert repo.check()[1] == 0
    strict, code = repo.check(strict=True)
    assert code == 1
    assert [(item.code, item.severity.value) for item in strict.findings] == [("unmatched-patch", "error")]


def test_strict_concerns_overlays_only(repo: Repository) -> None:
    """Warnings about jobs are advice for their authors."""
    repo.overlay('kubernetes: "1.34"\n')
    repo.job("kind: batch\nimage: registry.example.com/train\ncommand: train\n")
    assert repo.render()[0].findings
    assert repo.check(strict=True)[1] == 0
