"""A fake kubelet: logs and ports of pods, behind the API server as a node."""

from __future__ import annotations

import base64
import hashlib
import ssl
import threading
from collections import defaultdict
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.cluster import Cluster

NODE = "node-1"


class Node:
    """Logs by pod and container. A test adds lines, ends a log, or cuts the connections that follow it."""

    def __init__(self) -> None:
        self.lines: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        self.previous: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        self.ended: set[tuple[str, str]] = set()
        self.changed = threading.Condition()
        self.queries: list[dict[str, list[str]]] = []
        self.cuts = 0
        self.forwarded: list[str] = []
        """Paths of requests for ports."""

    def log(self, pod: str, *lines: tuple[int, str], container: str = "main") -> None:
        """Add lines, each with a second of a day."""
        with self.changed:
            self.lines[pod, container] += [(time_of(second), text) for second, text in lines]
            self.changed.notify_all()

    def end(self, pod: str, container: str = "main") -> None:
        with self.changed:
            self.ended.add((pod, container))
            self.changed.notify_all()

    def cut(self) -> None:
        with self.changed:
            self.cuts += 1
            self.changed.notify_all()


def time_of(second: int) -> str:
    return f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000000000Z"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    node: Node

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        pass

    def do_GET(self) -> None:
        split = urlsplit(self.path)
        query = parse_qs(split.query)
        if split.path.startswith("/portForward/"):
            self._forward(split.path)
            return
        *_, pod, container = split.path.split("/")
        key = pod, container
        self.node.queries.append(query)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        known = self.node.previous if "previous" in query else self.node.lines
        start, cuts = 0, self.node.cuts
        while True:
            with self.node.changed:
                new = known[key][start:]
                start += len(new)
            for time, text in new:
                if time[:19] >= query.get("sinceTime", [""])[0][:19]:
                    self._chunk(f"{time} {text}\n".encode())
            if "follow" not in query or key in self.node.ended or self.node.cuts != cuts:
                break
            with self.node.changed:
                if len(known[key]) == start:
                    self.node.changed.wait(1)
        self._chunk(b"")

    def _forward(self, path: str) -> None:
        """A page on every port of every pod, through the protocol `v4.channel.k8s.io` of kubelets."""
        self.node.forwarded.append(path)
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", websocket_key(self.headers["Sec-WebSocket-Key"]))
        self.send_header("Sec-WebSocket-Protocol", "v4.channel.k8s.io")
        self.end_headers()
        for channel in (b"\0", b"\1"):
            self.wfile.write(frame(channel + (6006).to_bytes(2, "little")))
        self.wfile.flush()
        if read_frame(self.rfile):
            page = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nboard"
            self.wfile.write(frame(b"\0" + page))
            self.wfile.flush()
            read_frame(self.rfile)
        self.close_connection = True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


@contextmanager
def node(cluster: Cluster, certificate: Path) -> Iterator[Node]:
    """A node of the cluster that answers for its pods."""
    made = Node()
    handler = type("Handler", (_Handler,), {"node": made})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
    live = cluster.apply(body)
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": server.server_address[1]}},
    }
    assert cluster.client.merge(f"{cluster.path(live)}/status", {"status": status}).status == 200
    try:
        yield made
    finally:
        made.cut()
        server.shutdown()
        server.server_close()


def websocket_key(key: str) -> str:
    """The answer to a handshake (RFC 6455)."""
    digest = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode(), usedforsecurity=False).digest()
    return base64.b64encode(digest).decode()


def frame(data: bytes) -> bytes:
    """A short binary frame of a server."""
    assert len(data) < 126
    return bytes([0x82, len(data)]) + data


def read_frame(stream: Any) -> bytes:
    """The data of a frame of a client; empty at its end."""
    head = stream.read(2)
    if len(head) < 2 or head[0] & 0x0F == 8:
        return b""
    length = head[1] & 0x7F
    if length == 126:
        length = int.from_bytes(stream.read(2), "big")
    mask = stream.read(4) if head[1] & 0x80 else b"\0\0\0\0"
    return bytes(byte ^ mask[index % 4] for index, byte in enumerate(stream.read(length)))
