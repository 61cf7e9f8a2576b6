"""`gen tensorboard`: a port of this machine that leads to a pod, through a real API server."""

from __future__ import annotations

import threading
import urllib.request
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from gen.base.findings import UsageError
from gen.cli import app
from gen.commands.tensorboard import Request, run
from gen.live.board import Board, Forwarder, find_board
from tests.live.node import NODE, Node, node
from tests.live.test_clusters import asked
from tests.live.world import RUNNING, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.cluster import Cluster

    Make = Callable[[str], World]


@pytest.fixture
def kubelet(server: Cluster) -> Iterator[Node]:
    with node(server, server.client.authority) as made:
        yield made


def board(here: World, name: str = "demo-tensorboard-1", prefix: str = "") -> None:
    """The pod that the Deployment of the job would have."""
    container = {
        "name": "tensorboard",
        "image": "a:1",
        "args": ["--logdir=/data", *([f"--path_prefix={prefix}"] if prefix else [])],
        "ports": [{"name": "http", "containerPort": 6006}],
    }
    labels = {"gen/job": "demo", "app.kubernetes.io/component": "tensorboard"}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": here.namespace, "labels": labels},
        "spec": {"containers": [container], "nodeName": NODE},
    }
    here.status(here.cluster.apply(pod), RUNNING)


def test_a_page_of_the_pod(world: Make, kubelet: Node) -> None:
    here = world("board")
    here.job()
    board(here, prefix="/board/demo")
    request = Request(job="board/demo", port=0, root=here.repository.root, kubeconfig=str(here.kubeconfig))
    pieces = run(request).pieces
    first = next(pieces)
    url = first.split()[0]
    assert url.startswith("http://127.0.0.1:")
    assert url.endswith("/board/demo/")

    threading.Thread(target=lambda: list(pieces), daemon=True).start()
    for _ in range(2):
        with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310 - our own port
            assert answer.read() == b"board"
    assert kubelet.forwarded == ["/portForward/board/demo-tensorboard-1"] * 2


def test_a_pod_that_was_replaced(world: Make, kubelet: Node) -> None:
    here = world("board-replaced")
    here.job()
    board(here, "second")
    (question,), _ = asked(here)
    gone = Board(namespace="board-replaced", pod="first", port=6006, path="/")
    forwarder = Forwarder(question.target.api, gone, "demo", 0)
    threading.Thread(target=lambda: list(forwarder.errors()), daemon=True).start()
    with urllib.request.urlopen(forwarder.url, timeout=20) as answer:  # noqa: S310 - our own port
        assert answer.read() == b"board"
    forwarder.close()
    assert kubelet.forwarded == ["/portForward/board-replaced/second"]


def test_a_job_without_a_board(world: Make) -> None:
    here = world("board-none")
    here.job()
    output = here.gen("tensorboard", "board-none/demo")
    assert "[no-tensorboard]" in output
    assert here.code == 1
    (question,), _ = asked(here)
    assert find_board(question.target.api, "board-none", "demo") is None
    here.job(name="second")
    with pytest.raises(UsageError, match="matches 2 jobs"):
        here.gen("tensorboard", "board-none/*")


def test_a_port_that_is_taken(world: Make, kubelet: Node) -> None:
    here = world("board-taken")
    here.job()
    board(here)
    with pytest.raises(UsageError, match="pass another `--port`"):
        here.gen("tensorboard", "board-taken/demo", "--port", str(here.cluster.client.port))
    assert kubelet.forwarded == []
    done = CliRunner().invoke(app, ["tensorboard", "--help"])
    assert "--port" in done.output
