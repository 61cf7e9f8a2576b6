"""A patch that matches nothing is an error of its own, and none that follows from another one."""

from __future__ import annotations

import pytest

from gen.report.text import text
from tests.support import OVERLAY, Repository

JOB = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\ndata: {nas: /nas}\n"


def patched(target: str, patch: str = "{metadata: {annotations: {a: b}}}") -> str:
    return OVERLAY + f"patches:\n  - target: {target}\n    patch: {patch}\n"


def test_storage_that_failed_excuses_its_patches(repo: Repository) -> None:
    """The first patch stops the storage of the overlay, so it cannot be told what the second would have matched."""
    repo.overlay(
        patched("{kind: PersistentVolume}", "[{op: remove, path: /spec/nothing}]")
        + "  - target: {kind: PersistentVolumeClaim, name: nas}\n    patch: {metadata: {annotations: {a: b}}}\n"
        + "  - target: {kind: Service}\n    patch: {metadata: {annotations: {a: b}}}\n"
    )
    repo.job(JOB)
    assert repo.codes() == ["patch-does-not-apply", "unmatched-patch"]


@pytest.mark.parametrize("target", ["{name: other}", "{kind: TFJob}", "{namespace: other}", "{labelSelector: a=b}"])
def test_when_every_job_failed_nothing_is_said_of_patches(repo: Repository, target: str) -> None:
    repo.overlay(patched(target))
    repo.job(JOB.replace("image", "imaeg"))
    assert "unmatched-patch" not in repo.codes()


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("{kind: Pytorchjob}", "no object has kind `Pytorchjob`; did you mean `PyTorchJob`?"),
        ("{kind: Deploymnet}", "did you mean `Deployment`?"),
        ("{name: dmeo}", "no object is named `dmeo`; did you mean `demo`?"),
        ("{kind: PyTorchJob, name: 'x-.*'}", "patterns of `target` are not regular expressions"),
        ("{kind: TFJob}", "correct `target`, or remove the patch"),
    ],
)
def test_the_hint_says_what_is_probably_meant(repo: Repository, target: str, hint: str) -> None:
    repo.overlay(patched(target))
    repo.job(JOB)
    said = text(repo.render()[0])
    assert "[unmatched-patch]" in said
    assert hint in said
