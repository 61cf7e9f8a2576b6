"""Starts the containers of workflows' pods, reports their ends, and serves logs of other pods."""

from __future__ import annotations

import json
import shutil
import ssl
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from tests.controllers.argo_workflows.containers import PodProcesses
from tests.controllers.kubelet import Kubelet

if TYPE_CHECKING:
    from pathlib import Path

    from gen.kubernetes.objects import Body
    from tests.e2e.cluster import Cluster

_NAME = "test-node"
_POLL_S = 0.2
_LONGEST = 8000
_WORKFLOW = "workflows.argoproj.io/workflow"


def _workflow_of(pod: Body) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["labels"][_WORKFLOW]


class Messages:
    """A service that receives messages."""

    def __init__(self) -> None:
        received: list[Any] = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=server.serve_forever, daemon=True).start()
        self.received = received
        self.url = f"http://127.0.0.1:{server.server_port}/hook"


@dataclass
class Node:
    """The only node of the cluster."""

    cluster: Cluster
    argoexec: Path
    work: Path
    logs: dict[tuple[str, str], str] = field(default_factory=dict)
    """Logs of pods by namespace and name."""
    messages: Messages = field(default_factory=Messages)
    _pods: dict[str, PodProcesses] = field(default_factory=dict)
    _ended: Event = field(default_factory=Event)

    def start(self) -> None:
        self._serve_logs()
        Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        self._ended.set()
        for pod in self._pods.values():
            pod.stop()

    def bind(self, pod: Body, log: str) -> None:
        """Let a pod be on the node, with the log of its container."""
        metadata = pod["metadata"]
        self.logs[metadata["namespace"], metadata["name"]] = log
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": metadata["name"]}}
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/binding"
        response = self.cluster.client.create(path, {**binding, "target": {"kind": "Node", "name": _NAME}})
        assert response.status == 201, response.message

    def output(self, namespace: str) -> str:
        """The output of all containers of workflows in a namespace, without that of each look at an object."""
        pods = [one for one in list(self._pods.values()) if one.pod["metadata"]["namespace"] == namespace]
        texts = [log.read_text("utf-8") for one in pods for log in sorted(one.folder.glob("*.log"))]
        lines = "\n".join(texts).split("\n")
        return "\n".join(line for line in lines if "condition" not in line)[-_LONGEST:]

    def _watch(self) -> None:
        while not self._ended.wait(_POLL_S):
            pods = self.cluster.listed(f"/api/v1/pods?labelSelector={_WORKFLOW}")
            live = {body["metadata"]["uid"]: body for body in pods}
            for uid, body in live.items():
                if uid not in self._pods:
                    self._pods[uid] = PodProcesses(self.cluster, body, self.work / uid, self.argoexec)
                    Thread(target=self._run, args=(self._pods[uid],), daemon=True).start()
            ended = self._shut_down()
            for uid, pod in self._pods.items():
                if _workflow_of(pod.pod) in ended and not pod.stopped:
                    pod.terminate()
                if not pod.stopped and (uid not in live or live[uid]["status"]["phase"] == "Failed"):
                    pod.stop()

    def _shut_down(self) -> set[tuple[str, str]]:
        """Namespaces and names of workflows to end. The controller signals their containers through the kubelet."""
        workflows = self.cluster.listed("/apis/argoproj.io/v1alpha1/workflows")
        ended = [body["metadata"] for body in workflows if body["spec"].get("shutdown")]
        return {(metadata["namespace"], metadata["name"]) for metadata in ended}

    def _run(self, pod: PodProcesses) -> None:
        kubelet, spec = Kubelet(self.cluster), pod.pod["spec"]
        try:
            pod.prepare()
            kubelet.run(pod.pod)
            for container in spec.get("initContainers", []):
                if (code := pod.start(container).wait()) and not pod.stopped:
                    kubelet.fail(pod.pod, exit_code=code)
                    return
            codes = [process.wait() for process in [pod.start(container) for container in spec["containers"]]]
            failed = next((code for code in reversed(codes) if code), 0)
            if not pod.stopped:
                kubelet.fail(pod.pod, exit_code=failed) if failed else kubelet.succeed(pod.pod)
        except AssertionError:
            if not pod.stopped and not self._ended.is_set() and self._is_live(pod.pod):
                raise
        finally:
            # the executor copies itself into one of them, 110 MB for each pod
            shutil.rmtree(pod.folder / "volumes", ignore_errors=True)

    def _is_live(self, pod: Body) -> bool:
        return self.cluster.client.get(self.cluster.path({"apiVersion": "v1", "kind": "Pod", **pod})).status == 200

    def _serve_logs(self) -> None:
        """The API server asks the kubelet of the node for logs."""
        logs = self.logs

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                _, _, namespace, pod, *_ = self.path.split("?")[0].split("/")
                text = logs[namespace, pod].encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        certificate = self.cluster.client.authority
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, certificate.with_suffix(".key"))
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, daemon=True).start()
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": _NAME}}
        self.cluster.apply(node)
        status = {
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": server.server_port}},
        }
        response = self.cluster.client.merge(f"/api/v1/nodes/{_NAME}/status", {"status": status})
        assert response.status == 200, response.message
