"""A repository with rendered objects that are applied to a namespace of a cluster, and the results of controllers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import yaml

from gen.kubernetes.facts import RESOURCES
from tests.controllers.kubelet import Kubelet
from tests.controllers.waiting import give_time, wait
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

RUN_KINDS = {resource.kind for resource in RESOURCES.values() if resource.is_run}
OVERLAY = """\
kubernetes: "1.34"
namespaces: {{"*": {{queues: [research], allow: [hostNetwork]}}}}
networks: {{host: {{hostNetwork: true}}}}
volumes: {{data: {{claim: data}}}}
operators: {{mpi: {mpi}}}
"""


@dataclass(frozen=True, slots=True)
class Workbench:
    """A repository with one overlay `dev`, and the namespace of its jobs."""

    repository: Repository
    cluster: Cluster
    namespace: str

    @classmethod
    def at(cls, root: Path, cluster: Cluster, namespace: str, mpi: str = "kubeflow.org/v2beta1") -> Self:
        cluster.add_namespaces([namespace])
        repository = Repository.at(root)
        repository.overlay(OVERLAY.format(mpi=mpi))
        return cls(repository, cluster, namespace)

    @property
    def kubelet(self) -> Kubelet:
        return Kubelet(self.cluster)

    def job(self, text: str, name: str = "demo") -> Body:
        """Write a job, render it and apply its objects. Returns the run as it was rendered."""
        self.repository.job(text, name, self.namespace)
        report, code = self.repository.render()
        assert code == 0, report
        bodies = self.rendered(name)
        apply(self.cluster, bodies)
        (run,) = [body for body in bodies if body["kind"] in RUN_KINDS]
        return run

    def rendered(self, name: str = "demo") -> list[Body]:
        folder = self.repository.root / f"rendered/dev/jobs/{self.namespace}/{name}"
        return [yaml.safe_load(path.read_bytes()) for path in sorted(folder.glob("*.yaml"))]

    def pods(self, count: int) -> dict[str, Body]:
        """The pods of the namespace by name, once there are `count` that are not being deleted."""
        return pods(self.cluster, self.namespace, count)

    def run_all(self, count: int, *, ready: bool = True) -> dict[str, Body]:
        """Wait for the pods, and let them run."""
        found = self.pods(count)
        self.kubelet.run(*found.values(), ready=ready)
        return found

    def conditions(self, run: Body) -> dict[str, Body]:
        """Conditions of a run that are true, by type."""
        body = self.live(run)
        return {one["type"]: one for one in body.get("status", {}).get("conditions", []) if one["status"] == "True"}

    def live(self, body: Body) -> Body:
        response = self.cluster.client.get(self.cluster.path(body))
        assert response.status == 200, response.message
        return response.body

    def reaches(self, run: Body, condition: str) -> Body:
        """Wait for a condition of a run."""
        return wait(lambda: self.conditions(run).get(condition), f"{condition} of {run['metadata']['name']}")

    def edit(self, run: Body, patch: Body) -> None:
        """Change a live object by hand."""
        response = self.cluster.client.merge(self.cluster.path(run), patch)
        assert response.status == 200, response.message

    def replaced(self, pods: dict[str, Body]) -> None:
        """Wait until pods with the same names are others."""
        uids = {pod["metadata"]["uid"] for pod in pods.values()}
        wait(lambda: set(pods) <= self._live_without(uids).keys(), f"other pods {', '.join(pods)}")

    def replacements(self, pods: dict[str, Body], count: int) -> list[Body]:
        """Wait for `count` pods with other names than these."""
        uids = {pod["metadata"]["uid"] for pod in pods.values()}
        wait(lambda: len(self._live_without(uids)) == count, f"{count} more pods")
        return list(self._live_without(uids).values())

    def _live_without(self, uids: set[str]) -> dict[str, Body]:
        live = self.cluster.live("", "Pod", self.namespace)
        return {
            body["metadata"]["name"]: body
            for body in live
            if body["metadata"]["uid"] not in uids and "deletionTimestamp" not in body["metadata"]
        }

    def warnings(self, run: Body) -> list[str]:
        """Messages of the warning events of a run."""
        name = run["metadata"]["name"]
        events = [e for e in self.cluster.live("", "Event", self.namespace) if e["involvedObject"]["name"] == name]
        assert events, "the operator records events of the run"
        return [e["message"] for e in events if e["type"] == "Warning" and e["involvedObject"]["kind"] == run["kind"]]

    def stays(self, run: Body, condition: str) -> None:
        """The condition does not come: controllers have had time."""
        give_time()
        assert condition not in self.conditions(run), self.conditions(run)


def apply(cluster: Cluster, bodies: Iterable[Body]) -> None:
    for body in bodies:
        cluster.apply(body)


def pods(cluster: Cluster, namespace: str, count: int, selector: str = "") -> dict[str, Body]:
    """Live pods by name, once their number is `count`."""

    def found() -> tuple[dict[str, Body]] | None:
        live = {
            body["metadata"]["name"]: body
            for body in cluster.live("", "Pod", namespace)
            if "deletionTimestamp" not in body["metadata"] and selector in body["metadata"]["name"]
        }
        return (live,) if len(live) == count else None  # not false without pods

    return wait(found, f"{count} pods in {namespace}")[0]
