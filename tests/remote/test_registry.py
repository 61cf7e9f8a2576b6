"""Real registries: anonymous, with a password, with tokens, with TLS; and servers that misbehave."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from gen.remote.errors import RemoteError
from gen.remote.resolve import Found, ImageQuestion, ask
from tests.remote import servers
from tests.remote.servers import INDEX, PASSWORD, USER, Registry, reply, running_registry, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

needs_registry = pytest.mark.skipif(servers.REGISTRY is None, reason="needs docker-registry, a package of Debian")
SECRETS = (PASSWORD, base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode())


@pytest.fixture(autouse=True)
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration of Docker, which is empty."""
    folder = tmp_path / "docker"
    folder.mkdir()
    monkeypatch.setenv("DOCKER_CONFIG", str(folder))
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    if servers.REGISTRY is None:
        pytest.skip("needs docker-registry, a package of Debian")
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


def one(image: str, pin: str = "", seconds: float = 5) -> Any:
    """The only reply; an error is raised."""
    (found,) = ask([ImageQuestion(image=image, pin=pin)], seconds).values()
    if isinstance(found, RemoteError):
        raise found
    return found


def code_of(image: str, seconds: float = 5) -> str:
    with pytest.raises(RemoteError) as caught:
        one(image, seconds=seconds)
    text = f"{caught.value.message} {caught.value.hint}"
    assert not any(secret in text for secret in SECRETS)
    return caught.value.code.name


@needs_registry
def test_a_tag_has_the_digest_and_the_platform_of_its_image(registry: Registry) -> None:
    digest = registry.image("team/train", "1", "a")
    assert one(f"{registry.host}/team/train:1") == Found(content=digest, platforms=frozenset({"linux/amd64"}))


@needs_registry
def test_an_image_for_several_platforms_has_the_digest_of_its_index(registry: Registry) -> None:
    digest = registry.index("team/multi", "1", "a", "amd64", "arm64")
    found = one(f"{registry.host}/team/multi:1")
    assert found == Found(content=digest, platforms=frozenset({"linux/amd64", "linux/arm64"}))


@needs_registry
def test_a_tag_that_moves_and_its_old_digest(registry: Registry) -> None:
    old = registry.image("team/moves", "1", "a")
    new = registry.image("team/moves", "1", "b")
    assert old != new
    assert one(f"{registry.host}/team/moves:1", old).content == new
    assert one(f"{registry.host}/team/moves:1@{old}").content == old


@needs_registry
def test_what_does_not_exist_is_missing(registry: Registry) -> None:
    registry.image("team/here", "1", "a")
    assert code_of(f"{registry.host}/team/here:2") == "missing-image"
    assert code_of(f"{registry.host}/team/gone:1") == "missing-image"
    assert code_of(f"{registry.host}/team/here@sha256:{'0' * 64}") == "missing-image"


@needs_registry
@pytest.mark.skipif(shutil.which("htpasswd") is None, reason="needs htpasswd of apache2-utils, a package of Debian")
def test_basic_authentication_with_the_configuration_of_docker(tmp_path: Path, docker: Path) -> None:
    line = subprocess.run(
        ["htpasswd", "-nbB", USER, PASSWORD],
        capture_output=True,
        check=True,
    ).stdout
    (tmp_path / "htpasswd").write_bytes(line.strip() + b"\n")
    with running_registry(tmp_path / "r", f"{{htpasswd: {{realm: test, path: {tmp_path}/htpasswd}}}}") as running:
        basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        running.headers["Authorization"] = f"Basic {basic}"
        digest = running.image("a", "1", "a")
        assert code_of(f"{running.host}/a:1") == "remote-login"
        (docker / "config.json").write_text(json.dumps({"auths": {f"http://{running.host}/v2/": {"auth": basic}}}))
        assert one(f"{running.host}/a:1").content == digest
        (docker / "config.json").write_text(json.dumps({"auths": {"other.example.com": {"auth": basic}}}))
        assert code_of(f"{running.host}/a:1") == "remote-login"


@needs_registry
def test_tokens_with_a_credential_helper(tmp_path: Path, docker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, cert, key = servers.authority(tmp_path / "ca", "registry.test")
    asked: list[dict[str, str]] = []

    def tokens(handler: BaseHTTPRequestHandler) -> None:
        given = servers.query(handler)
        asked.append(given)
        basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if handler.headers.get("Authorization") != f"Basic {basic}":
            reply(handler, 401)
            return
        text = servers.token(cert, key, given["service"], given["scope"])
        reply(handler, 200, json.dumps({"token": text}).encode())

    with served(tokens) as host:
        auth = f"{{token: {{realm: 'http://{host}/token', service: reg, issuer: test, rootcertbundle: {cert}}}}}"
        with running_registry(tmp_path / "r", auth) as running:
            running.authorize = lambda scope: f"Bearer {servers.token(cert, key, 'reg', scope)}"
            digest = running.image("team/a", "1", "a")
            assert code_of(f"{running.host}/team/a:1") == "remote-login"
            programs = tmp_path / "bin"
            programs.mkdir()
            helper = programs / "docker-credential-vault"
            said = json.dumps({"Username": USER, "Secret": PASSWORD})
            helper.write_text(f"#!/bin/sh\nread host\n[ \"$host\" = {running.host} ] || exit 1\necho '{said}'\n")
            helper.chmod(0o755)
            monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
            (docker / "config.json").write_text(json.dumps({"credHelpers": {running.host: "vault"}}))
            assert one(f"{running.host}/team/a:1").content == digest
            assert {"service": "reg", "scope": "repository:team/a:pull"} in asked
            helper.write_text(f"#!/bin/sh\necho '{PASSWORD}' >&2; echo '{PASSWORD}'; exit 1\n")
            assert code_of(f"{running.host}/team/a:1") == "remote-login"


@needs_registry
def test_tls_with_an_own_authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ca, cert, key = servers.authority(tmp_path / "ca", "registry.test")
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **more: real("127.0.0.1" if host == "registry.test" else host, *rest, **more),
    )
    with running_registry(tmp_path / "r", tls=(cert, key), name="registry.test") as running:
        running.context = ssl.create_default_context(cafile=ca)
        digest = running.image("a", "1", "a")
        with pytest.raises(RemoteError, match="no certificate of a known authority"):
            one(f"{running.host}/a:1")
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        assert one(f"{running.host}/a:1").content == digest
        monkeypatch.delenv("SSL_CERT_FILE")
        folder = tmp_path / "home/.docker/certs.d" / running.host
        folder.mkdir(parents=True)
        (folder / "ca.crt").write_bytes(ca.read_bytes())
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        assert one(f"{running.host}/a:1").content == digest


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
