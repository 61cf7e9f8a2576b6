"""Usage of GPUs: the exporters of nodes through the proxy of a real API server, and hostile answers."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from gen.live.top import _devices
from tests.cases import for_each
from tests.live.test_top import gpu_pod, nodes
from tests.live.world import RUNNING, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Make = Callable[[str], World]

POD = 'hostname="n",container="main",namespace="NS",pod="POD"'
METRICS = f"""\
# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",{POD}}} 90
DCGM_FI_DEV_FB_USED{{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",{POD}}} 40960
DCGM_FI_DEV_GPU_UTIL{{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H100",hostname="n"}} 0
DCGM_FI_DEV_FB_USED{{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H100",hostname="n"}} 9223372036854775794
"""


def test_profiling_metrics_are_preferred_and_instances_replace_their_gpu() -> None:
    text = (
        'DCGM_FI_DEV_GPU_UTIL{UUID="a"} 100\nDCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="a"} 0.25\n'
        'DCGM_FI_DEV_GPU_UTIL{UUID="b"} 100\n'
        'DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="b",GPU_I_ID="7",pod="p",namespace="n"} 0.5\n'
    )
    found = [(pod, used.busy) for pod, used in _devices(text)]
    assert found == [(None, 0.25), (("n", "p"), 0.5)]


@for_each(
    "text",
    [
        "",
        "<html>",
        'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 9223372036854775794',
        'DCGM_FI_DEV_GPU_UTIL{gpu="0"} NaN',
        'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 1e999',
        'DCGM_FI_DEV_GPU_UTIL{gpu="0"} -5',
        'DCGM_FI_DEV_FB_USED{gpu="0"} 5',
        "DCGM_FI_DEV_GPU_UTIL 5",
        'DCGM_FI_DEV_GPU_UTIL{a="' + "\\" * 100_000,
        "\0" * 1000,
    ],
)
def test_other_texts_have_no_devices(text: str) -> None:
    assert list(_devices(text)) == []


@contextmanager
def exporter(address: str, text: bytes, status: int = 200) -> Iterator[int]:
    """An exporter on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
            pass

        def do_GET(self) -> None:
            self.send_response(status if self.path == "/metrics" else 404)
            self.end_headers()
            with suppress(ConnectionError):
                self.wfile.write(text)

    server = ThreadingHTTPServer((address, 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def address() -> str:
    """An address of this machine to which an API server connects: not the loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            own = str(probe.getsockname()[0])
        except OSError:
            own = "127.0.0.1"
    if own.startswith("127."):
        pytest.skip("this machine has only the loopback address")
    return own


def exporting(here: World, node: str, address: str, port: int) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"dcgm-{node}",
            "namespace": here.namespace,
            "labels": {"app": "nvidia-dcgm-exporter"},
        },
        "spec": {
            "nodeName": node,
            "containers": [{"name": "e", "image": "a:1", "ports": [{"name": "metrics", "containerPort": port}]}],
        },
    }
    here.status(here.cluster.apply(pod), {**RUNNING, "podIP": address, "podIPs": [{"ip": address}]})


def test_usage_of_gpus(world: Make, address: str) -> None:
    here = world("top-dcgm")
    run = here.job(more="gpus: 1\n")
    pod = f"{run['metadata']['name']}-worker-0"
    text = METRICS.replace("NS", here.namespace).replace("POD", pod).encode()
    with (
        nodes(here, measured=8, broken=8, silent=8),
        exporter(address, text) as port,
        exporter(address, b"", 500) as bad,
    ):
        gpu_pod(here, run, 0, "measured", 1)
        exporting(here, "measured", address, port)
        exporting(here, "broken", address, bad)
        document = json.loads(here.gen("top", "--output", "json"))
        assert here.code == 0
        found = {node["node"]: node["gpuUsage"] for node in document["nodes"]}
        assert {name: found[name] for name in ("measured", "broken", "silent")} == {
            "measured": {"devices": 2, "busy": 0.45, "memory": 40 << 30},
            "broken": None,
            "silent": None,
        }
        (job,) = [one for one in document["jobs"] if one["job"] == "demo" and one["namespace"] == here.namespace]
        assert job["gpuUsage"] == {"devices": 1, "busy": 0.9, "memory": 40 << 30}
        text_ = here.gen("top")
        assert "BUSY" in text_
        assert "90%" in text_


def test_an_endless_answer_is_cut(world: Make, address: str) -> None:
    here = world("top-endless")
    line = b'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a"} 50\n'
    with nodes(here, endless=8), exporter(address, line * (8 << 20 >> 5)) as port:
        exporting(here, "endless", address, port)
        document = json.loads(here.gen("top", "--output", "json"))
        (node,) = [one for one in document["nodes"] if one["node"] == "endless"]
        assert node["gpuUsage"] == {"devices": 1, "busy": 0.5, "memory": 0}
