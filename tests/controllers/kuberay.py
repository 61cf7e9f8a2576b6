"""KubeRay's operator, without webhooks, as it is installed by default."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.controllers.argocd.servers import serving
from tests.controllers.programs import Controller, Programs, answers
from tests.e2e.server import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.cluster import Cluster


@dataclass
class Dashboard:
    """The dashboards of all Ray clusters, which know the states of jobs. The operator reaches them by a proxy."""

    url: str = ""
    ended: set[str] = field(default_factory=set)
    """Namespaces whose jobs have succeeded."""

    def answer(self, url: str) -> dict[str, object]:
        host, job = str(urlsplit(url).hostname), urlsplit(url).path.rpartition("/")[2]
        ended = host.split(".")[1] in self.ended
        times = {"start_time": 1, **({"end_time": 2} if ended else {})}
        return {"submission_id": job, "status": "SUCCEEDED" if ended else "RUNNING", **times}


@contextmanager
def dashboard() -> Iterator[Dashboard]:
    one = Dashboard()

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = json.dumps(one.answer(self.path)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """No access log."""

    with serving(Proxy) as one.url:
        yield one


@contextmanager
def started(cluster: Cluster, programs: Programs, seen: Dashboard | None = None) -> Iterator[Controller]:
    programs.path("kuberay")
    cluster.install(programs.definitions("kuberay", "bases"))
    health, metrics = free_ports(2)
    arguments = (
        f"--health-probe-bind-address=127.0.0.1:{health}",
        f"--metrics-addr=127.0.0.1:{metrics}",
        "--enable-leader-election=false",
    )
    environment = {"KUBECONFIG": str(programs.kubeconfig(cluster))}
    if seen is not None:
        environment["HTTP_PROXY"] = seen.url

    def ready() -> bool:
        return answers(f"http://127.0.0.1:{health}/readyz")

    with programs.started("kuberay", arguments, ready, environment) as controller:
        yield controller
