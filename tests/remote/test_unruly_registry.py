"""Servers that are busy, hang, answer anything, or lead elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
from typing import TYPE_CHECKING, Any

import pytest

from gen.remote.errors import RemoteError
from gen.remote.resolve import Found, ImageQuestion, ask
from tests.remote import servers
from tests.remote.asking import code_of, one
from tests.remote.servers import INDEX, PASSWORD, USER, reply, served

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

BODY = json.dumps(
    {"schemaVersion": 2, "mediaType": INDEX, "manifests": [{"platform": {"os": "linux", "architecture": "amd64"}}]}
)
DIGEST = servers.digest_of(BODY.encode())


def good(handler: BaseHTTPRequestHandler) -> None:
    reply(handler, 200, BODY.encode(), Docker_Content_Digest=DIGEST, Content_Type=INDEX)


def test_a_busy_registry_is_asked_again_after_the_pause_that_it_wants() -> None:
    seen: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.path)
        good(handler) if len(seen) > 2 else reply(handler, 429, Retry_After="0")

    with served(answer) as host:
        assert one(f"{host}/a:1").content == DIGEST
    assert len(seen) == 4


def test_a_limit_that_lasts_longer_than_the_command_is_reported_at_once() -> None:
    with served(lambda handler: reply(handler, 429, Retry_After="86400")) as host:
        assert code_of(f"{host}/a:1") == "remote-answer"


def test_a_registry_that_stays_busy_costs_a_few_requests() -> None:
    seen: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.path)
        reply(handler, 503, Retry_After="0")

    with served(answer) as host:
        replies = ask([ImageQuestion(image=f"{host}/a:{tag}") for tag in range(200)], 5)
    assert {reply.code.name for reply in replies.values() if isinstance(reply, RemoteError)} == {"remote-answer"}
    assert len(replies) == 200
    assert len(seen) < 120


@pytest.mark.parametrize(
    "platform", [{"os": "\x1b[2J", "architecture": "`@all`"}, {"os": 1, "architecture": []}, [], "linux/amd64"]
)
def test_a_platform_of_another_form_is_not_shown(platform: Any) -> None:
    body = json.dumps({"manifests": [{"platform": platform}, 1]}).encode()
    with served(lambda handler: reply(handler, 200, body, Docker_Content_Digest=servers.digest_of(body))) as host:
        assert one(f"{host}/a:1") == Found(content=servers.digest_of(body))


GARBAGE = {
    "binary": b"\x00\xff" * 1000,
    "many headers": b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 500 + b"\r\n",
    "long header": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    "status in words": b"HTTP/1.1 abc OK\r\n\r\n",
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\nDocker-Content-Digest: sha256:"
    + b"a" * 64
    + b"\r\n\r\n",
    "redirect to nowhere": b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n",
    "realm of nowhere": b'HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer realm="http://[::1"\r\nContent-Length: 0\r\n\r\n',
    "chunks without an end": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFF\r\n",
}


@pytest.mark.parametrize("raw", GARBAGE.values(), ids=GARBAGE)
def test_any_bytes_end_in_a_finding(raw: bytes) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(raw)
        handler.close_connection = True

    with served(answer) as host:
        assert code_of(f"{host}/a:1", seconds=1) in {"remote-answer", "remote-unreachable"}


def test_a_registry_that_hangs_costs_one_limit_for_all_its_images() -> None:
    release = threading.Event()
    begun: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        begun.append(handler.path)
        release.wait(20)

    with served(answer) as host:
        replies = ask([ImageQuestion(image=f"{host}/a:{tag}") for tag in range(200)], 0.3)
        release.set()
    assert {reply.code.name for reply in replies.values() if isinstance(reply, RemoteError)} == {"remote-unreachable"}
    assert len(replies) == 200
    assert len(begun) < 30


@pytest.mark.slow
def test_a_registry_that_sends_a_byte_now_and_then_ends() -> None:
    stop = threading.Event()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not stop.wait(0.05):
            handler.wfile.write(b"X")

    with served(answer) as host:
        assert code_of(f"{host}/a:1", seconds=0.2) == "remote-unreachable"
        stop.set()


@pytest.mark.slow
def test_a_host_has_few_connections_at_once() -> None:
    lock, now, most = threading.Lock(), 0, 0

    def answer(handler: BaseHTTPRequestHandler) -> None:
        nonlocal now, most
        with lock:
            now, most = now + 1, max(most, now + 1)
        threading.Event().wait(0.003)
        good(handler)
        with lock:
            now -= 1

    with served(answer) as host:
        replies = ask([ImageQuestion(image=f"{host}/team/a{number}:1") for number in range(200)], 10)
    assert len({reply.content for reply in replies.values() if isinstance(reply, Found)}) == 1
    assert 2 <= most <= 8


def test_few_hosts_are_asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job can name thousands of registries, and a thread for each would be more than a process may have."""
    lock, now, most = threading.Lock(), 0, 0

    def reply(host: object, question: ImageQuestion) -> Found:  # noqa: ARG001 - the interface
        nonlocal now, most
        with lock:
            now, most = now + 1, max(most, now + 1)
        threading.Event().wait(0.002)
        with lock:
            now -= 1
        return Found(content=question.image)

    monkeypatch.setattr("gen.remote.resolve._Host._reply", reply)
    questions = [ImageQuestion(image=f"registry-{number}.example.com/team/a:1") for number in range(300)]
    replies = ask(questions, 10)
    assert {one.content for one in replies.values() if isinstance(one, Found)} == {one.image for one in questions}
    assert 2 <= most <= 16


@pytest.mark.parametrize(
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


def test_a_manifest_without_an_end_is_cut_off() -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Docker-Content-Digest", DIGEST)
        handler.end_headers()
        try:
            while handler.command != "HEAD":
                handler.wfile.write(b" " * (1 << 20))
        except OSError:
            handler.close_connection = True

    with served(answer) as host:
        assert code_of(f"{host}/a:1") == "remote-answer"


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


def test_a_digest_of_the_other_function_is_verified() -> None:
    digest = f"sha512:{hashlib.sha512(BODY.encode()).hexdigest()}"
    with served(good) as host:
        assert one(f"{host}/a@{digest}").content == digest
        assert code_of(f"{host}/a@sha512:{'0' * 128}") == "remote-answer"
