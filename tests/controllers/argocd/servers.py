"""A recipient of Slack messages on this machine."""

from __future__ import annotations

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from collections.abc import Iterator

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
