"""A repository with pipelines, and the results of the controller."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import yaml

from tests.controllers.waiting import T, wait
from tests.controllers.workbench import OVERLAY, Workbench, apply
from tests.support import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.kubernetes.objects import Body
    from tests.controllers.argo_workflows.node import Node
    from tests.controllers.kubelet import Kubelet
    from tests.e2e.cluster import Cluster

ACCOUNT = "gen-pipeline"
_PIPELINES = """\
pipelines:
  argo:
    serviceAccount: gen-pipeline
    reader: registry.example.com/kubectl:1
    notify: {secret: hook, when: ended}
"""
_WORKFLOW = "workflows.argoproj.io/workflow"
_WORKFLOW_S = 150
"""Each node is a pod, and the controller looks at its workflows every second."""


def documented_rules() -> list[Body]:
    """The rules of the Role in the documentation."""
    page = (PROJECT / "docs/pipelines.md").read_text("utf-8")
    blocks: list[str] = re.findall(r"```yaml\n(rules:\n.*?)```", page, re.DOTALL)
    (block,) = (block for block in blocks if "workflowtaskresults" in block)  # of the executor
    rules: list[Body] = yaml.safe_load(block)["rules"]
    return rules


@dataclass(frozen=True)
class World:
    """The repository and the namespace of a test."""

    bench: Workbench
    node: Node

    @classmethod
    def at(cls, bench: Workbench, node: Node) -> Self:
        one = cls(bench, node)
        one.overlay("")
        one.grant(documented_rules())
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hook", "namespace": bench.namespace}}
        apply(bench.cluster, [{**secret, "stringData": {"url": node.messages.url}}])
        return one

    @property
    def cluster(self) -> Cluster:
        return self.bench.cluster

    @property
    def namespace(self) -> str:
        return self.bench.namespace

    @property
    def kubelet(self) -> Kubelet:
        return self.bench.kubelet

    def overlay(self, more: str) -> None:
        self.bench.repository.overlay(OVERLAY.format(mpi="kubeflow.org/v2beta1") + _PIPELINES + more)

    def grant(self, rules: list[Body]) -> None:
        """Give the ServiceAccount of pipelines these rights, and no others."""
        metadata = {"name": ACCOUNT, "namespace": self.namespace}
        subject = {"kind": "ServiceAccount", **metadata}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT}
        version = "rbac.authorization.k8s.io/v1"
        binding = {"apiVersion": version, "kind": "RoleBinding", "metadata": metadata, "roleRef": role}
        apply(
            self.cluster,
            [
                {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
                {"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": rules},
                {**binding, "subjects": [subject]},
            ],
        )

    def render(self, text: str, name: str = "demo") -> Body:
        """Write a job, render it and apply its objects. Returns the workflow or its schedule."""
        self.bench.repository.job(text, name, self.namespace)
        report, code = self.bench.repository.render()
        assert code == 0, report
        bodies = self.bench.rendered(name)
        apply(self.cluster, bodies)
        (found,) = [body for body in bodies if body["kind"] in {"Workflow", "CronWorkflow"}]
        return found

    def live(self, body: Body) -> Body:
        return self.bench.live(body)

    def objects(self, kind: str, group: str = "") -> dict[str, Body]:
        """Live objects of the namespace by name, without those that are being deleted."""
        listed = self.cluster.live(group, kind, self.namespace)
        return {one["metadata"]["name"]: one for one in listed if "deletionTimestamp" not in one["metadata"]}

    def phases(self, workflow: Body) -> dict[str, str]:
        """The phases of nodes by their names, without those of attempts."""
        nodes = self.live(workflow).get("status", {}).get("nodes", {}).values()
        return {node["displayName"]: node["phase"] for node in nodes if node["type"] in {"Pod", "Retry", "Skipped"}}

    def reaches(self, workflow: Body, *phases: str) -> Body:
        """Wait for the phase of a workflow."""

        def found() -> Body | None:
            body = self.live(workflow)
            return body if body.get("status", {}).get("phase") in phases else None

        return self.wait(found, f"{' or '.join(phases)} of {workflow['metadata']['name']}")

    def node_reaches(self, workflow: Body, name: str, phase: str) -> None:
        self.wait(lambda: self.phases(workflow).get(name) == phase, f"{phase} of {name}")

    def wait(self, found: Callable[[], T | None], what: str, seconds: float = _WORKFLOW_S) -> T:
        """As `wait`, with the output of the containers if it does not come."""
        try:
            return wait(found, what, seconds)
        except AssertionError as error:
            error.add_note(self.node.output(self.namespace))
            raise

    def training_pods(self, step: str, count: int = 1, without: Body | None = None) -> list[Body]:
        """All pods of a step except one, once there are as many."""
        ended = without["metadata"]["name"] if without is not None else None

        def found() -> list[Body] | None:
            pods = [
                pod
                for name, pod in self.objects("Pod").items()
                if f"-{step}-" in name
                and name != ended
                and "workflows.argoproj.io/workflow" not in pod["metadata"]["labels"]
            ]
            return pods if len(pods) == count else None

        return self.wait(found, f"{count} pods of {step}")

    def succeed(self, step: str, count: int = 1) -> list[Body]:
        """Let the pods of a step run and succeed."""
        pods = self.training_pods(step, count)
        self.kubelet.run(*pods)
        self.kubelet.succeed(*pods)
        return pods

    def messages(self) -> list[tuple[str, str]]:
        """Runs and their ends of the messages that were sent about this namespace."""
        found = [one for one in self.node.messages.received if one["namespace"] == self.namespace]
        return [(one["run"], one["status"]) for one in found]

    def delete(self, body: Body) -> None:
        response = self.cluster.client.delete(self.cluster.path(body))
        assert response.status in {200, 202, 404}, response.message

    def remove_all(self) -> None:
        for kind in ("CronWorkflow", "Workflow"):
            for body in self.objects(kind, "argoproj.io").values():
                self.delete(body)
