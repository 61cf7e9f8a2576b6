"""A repository, a GitOps engine that follows it, and the cluster that the engine fills."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from tests.e2e.engine import Engine
from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

JOB = """\
kind: {kind}
image: registry.example.com/train:1
command: {launcher}python train.py --lr {lr}
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
LAUNCHERS = {"mpi": "mpirun "}
VOLUMES = "volumes: {nas: {size: 10Gi, nas: {server: nas.example.com, path: /training}}}\n"
KINDS = {"pytorch": "PyTorchJob", "tensorflow": "TFJob", "mpi": "MPIJob", "batch": "Job", "pipeline": "Workflow"}
GROUPS = {"batch": "batch", "pipeline": "argoproj.io"}
"""API groups of the kinds that are not of Kubeflow."""
STEPS = "steps: {prepare: {kind: batch}, train: {kind: pytorch, needs: [prepare]}}\n"
MORE = {"pipeline": STEPS}


def job_text(kind: str, lr: str) -> str:
    """A job with fields that all kinds have."""
    return JOB.format(kind=kind, launcher=LAUNCHERS.get(kind, ""), lr=lr)


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
        self.repo.job(job_text(self.kind, lr) + MORE.get(self.kind, "") + more, namespace=self.namespace)

    def merged(self, *warnings: str) -> list[str]:
        """Render, commit, and synchronize the engine. Returns its actions."""
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
