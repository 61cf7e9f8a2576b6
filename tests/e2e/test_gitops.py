"""The life of a job under a GitOps engine: starts, stops, unchanged runs and lasting data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.followed import KINDS, OVERLAY, VOLUMES, World

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_life_of_a_job(world: Callable[[str, str], World], kind: str) -> None:
    here = world(kind, "life")

    here.job(lr="1e-3")
    added = here.merged()
    first, data = here.run(), here.data()
    assert here.names() == {first}
    assert set(data) == {"PersistentVolume", "PersistentVolumeClaim"}
    assert not any(line.startswith("pruned") for line in added)

    here.delete(here.runs()[0])
    assert here.engine.sync() == [f"created {KINDS[kind]} {first}"], "a deleted active run is restored"

    here.job(lr="1e-4")
    edited = here.merged()
    second = here.run()
    assert second != first
    assert here.names() == {second}
    assert f"created {KINDS[kind]} {second}" in edited
    assert f"pruned {KINDS[kind]} {first}" in edited
    assert edited.index(f"pruned {KINDS[kind]} {first}") < edited.index(f"created {KINDS[kind]} {second}")
    before, after = first.removeprefix("demo-"), second.removeprefix("demo-")
    assert all(after in line for line in edited if line.startswith("created"))
    assert all(before in line for line in edited if not line.startswith("created")), "TensorBoard goes on as it was"
    assert here.data() == data

    here.job(lr="1e-4", more="labels: {cost-center: a}\n")
    assert here.merged()
    assert here.names() == {second}, "a label is changed in place, and nothing runs again"

    here.job(lr="1e-4", more="labels: {cost-center: a}\nstate: finished\n")
    assert here.merged() == [], "the record of a run is never applied"
    assert here.names() == {second}
    here.delete(here.runs()[0])
    assert here.engine.sync() == [], "a finished run that is gone stays gone"
    assert here.names() == set()

    job = here.repo.root / f"jobs/{here.namespace}/demo.yaml"
    text = job.read_text("utf-8").replace("state: finished\n", "")
    job.unlink()
    removed = here.merged("unused-storage", "unused-storage")
    assert "pruned Deployment demo-tensorboard" in removed
    assert any(line.startswith("pruned ConfigMap demo-") and line.endswith(f"{after}-files") for line in removed)
    assert here.data() == data

    job.write_text(text, "utf-8")
    assert f"created {KINDS[kind]} {second}" in here.merged(), "the same content is the same run"
    assert here.data() == data, "with the data that it had"


def test_a_volume_that_the_overlay_no_longer_has(world: Callable[[str, str], World]) -> None:
    here = world("pytorch", "volume")
    here.job(lr="1")
    here.merged()
    data, overlay = here.data(), OVERLAY.format(namespace=here.namespace)

    here.repo.overlay(overlay)
    assert "unknown-volume" in here.repo.codes(), "a job uses it"
    assert here.engine.sync() == [], "so nothing was written"

    (here.repo.root / f"jobs/{here.namespace}/demo.yaml").unlink()
    here.merged("unused-storage", "unused-storage")
    assert here.data() == data, "its files stay in Git"

    report, code = here.repo.render(prune_storage=True)
    assert (code, report.findings) == (0, ())
    assert here.engine.sync() == []
    assert here.data() == data, "and without files it stays in the cluster"


def test_the_quota_of_a_namespace_in_the_cluster(world: Callable[[str, str], World]) -> None:
    """It is created and changed with the overlay, and no job and no missing word removes it."""
    here = world("batch", "quota")
    asked = OVERLAY.format(namespace=here.namespace)
    here.repo.overlay(asked.replace(": {}}", ": {gpus: 16, pods: 9, resourceQuota: true}}"))
    here.job(lr="1")
    here.repo.overlay(asked.replace(": {}}", ": {gpus: 16, pods: 9, resourceQuota: true}}") + VOLUMES)
    assert "created ResourceQuota gen" in here.merged()
    here.repo.overlay(asked.replace(": {}}", ": {gpus: 8, pods: 9, resourceQuota: true}}") + VOLUMES)
    assert "changed ResourceQuota gen" in here.merged()
    for path in (here.repo.root / f"jobs/{here.namespace}").iterdir():
        path.unlink()
    here.merged("unused-storage", "unused-storage")
    here.repo.overlay(asked + VOLUMES)
    here.merged("unused-storage", "unused-storage")
    (live,) = here.cluster.live("", "ResourceQuota", here.namespace)
    assert live["spec"] == {"hard": {"requests.nvidia.com/gpu": "8", "pods": "9"}}


def test_a_run_is_suspended_and_resumed_in_place(world: Callable[[str, str], World]) -> None:
    here = world("batch", "suspended")
    here.job(lr="2")
    here.merged()
    name = here.run()
    for more, suspended in (("state: suspended\n", True), ("", False)):
        here.job(lr="2", more=more)
        here.repo.render()
        assert here.engine.sync() == [f"changed Job {name}"]
        assert here.engine.sync() == []
        (body,) = here.runs()
        assert body["spec"]["suspend"] is suspended


@pytest.mark.parametrize(("options", "gone"), [("Prune=false,Delete=false", False), ("Delete=false", True)])
def test_it_is_the_annotation_that_keeps_a_claim(
    world: Callable[[str, str], World], tmp_path: Path, options: str, gone: bool
) -> None:
    """With pruning of storage. It shows, too, that the model prunes unprotected objects."""
    here = world("mpi", "pruned" if gone else "kept")
    here.job(lr="3")
    assert here.repo.render()[1] == 0
    folder = tmp_path / "repo/rendered"
    for path in [*folder.glob("argocd/dev/applications/applicationset-*.yaml"), *folder.glob("dev/storage/*/*.yaml")]:
        text = path.read_text("utf-8").replace("prune: false", "prune: true")
        path.write_text(text.replace("Prune=false,Delete=false", options), "utf-8")
    here.engine.sync()
    assert set(here.data()) == {"PersistentVolume", "PersistentVolumeClaim"}
    for path in folder.glob("dev/storage/*/*.yaml"):
        path.unlink()
    here.engine.sync()
    assert set(here.data()) == (set() if gone else {"PersistentVolume", "PersistentVolumeClaim"})
