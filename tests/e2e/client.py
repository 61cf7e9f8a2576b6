"""Requests to one API server, with the standard library only."""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass
from http.client import HTTPException, HTTPSConnection, RemoteDisconnected
from typing import TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:
    from pathlib import Path

    from gen.kubernetes.objects import Body

_TIMEOUT_S = 60
"""For one request: several megabytes of CRD take the server seconds."""


_CLOSED = (RemoteDisconnected, BrokenPipeError, ConnectionResetError, ssl.SSLEOFError)
"""The server closes idle connections."""


@dataclass(frozen=True, slots=True)
class Response:
    """Answer of the server. An acceptance can have warnings, too."""

    status: int
    text: str
    warnings: tuple[str, ...]

    @property
    def body(self) -> Body:
        body: Body = json.loads(self.text)
        return body

    @property
    def message(self) -> str:
        """The reason of a refusal, else what there is."""
        try:
            return str(self.body["message"])
        except (ValueError, KeyError):
            return self.text


class Client:
    """Talks to a server on this machine, as an administrator."""

    def __init__(self, port: int, token: str, authority: Path) -> None:
        # not through a proxy, which `HTTPSConnection` never looks for
        self.port = port
        self._token = token
        self.authority = authority
        self._idle: list[HTTPSConnection] = []
        self._tls = ssl.create_default_context(cafile=authority)

    def get(self, path: str) -> Response:
        return self._send("GET", path)

    def create(self, path: str, content: Body | bytes, **query: str) -> Response:
        """An object, or the text of a file with one."""
        if isinstance(content, bytes):
            return self._send("POST", f"{path}?{urlencode(query)}", content, "application/yaml")
        return self._send("POST", f"{path}?{urlencode(query)}", json.dumps(content).encode(), "application/json")

    def apply(self, path: str, content: Body, **query: str) -> Response:
        """Server-side apply of an object."""
        text = json.dumps(content).encode()
        return self._send("PATCH", f"{path}?{urlencode(query)}", text, "application/apply-patch+yaml")

    def merge(self, path: str, content: Body) -> Response:
        """JSON merge patch of an object, or of its status with a path that ends in `/status`."""
        return self._send("PATCH", path, json.dumps(content).encode(), "application/merge-patch+json")

    def delete(self, path: str) -> Response:
        # by default a Job would wait for a garbage collector, and none runs here
        return self._send("DELETE", f"{path}?propagationPolicy=Background")

    def kubeconfig(self) -> Body:
        """Content of a file for programs that talk to the same server."""
        cluster = {"server": f"https://127.0.0.1:{self.port}", "certificate-authority": str(self.authority)}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": self._token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
            "current-context": "test",
        }

    def is_ready(self) -> bool:
        try:
            return self.get("/readyz").status == 200
        except (OSError, HTTPException):
            return False

    def _send(self, method: str, path: str, content: bytes | None = None, content_type: str = "") -> Response:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if content is not None:
            headers["Content-Type"] = content_type
        connection = self._idle.pop() if self._idle else self._connection()
        try:
            answer = self._answered(connection, method, path, content, headers)
        except _CLOSED:
            answer = self._answered(connection, method, path, content, headers)
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return answer

    def _connection(self) -> HTTPSConnection:
        # it connects with the first request, and again after it was closed
        return HTTPSConnection("127.0.0.1", self.port, timeout=_TIMEOUT_S, context=self._tls)

    @staticmethod
    def _answered(
        connection: HTTPSConnection, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> Response:
        try:
            connection.request(method, path, content, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, HTTPException):
            connection.close()
            raise
        return Response(answer.status, text, tuple(answer.headers.get_all("Warning", ())))

    def close(self) -> None:
        """Close the connections that were kept for further requests: a handshake takes longer than most requests."""
        while self._idle:
            self._idle.pop().close()
