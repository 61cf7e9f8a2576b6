"""Real registries: anonymous, with a password, with tokens, with TLS."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import ssl
import subprocess
from typing import TYPE_CHECKING

import pytest

from gen.pins.http import RemoteError
from gen.pins.job_pins import Resolution
from tests.pins import servers
from tests.pins.asking import code_of, one
from tests.pins.servers import PASSWORD, USER, Registry, reply, running_registry, served

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

needs_registry = pytest.mark.skipif(servers.REGISTRY is None, reason="needs docker-registry, a package of Debian")


@needs_registry
def test_a_tag_has_the_digest_and_the_platform_of_its_image(registry: Registry) -> None:
    digest = registry.image("team/train", "1", "a")
    assert one(f"{registry.host}/team/train:1") == Resolution(content=digest, platforms=frozenset({"linux/amd64"}))


@needs_registry
def test_an_image_for_several_platforms_has_the_digest_of_its_index(registry: Registry) -> None:
    digest = registry.index("team/multi", "1", "a", "amd64", "arm64")
    found = one(f"{registry.host}/team/multi:1")
    assert found == Resolution(content=digest, platforms=frozenset({"linux/amd64", "linux/arm64"}))


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
