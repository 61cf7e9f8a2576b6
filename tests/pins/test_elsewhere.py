"""Answers that lead elsewhere, and credentials that stay at their host."""

from __future__ import annotations

import base64
import json
import socket
from typing import TYPE_CHECKING, Any

import pytest

from tests.cases import for_each
from tests.pins.asking import code_of, one
from tests.pins.content import DIGEST, good
from tests.pins.servers import PASSWORD, USER, reply, served

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path


@for_each(
    ("headers", "status"),
    [
        ({"Location": "http://example.com/v2/a"}, 307),
        ({"Location": "file:///etc/passwd"}, 302),
        ({"WWW-Authenticate": 'Bearer realm="http://tokens.example.com/",service="a"'}, 401),
        ({"WWW-Authenticate": 'Bearer realm="file:///etc/passwd"'}, 401),
        ({"WWW-Authenticate": "Negotiate"}, 401),
        ({"Docker-Content-Digest": "sha256:0"}, 200),
        ({"Docker-Content-Digest": f"sha256:{'0' * 64}"}, 200),
        ({"Docker-Content-Digest": f"sha256:{'0' * 64}\x1b[2J"}, 200),
    ],
    ids=str,
)
def test_an_answer_that_leads_elsewhere_is_refused(headers: dict[str, str], status: int) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "2")
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(b"{}")

    with served(answer) as host:
        assert code_of(f"{host}/a:1") == "remote-answer"


def test_a_password_is_not_sent_to_another_host(docker: Path) -> None:
    basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    got: list[str | None] = []

    def other(handler: BaseHTTPRequestHandler) -> None:
        got.append(handler.headers.get("Authorization"))
        good(handler)

    with served(other) as elsewhere:

        def answer(handler: BaseHTTPRequestHandler) -> None:
            if handler.headers.get("Authorization") is None:
                reply(handler, 401, WWW_Authenticate='Basic realm="a"')
            else:
                reply(handler, 307, Location=f"http://{elsewhere}{handler.path}")

        with served(answer) as host:
            (docker / "config.json").write_text(json.dumps({"auths": {host: {"auth": basic}}}))
            assert one(f"{host}/a:1").content == DIGEST
    assert got
    assert set(got) == {None}


def test_an_identity_token_is_not_sent_to_another_host(docker: Path) -> None:
    got: list[bytes] = []

    def other(handler: BaseHTTPRequestHandler) -> None:
        got.append(handler.rfile.read(int(handler.headers.get("Content-Length") or 0)))
        reply(handler, 200, b'{"token": "t"}')

    with served(other) as elsewhere:

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
            if handler.command == "POST":
                reply(handler, 307, Location=f"http://{elsewhere}/token")
            else:
                realm = f"http://{handler.headers['Host']}/token"
                reply(handler, 401, WWW_Authenticate=f'Bearer realm="{realm}",service="a"')

        with served(answer) as host:
            (docker / "config.json").write_text(json.dumps({"auths": {host: {"identitytoken": PASSWORD}}}))
            assert code_of(f"{host}/a:1") == "remote-answer"
    assert got == []


def test_an_identity_token_is_exchanged(docker: Path) -> None:
    forms: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.command == "POST":
            forms.append(handler.rfile.read(int(handler.headers["Content-Length"])).decode())
            reply(handler, 200, b'{"access_token": "abc"}')
        elif handler.headers.get("Authorization") == "Bearer abc":
            good(handler)
        else:
            address = f"http://{handler.headers['Host']}/token"
            reply(handler, 401, WWW_Authenticate=f'Bearer realm="{address}",service="reg"')

    with served(answer) as host:
        (docker / "config.json").write_text(json.dumps({"auths": {host: {"identitytoken": PASSWORD}}}))
        assert one(f"{host}/team/a:1").content == DIGEST
    assert forms
    assert all("grant_type=refresh_token" in form and "scope=repository%3Ateam%2Fa%3Apull" in form for form in forms)


@pytest.mark.parametrize("skipped", [False, True])
def test_a_proxy_of_the_environment(skipped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str, str | None]] = []
    real = socket.getaddrinfo

    def lookup(host: str, *rest: Any, **more: Any) -> Any:
        if host == "registry.test":
            raise socket.gaierror("no such name")
        return real(host, *rest, **more)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        asked.append((handler.command, handler.path, handler.headers.get("Proxy-Authorization")))
        reply(handler, 403)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    with served(answer) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{USER}:{PASSWORD}@{proxy}")
        if skipped:
            monkeypatch.setenv("NO_PROXY", "registry.test")
        assert code_of("registry.test/a:1") == "remote-unreachable"
    basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    assert asked == ([] if skipped else [("CONNECT", "registry.test:443", f"Basic {basic}")])
