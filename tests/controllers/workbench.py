"""A repository whose rendered objects are applied to a namespace of a cluster, and what controllers make of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import yaml

from tests.controllers.kubelet import Kubelet
from tests.controllers.waiting import give_time, wait
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from gen.kubernetes import Body
    from tests.e2e.cluster import Cluster

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
        (run,) = [body for body in bodies if "gen/run" in body["metadata"].get("labels", {})]
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

    def stays(self, run: Body, condition: str) -> None:
        """The condition does not come: controllers have had time."""
        give_time()
        assert condition not in self.conditions(run), self.conditions(run)


def apply(cluster: Cluster, bodies: Iterable[Body]) -> None:
    for body in bodies:
        cluster.apply(body)


def pods(cluster: Cluster, namespace: str, count: int, selector: str = "") -> dict[str, Body]:
    """Live pods by name, once there are `count` of them."""

    def found() -> dict[str, Body] | None:
        live = {
            body["metadata"]["name"]: body
            for body in cluster.live("", "Pod", namespace)
            if "deletionTimestamp" not in body["metadata"] and selector in body["metadata"]["name"]
        }
        return live if len(live) == count else None

    return wait(found, f"{count} pods in {namespace}")
