"""The life of sweeps, schedules and searches under a GitOps engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.followed import KINDS, MORE, OVERLAY, VOLUMES, World, deleted, job_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.kubernetes.objects import Body


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_life_of_a_sweep(world: Callable[[str, str], World], kind: str) -> None:
    here = world(kind, "sweep")
    stays = f"kind: {kind}\nimage: a:1\ncommand: x\n{MORE.get(kind, '')}"  # its project permits the kind to the end
    here.repo.job(stays, name="stays", namespace=here.namespace)

    def swept(values: str) -> list[str]:
        files = "files: {/etc/app.yaml: 'run: {{ run.id }}'}\n"
        job = job_text(kind, "{{ params.lr }}").replace("files: {/etc/app.yaml: a}\n", files)
        here.repo.job(f"{job}{MORE.get(kind, '')}sweep: {{matrix: {{lr: [{values}]}}}}\n", namespace=here.namespace)
        return here.merged()

    swept("0.1, 0.01")
    first, data = here.names(), here.data()
    assert len(first) == 2
    uids = {body["metadata"]["uid"] for body in here.runs()}

    added = swept("0.1, 0.05, 0.01")
    assert all(line.startswith("created") and "demo-lr-0p05" in line for line in added), "a value starts its run alone"
    assert uids < {body["metadata"]["uid"] for body in here.runs()}, "and the others go on"
    assert swept("0.05, 0.01, 0.1") == [], "their order has no meaning"

    removed = swept("0.05, 0.1")
    assert all(line.startswith("pruned") and "demo-lr-0p01" in line for line in removed)
    assert len(here.names()) == 2

    (here.repo.root / f"jobs/{here.namespace}/demo.yaml").unlink()
    gone = here.merged("unused-storage", "unused-storage")
    assert "pruned Deployment demo-tensorboard" in gone
    assert here.names() == set()
    assert here.data() == data


@pytest.mark.parametrize("kind", ["batch", "pytorch", "pipeline"])
def test_the_life_of_a_schedule(world: Callable[[str, str], World], kind: str) -> None:
    here = world(kind, "schedule")
    group, owner = ("batch", "CronJob") if kind == "batch" else ("argoproj.io", "CronWorkflow")

    def scheduled(lr: str, more: str = "") -> list[str]:
        job = job_text(kind, lr).replace("files: {/etc/app.yaml: a}\n", "")
        here.repo.job(f"{job}{MORE.get(kind, '')}schedule: 0 3 * * *\n{more}", namespace=here.namespace)
        return here.merged()

    def live() -> list[Body]:
        every = here.cluster.live(group, owner, here.namespace)
        return [body for body in every if not deleted(body)]

    added = scheduled("1")
    (first,), data = live(), here.data()
    assert f"created {owner} demo" in added
    assert here.runs() == [], "the schedule starts its runs"
    beside = ["changed Service demo"] if kind == "batch" else []
    assert scheduled("2") == [f"changed {owner} demo", *beside], "in place, so that its runs go on"
    assert live()[0]["metadata"]["uid"] == first["metadata"]["uid"]

    here.repo.overlay(OVERLAY.format(namespace=here.namespace) + VOLUMES + "defaults: {env: {NEW: a}}\n")
    assert f"changed {owner} demo" in here.merged(), "a change of the platform concerns later runs, too"

    assert scheduled("2", "state: suspended\n") == [f"changed {owner} demo"]
    assert live()[0]["spec"]["suspend"] is True

    job = here.repo.root / f"jobs/{here.namespace}/demo.yaml"
    text = job.read_text("utf-8").replace("state: suspended\n", "")
    job.unlink()
    stays = f"kind: {kind}\nimage: a:1\ncommand: x\n{MORE.get(kind, '')}schedule: 0 3 * * *\n"
    here.repo.job(stays, name="demo-stays", namespace=here.namespace)  # its project permits the kind to the end
    assert f"pruned {owner} demo" in here.merged("unused-storage", "unused-storage")
    assert [body["metadata"]["name"] for body in live()] == ["demo-stays"]
    assert here.data() == data

    job.write_text(text, "utf-8")
    assert f"created {owner} demo" in here.merged()
    again = next(body for body in live() if body["metadata"]["name"] == "demo")
    assert not again["spec"].get("suspend")
    assert here.data() == data


def test_the_life_of_a_search(world: Callable[[str, str], World]) -> None:
    here = world("pytorch", "search")
    grant = f"namespaces: {{{here.namespace}: {{search: {{maxTrials: 9}}}}}}\n"
    here.repo.overlay(OVERLAY.format(namespace=here.namespace).rpartition("namespaces:")[0] + grant + VOLUMES)

    def searched(values: str, more: str = "") -> list[str]:
        job = job_text("pytorch", "{{ params.lr }} --out /data/{{ run.id }}")
        search = f"metrics: [loss]\nsearch: {{minimize: loss, params: {{lr: [{values}]}}, maxTrials: 2}}\n"
        here.repo.job(job + search + more, namespace=here.namespace)
        return here.merged()

    def live() -> list[Body]:
        every = here.cluster.live("kubeflow.org", "Experiment", here.namespace)
        return [body for body in every if not deleted(body)]

    added = searched("0.1, 0.2")
    (first,), data = live(), here.data()
    name = first["metadata"]["name"]
    assert f"created Experiment {name}" in added
    assert here.runs() == [], "trials are made by Katib"
    assert set(data) == {"PersistentVolume", "PersistentVolumeClaim"}

    edited = searched("0.1, 0.2, 0.3")
    (second,) = live()
    other = second["metadata"]["name"]
    assert other != name
    assert edited.index(f"pruned Experiment {name}") < edited.index(f"created Experiment {other}")
    assert here.data() == data

    assert f"changed Experiment {other}" in searched("0.1, 0.2, 0.3", "labels: {cost-center: a}\n")
    assert live()[0]["metadata"]["uid"] == second["metadata"]["uid"], "a label is changed in place"

    assert searched("0.1, 0.2, 0.3", "labels: {cost-center: a}\nstate: finished\n") == []
    here.delete(live()[0])
    assert here.engine.sync() == [], "a finished search that is gone stays gone"

    job = here.repo.root / f"jobs/{here.namespace}/demo.yaml"
    text = job.read_text("utf-8").replace("state: finished\n", "")
    job.unlink()
    assert "pruned Deployment demo-tensorboard" in here.merged("unused-storage", "unused-storage")
    assert live() == []
    assert here.data() == data

    job.write_text(text, "utf-8")
    assert f"created Experiment {other}" in here.merged(), "the same content is the same search"
    assert here.data() == data
