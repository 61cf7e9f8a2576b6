"""Reports of a kubelet about pods, written to their status: the cluster has no nodes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

_READY = ("Initialized", "PodScheduled", "ContainersReady", "Ready")
_ALWAYS = ("Initialized", "PodScheduled")


@dataclass(frozen=True, slots=True)
class Kubelet:
    """Writes the status of pods. The restart count of a container is that of its last status."""

    cluster: Cluster

    def run(self, *pods: Body, ready: bool = True, init_restarts: int = 0) -> None:
        """All containers of the pods run, after init containers that were restarted."""
        for pod in pods:
            self._report(pod, "Running", _running(), ready=ready, init_restarts=init_restarts)

    def succeed(self, *pods: Body) -> None:
        self._finish(pods, "Succeeded", 0)

    def fail(self, *pods: Body, exit_code: int = 1) -> None:
        self._finish(pods, "Failed", exit_code)

    def disrupt(self, *pods: Body, reason: str = "EvictionByEvictionAPI") -> None:
        """A drain of the node: containers are stopped, and the pod has the reason."""
        condition = {"type": "DisruptionTarget", "status": "True", "reason": reason, "lastTransitionTime": _now()}
        self._finish(pods, "Failed", 143, condition)

    def restart(self, pod: Body, count: int) -> None:
        """The containers of a running pod were restarted in place `count` times."""
        self._report(pod, "Running", _running(), ready=True, restarts=count)

    def evict(self, pod: Body) -> None:
        """The node needed the memory or the disk of a pod."""
        self._finish([pod], "Failed", 137)
        self._patch(pod, {"reason": "Evicted"})

    def _finish(self, pods: Iterable[Body], phase: str, exit_code: int, *conditions: Body) -> None:
        for pod in pods:
            ended = {"exitCode": exit_code, "startedAt": _now(), "finishedAt": _now(), "containerID": "test://1"}
            self._report(pod, phase, {"terminated": ended}, *conditions, ready=False)

    def _report(
        self,
        pod: Body,
        phase: str,
        state: Body,
        *conditions: Body,
        ready: bool,
        restarts: int = 0,
        init_restarts: int = 0,
    ) -> None:
        now, spec = _now(), pod["spec"]
        true = _READY if ready else _ALWAYS
        done = {"terminated": {"exitCode": 0, "startedAt": now, "finishedAt": now, "containerID": "test://0"}}
        status = {
            "phase": phase,
            "startTime": now,
            "podIP": "10.1.0.9",
            "podIPs": [{"ip": "10.1.0.9"}],
            "conditions": [
                *({"type": t, "status": str(t in true), "lastTransitionTime": now} for t in _READY),
                *conditions,
            ],
            "initContainerStatuses": [
                _container(c, done, restarts=init_restarts) for c in spec.get("initContainers", [])
            ],
            "containerStatuses": [_container(c, state, restarts, ready=ready) for c in spec["containers"]],
        }
        self._patch(pod, status)

    def _patch(self, pod: Body, status: Body) -> None:
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}/status"
        response = self.cluster.client.merge(path, {"status": status})
        assert response.status == 200, response.message


def _container(container: Body, state: Body, restarts: int = 0, *, ready: bool = False) -> Body:
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": container["image"],
        "containerID": "test://1",
        "ready": ready,
        "started": "running" in state,
        "restartCount": restarts,
        "state": state,
    }


def _running() -> Body:
    return {"running": {"startedAt": _now()}}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
