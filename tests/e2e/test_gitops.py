"""The life of a job under a GitOps engine: what starts, what stops, what is left alone, and that no data goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from tests.e2e.engine import Engine
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gen.kubernetes import Body
    from tests.e2e.cluster import Cluster

JOB = """\
kind: {kind}
image: registry.example.com/train:1
command: python train.py --lr {lr}
data: {{nas: /data}}
files: {{/etc/app.yaml: a}}
tensorboard: true
"""
OVERLAY = """\
kubernetes: "1.34"
gitops: {{argocd: {{repoURL: https://git.example.com/jobs.git}}}}
pipelines: {{argo: {{serviceAccount: gen-pipeline}}}}
namespaces: {{{namespace}: {{}}}}
"""
VOLUMES = "volumes: {nas: {size: 10Gi, nas: {server: nas.example.com, path: /training}}}\n"
KINDS = {"pytorch": "PyTorchJob", "tensorflow": "TFJob", "mpi": "MPIJob", "batch": "Job", "pipeline": "Workflow"}
GROUPS = {"batch": "batch", "pipeline": "argoproj.io"}
"""API groups of the kinds that are not of Kubeflow."""
STEPS = "steps: {prepare: {kind: batch}, train: {kind: pytorch, needs: [prepare]}}\n"
MORE = {"pipeline": STEPS}


class World:
    """A repository, an engine that follows it, and the cluster that the engine fills."""

    def __init__(self, root: Path, cluster: Cluster, kind: str, case: str) -> None:
        self.kind, self.namespace, self.cluster = kind, f"{case}-{kind}", cluster
        cluster.add_namespaces([self.namespace])
        self.repo = Repository.at(root)
        self.repo.overlay(OVERLAY.format(namespace=self.namespace) + VOLUMES)
        self.repo.job("kind: batch\nimage: a:1\ncommand: x\n", name="other", namespace=self.namespace)
        self.engine = Engine(root, cluster)

    def job(self, lr: str, more: str = "") -> None:
        self.repo.job(JOB.format(kind=self.kind, lr=lr) + MORE.get(self.kind, "") + more, namespace=self.namespace)

    def merged(self, *warnings: str) -> list[str]:
        """Render, commit, and let the engine follow. What it did."""
        report, code = self.repo.render()
        assert (code, tuple(finding.code for finding in report.findings)) == (0, warnings)
        done = self.engine.sync()
        assert self.engine.sync() == [], "the engine has come to rest"
        assert all(body["metadata"]["generation"] == 1 for body in self.runs()), "no run is edited in place"
        return done

    def run(self) -> str:
        """The name of the run in Git."""
        folder = self.repo.root / f"rendered/dev/jobs/{self.namespace}/demo"
        (path,) = folder.glob(f"{KINDS[self.kind].lower()}-*.yaml")
        name: str = yaml.safe_load(path.read_text("utf-8"))["metadata"]["name"]
        return name

    def runs(self) -> list[Body]:
        """Runs of the job in the cluster."""
        live = self.cluster.live(GROUPS.get(self.kind, "kubeflow.org"), KINDS[self.kind], self.namespace)
        return [body for body in live if body["metadata"]["labels"]["gen/job"] == "demo" and not deleted(body)]

    def names(self) -> set[str]:
        return {body["metadata"]["name"] for body in self.runs()}

    def data(self) -> dict[str, str]:
        """Kind to uid of the storage objects that are there to stay."""
        claims = self.cluster.live("", "PersistentVolumeClaim", self.namespace)
        volumes = self.cluster.live("", "PersistentVolume", "")
        own = [body for body in volumes if body["spec"]["claimRef"]["namespace"] == self.namespace]
        return {body["kind"]: body["metadata"]["uid"] for body in (*claims, *own) if not deleted(body)}

    def delete(self, body: Body) -> None:
        assert self.cluster.client.delete(self.cluster.path(body)).status == 200


def deleted(body: Body) -> bool:
    return "deletionTimestamp" in body["metadata"]


@pytest.fixture
def world(tmp_path: Path, cluster: Cluster) -> Callable[[str, str], World]:
    return lambda kind, case: World(tmp_path / "repo", cluster, kind, case)


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
    assert here.engine.sync() == [f"created {KINDS[kind]} {first}"], "an active run that somebody deleted is healed"

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
    """Were pruning ever switched on for storage. It shows, too, that the stand-in prunes what is not protected."""
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


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_life_of_a_sweep(world: Callable[[str, str], World], kind: str) -> None:
    here = world(kind, "sweep")
    stays = f"kind: {kind}\nimage: a:1\ncommand: x\n{MORE.get(kind, '')}"  # its project permits the kind to the end
    here.repo.job(stays, name="stays", namespace=here.namespace)

    def swept(values: str) -> list[str]:
        files = "files: {/etc/app.yaml: 'run: {{ run.id }}'}\n"
        job = JOB.format(kind=kind, lr="{{ params.lr }}").replace("files: {/etc/app.yaml: a}\n", files)
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
        job = JOB.format(kind=kind, lr=lr).replace("files: {/etc/app.yaml: a}\n", "")
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
        job = JOB.format(kind="pytorch", lr="{{ params.lr }} --out /data/{{ run.id }}")
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
