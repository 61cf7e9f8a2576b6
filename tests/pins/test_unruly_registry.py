"""Servers that are busy, hang, or answer anything."""

from __future__ import annotations

import hashlib
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from gen.pins.http import RemoteError
from gen.pins.job_pins import ImageQuestion, Resolution, ask
from tests.cases import for_each
from tests.pins import servers
from tests.pins.asking import code_of, one
from tests.pins.content import BODY, DIGEST, good
from tests.pins.servers import reply, served

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler


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
        assert one(f"{host}/a:1") == Resolution(content=servers.digest_of(body))


GARBAGE = {
    "binary": b"\x00\xff" * 1000,
    "many headers": b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 500 + b"\r\n",
    "long header": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    "status in words": b"HTTP/1.1 abc OK\r\n\r\n",
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\nDocker-Content-Digest: sha256:"
    + b"a" * 64
    + b"\r\n\r\n",
    "redirect to nowhere": b"HTTP/1.1 302 Resolution\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n",
    "realm of nowhere": b'HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer realm="http://[::1"\r\nContent-Length: 0\r\n\r\n',
    "chunks without an end": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFF\r\n",
}


@for_each("raw", GARBAGE.values(), ids=GARBAGE)
def test_any_bytes_end_in_a_finding(raw: bytes) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(raw)
        handler.close_connection = True

    with served(answer) as host:
        assert code_of(f"{host}/a:1", seconds=1) in {"remote-answer", "remote-unreachable"}


@pytest.mark.slow
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
    assert len({reply.content for reply in replies.values() if isinstance(reply, Resolution)}) == 1
    assert 2 <= most <= 8


@pytest.mark.slow
def test_few_hosts_are_asked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job can name thousands of registries, and a thread for each would be more than a process may have."""
    lock, now, most = threading.Lock(), 0, 0

    def reply(host: object, question: ImageQuestion) -> Resolution:  # noqa: ARG001 - the interface
        nonlocal now, most
        with lock:
            now, most = now + 1, max(most, now + 1)
        threading.Event().wait(0.002)
        with lock:
            now -= 1
        return Resolution(content=question.image)

    monkeypatch.setattr("gen.pins.job_pins._Host._reply", reply)
    questions = [ImageQuestion(image=f"registry-{number}.example.com/team/a:1") for number in range(300)]
    replies = ask(questions, 10)
    assert {one.content for one in replies.values() if isinstance(one, Resolution)} == {one.image for one in questions}
    assert 2 <= most <= 16


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


def test_a_digest_of_the_other_function_is_verified() -> None:
    digest = f"sha512:{hashlib.sha512(BODY.encode()).hexdigest()}"
    with served(good) as host:
        assert one(f"{host}/a@{digest}").content == digest
        assert code_of(f"{host}/a@sha512:{'0' * 128}") == "remote-answer"
