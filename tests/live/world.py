"""A repository and its runs in a real API server. The tests act as controllers and nodes."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import yaml
from typer.testing import CliRunner

from gen.cli import app
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.objects import COMPONENT, JOB_LABEL, MANAGED_BY, RUN_LABEL, STEP_LABEL, Body
from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.client import Client
    from tests.e2e.cluster import Cluster

USERS = {"nobody": "token-of-nobody", "member": "token-of-member", "reader": "token-of-reader"}
"""Tokens by user: one may read nothing, one a single namespace, one everything."""
READS = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
OVERLAY = """\
kubernetes: "1.34"
cluster: {{context: admin}}
namespaces: {{{namespace}: {{queues: [research], search: {{maxTrials: 20, parallelTrials: 4}}}}}}
volumes: {{data: {{claim: data}}}}
pipelines: {{argo: {{serviceAccount: gen-pipeline}}}}
gitops: {{argocd: {{repoURL: https://git.example.com/ml/training.git}}}}
"""
JOB = "kind: {kind}\nimage: registry.example.com/train:1\ncommand: python train.py --lr 1\n"


def kubeconfig(client: Client, server: str = "") -> Body:
    """A context for each user of the server, also for one with a wrong token."""
    base = client.kubeconfig()
    if server:
        base["clusters"][0]["cluster"]["server"] = server
    tokens = {"admin": base["users"][0]["user"]["token"], **USERS, "stranger": "wrong"}
    return {
        **base,
        "users": [{"name": user, "user": {"token": token}} for user, token in tokens.items()],
        "contexts": [{"name": user, "context": {"cluster": "test", "user": user}} for user in tokens],
        "current-context": "admin",
    }


@dataclass
class World:
    """A repository with one overlay `dev`, a namespace of the cluster, and a kubeconfig file."""

    repository: Repository
    cluster: Cluster
    namespace: str
    kubeconfig: Path
    code: int = field(default=0)

    @classmethod
    def at(cls, root: Path, cluster: Cluster, namespace: str, config: Path) -> Self:
        cluster.add_namespaces([namespace])
        repository = Repository.at(root)
        repository.overlay(OVERLAY.format(namespace=namespace))
        return cls(repository, cluster, namespace, config)

    def job(self, name: str = "demo", kind: str = "pytorch", more: str = "", *, apply: bool = True) -> Body:
        """Write a job, render it and apply its run, which is returned."""
        self.repository.job(JOB.format(kind=kind) + more, name, self.namespace)
        report, code = self.repository.render()
        assert code == 0, report
        run = self.rendered(name)[0]
        if apply:
            self.cluster.apply(run)
        return run

    def rendered(self, name: str = "demo") -> list[Body]:
        """The runs and schedules of a job in `rendered/`."""
        folder = self.repository.root / f"rendered/dev/jobs/{self.namespace}/{name}"
        bodies = [yaml.safe_load(path.read_bytes()) for path in sorted(folder.glob("*.yaml"))]
        known = ((body, resource_of_object(body["apiVersion"], body["kind"])) for body in bodies)
        return [body for body, facts in known if facts is not None and (facts.is_run or facts.is_schedule)]

    def status(self, body: Body, status: Body) -> None:
        """Write the status of an object, as its controller would."""
        response = self.cluster.client.merge(f"{self.cluster.path(body)}/status", {"status": status})
        assert response.status == 200, response.message

    def ends(self, body: Body, condition: str, message: str = "done") -> None:
        one = {"type": condition, "status": "True", "reason": f"Run{condition}", "message": message}
        times = {"lastTransitionTime": "2026-01-01T00:00:00Z", "lastUpdateTime": "2026-01-01T00:00:00Z"}
        self.status(body, {"conditions": [one | times]})

    def live(self, body: Body) -> Body:
        """An object as the server has it."""
        live: Body = self.cluster.client.get(self.cluster.path(body)).body
        return live

    def started(self, parent: Body, body: Body, **metadata: Any) -> Body:
        """An object that the controller of another one creates."""
        owner = {
            "apiVersion": parent["apiVersion"],
            "kind": parent["kind"],
            "name": parent["metadata"]["name"],
            "uid": parent["metadata"]["uid"] if "uid" in parent["metadata"] else self.live(parent)["metadata"]["uid"],
            "controller": True,
        }
        own = {**body["metadata"], "namespace": self.namespace, "ownerReferences": [owner], **metadata}
        return self.cluster.apply({**body, "metadata": own})

    def pod(self, run: Body, role: str, index: int, status: Body, **more: Any) -> Body:
        """A pod of a run, with its status."""
        labels = run["metadata"]["labels"]
        name = f"{run['metadata']['name']}-{role}-{index}"
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": self.namespace,
                "labels": {
                    JOB_LABEL: labels[JOB_LABEL],
                    RUN_LABEL: labels[RUN_LABEL],
                    MANAGED_BY: "gen",
                    COMPONENT: role,
                    "training.kubeflow.org/replica-index": str(index),
                    "training.kubeflow.org/job-name": run["metadata"]["name"],
                    **({STEP_LABEL: labels[STEP_LABEL]} if STEP_LABEL in labels else {}),
                },
            },
            "spec": {"containers": [{"name": "main", "image": "a:1"}], **more},
        }
        live = self.cluster.apply(pod)
        self.status(live, status)
        return live

    def gen(self, *arguments: str, context: str = "") -> str:
        """The output of a command. Its exit code is in `code`."""
        flags = ["--root", str(self.repository.root), "--kubeconfig", str(self.kubeconfig)]
        flags += ["--context", context] if context else []
        done = CliRunner().invoke(app, [*arguments, *flags], catch_exceptions=False)
        self.code = done.exit_code
        return done.output

    def answer(self, *arguments: str, context: str = "") -> dict[str, Any]:
        """The output of `gen status` as JSON."""
        document: dict[str, Any] = json.loads(self.gen("status", *arguments, "--output", "json", context=context))
        return document

    def runs(self, *arguments: str, context: str = "") -> dict[str, dict[str, Any]]:
        """The runs of `gen status` by name."""
        return {run["run"]: run for run in self.answer(*arguments, context=context)["runs"]}

    def codes(self, *arguments: str, context: str = "") -> list[str]:
        return [finding["code"] for finding in self.answer(*arguments, context=context)["findings"]]


RUNNING: Body = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "True"}],
    "containerStatuses": [
        {
            "name": "main",
            "image": "a:1",
            "imageID": "a:1",
            "ready": True,
            "restartCount": 2,
            "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
        }
    ],
}


def waiting(reason: str, message: str) -> Body:
    """A container that cannot start."""
    state = {"waiting": {"reason": reason, "message": message}}
    one = {"name": "main", "image": "a:1", "imageID": "", "ready": False, "restartCount": 0, "state": state}
    return {"phase": "Pending", "containerStatuses": [one]}


def unscheduled(message: str) -> Body:
    """A pod that the scheduler cannot place."""
    return {
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}],
    }
