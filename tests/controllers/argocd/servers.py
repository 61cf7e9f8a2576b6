"""Bare Git repositories over HTTP on this machine, and a recipient of Slack messages."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SLACK_ANSWER = b'{"ok":true,"channel":"C1","ts":"1.1"}'


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """URL of a server with this handler."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def repositories(folder: Path) -> type[BaseHTTPRequestHandler]:
    """Read access to all repositories in a folder, by the CGI program of Git."""

    class Repositories(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            length = int(self.headers.get("content-length") or 0)
            environment = {
                **os.environ,
                "GIT_PROJECT_ROOT": str(folder),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("content-type", ""),
                "CONTENT_LENGTH": str(length),
                "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
                "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
            }
            output = subprocess.run(
                ["git", "http-backend"], input=self.rfile.read(length), env=environment, capture_output=True, check=True
            ).stdout
            head, _, body = output.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(headers.pop("Status", "200").split()[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the name that the server calls

        def log_message(self, *_: object) -> None:
            """No access log."""

    return Repositories


def slack(messages: list[str]) -> type[BaseHTTPRequestHandler]:
    """The API of Slack, which accepts every message."""

    class Slack(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            messages.extend(parse_qs(body).get("text", []))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(_SLACK_ANSWER)))
            self.end_headers()
            self.wfile.write(_SLACK_ANSWER)

        def log_message(self, *_: object) -> None:
            """No access log."""

    return Slack
