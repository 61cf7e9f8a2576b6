"""Git repositories over HTTP on loopback, by `git http-backend`. The server can be away."""

from __future__ import annotations

import os
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(slots=True)
class GitServer:
    """Serves the bare repositories of a folder."""

    folder: Path
    port: int = 0
    away: bool = False
    """Whether every request fails, as those to a server that is down."""
    requests: list[str] = field(default_factory=list)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}.git"

    def create(self, name: str) -> None:
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", self.folder / f"{name}.git"], check=True)


@contextmanager
def git_server(folder: Path) -> Iterator[GitServer]:
    server = GitServer(folder)
    backend = subprocess.run(["git", "--exec-path"], check=True, capture_output=True, text=True).stdout.strip()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append(self.path)
            if server.away:
                self.send_error(503)
                return
            status, headers, content = _answer(f"{backend}/git-http-backend", folder, self)
            self.send_response(status)
            for name, value in (*headers, ("Content-Length", str(len(content)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815 - names that the base class calls

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server.port = http.server_address[1]
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()


def _answer(backend: str, folder: Path, request: BaseHTTPRequestHandler) -> tuple[int, list[tuple[str, str]], bytes]:
    """Status, headers and content, by the rules of CGI."""
    path, _, query = request.path.partition("?")
    content = request.rfile.read(int(request.headers.get("Content-Length") or 0))
    environment = {
        **os.environ,
        "GIT_PROJECT_ROOT": str(folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "REQUEST_METHOD": request.command,
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(content)),
        "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
    }
    output = subprocess.run([backend], input=content, env=environment, capture_output=True, check=True).stdout
    head, _, body = output.partition(b"\r\n\r\n")
    headers = [(name, value) for name, _, value in (line.partition(": ") for line in head.decode().split("\r\n"))]
    status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
    return status, [(name, value) for name, value in headers if name != "Status"], body
