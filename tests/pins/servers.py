"""Real servers on this machine: a registry of images, a server of tokens for it, and Git by HTTP; and odd ones."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urljoin, urlsplit

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator
    from pathlib import Path

REGISTRY = shutil.which("docker-registry")
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
USER, PASSWORD = "robot", "correct-horse-battery"


def free_port() -> int:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def digest_of(raw: bytes) -> str:
    return f"sha256:{hashlib.sha256(raw).hexdigest()}"


@dataclass
class Registry:
    """A running registry, and images to push."""

    host: str
    url: str
    headers: dict[str, str] = field(default_factory=dict)
    context: ssl.SSLContext | None = None
    authorize: Callable[[str], str] | None = None
    """The header for a scope."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of the manifests by digest."""

    def send(self, method: str, path: str, body: bytes | None = None, kind: str = "", scope: str = "") -> Any:
        headers = dict(self.headers)
        if kind:
            headers["Content-Type"] = kind
        if self.authorize is not None:
            headers["Authorization"] = self.authorize(scope)
        request = urllib.request.Request(urljoin(self.url, path), data=body, method=method, headers=headers)  # noqa: S310
        return urllib.request.urlopen(request, context=self.context, timeout=10)  # noqa: S310 - of this test

    def blob(self, name: str, raw: bytes) -> str:
        scope = f"repository:{name}:pull,push"
        with self.send("POST", f"/v2/{name}/blobs/uploads/", b"", scope=scope) as answer:
            place = answer.headers["Location"]
        mark = "&" if "?" in place else "?"
        self.send("PUT", f"{place}{mark}digest={digest_of(raw)}", raw, "application/octet-stream", scope).close()
        return digest_of(raw)

    def put(self, name: str, tag: str, body: dict[str, Any]) -> str:
        raw = json.dumps(body).encode()
        self.send("PUT", f"/v2/{name}/manifests/{tag}", raw, body["mediaType"], f"repository:{name}:pull,push").close()
        self.sizes[digest_of(raw)] = len(raw)
        return digest_of(raw)

    def image(self, name: str, tag: str, content: str, architecture: str = "amd64") -> str:
        """Push an image for one platform. The digest of its manifest."""
        config = json.dumps({"os": "linux", "architecture": architecture, "comment": content}).encode()
        entry = {"mediaType": "application/vnd.oci.image.config.v1+json", "size": len(config)}
        body = {"schemaVersion": 2, "mediaType": MANIFEST, "layers": []}
        return self.put(name, tag, body | {"config": entry | {"digest": self.blob(name, config)}})

    def index(self, name: str, tag: str, content: str, *architectures: str) -> str:
        """Push an image for several platforms. The digest of the index."""
        entries = []
        for architecture in architectures:
            digest = self.image(name, f"{tag}-{architecture}", content, architecture)
            size = self.sizes[digest]
            platform = {"os": "linux", "architecture": architecture}
            entries.append({"mediaType": MANIFEST, "digest": digest, "size": size, "platform": platform})
        return self.put(name, tag, {"schemaVersion": 2, "mediaType": INDEX, "manifests": entries})


@contextmanager
def running_registry(
    folder: Path, auth: str = "", tls: tuple[Path, Path] | None = None, name: str = "127.0.0.1"
) -> Iterator[Registry]:
    """Debian's docker-registry with its files in a folder."""
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        "version: 0.1",
        "log: {level: error}",
        f"storage: {{filesystem: {{rootdirectory: {folder}/data}}, delete: {{enabled: true}}}}",
        f"http: {{addr: '127.0.0.1:{port}'" + (f", tls: {{certificate: {tls[0]}, key: {tls[1]}}}" if tls else "") + "}",
        *([f"auth: {auth}"] if auth else []),
    ]
    (folder / "config.yml").write_text("\n".join(lines) + "\n", "utf-8")
    assert REGISTRY is not None
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([REGISTRY, "serve", f"{folder}/config.yml"], stdout=log, stderr=log)
    try:
        _wait(port, process)
        yield Registry(f"{name}:{port}", f"{'https' if tls else 'http'}://{name}:{port}")
    finally:
        process.terminate()
        process.wait(10)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    """Until a port is open."""
    for _ in range(600):
        with closing(socket.socket()) as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, "the server ended"
        threading.Event().wait(0.05)
    raise AssertionError("the server did not start")


Answers = "Callable[[BaseHTTPRequestHandler], None]"


@contextmanager
def served(answer: Callable[[BaseHTTPRequestHandler], None], context: ssl.SSLContext | None = None) -> Iterator[str]:
    """A server of this test: `127.0.0.1:<port>`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

        def _any(self) -> None:
            answer(self)

        do_GET = do_HEAD = do_POST = do_CONNECT = _any  # noqa: N815 - names of the library

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def reply(handler: BaseHTTPRequestHandler, status: int, body: bytes = b"", **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)


def authority(folder: Path, *names: str) -> tuple[Path, Path, Path]:
    """An authority of its own: its certificate, and the certificate and key of a server."""
    folder.mkdir(parents=True, exist_ok=True)
    ca, ca_key, cert, key = (folder / name for name in ("ca.crt", "ca.key", "server.crt", "server.key"))
    short = ("-newkey", "rsa:2048", "-nodes", "-days", "2")
    _openssl("req", "-x509", *short, "-keyout", ca_key, "-out", ca, "-subj", "/CN=authority of a test")
    _openssl("req", *short[:3], "-keyout", key, "-out", folder / "csr", "-subj", f"/CN={names[0]}")
    (folder / "ext").write_text("subjectAltName=" + ",".join(f"DNS:{name}" for name in names), "utf-8")
    signed = ("x509", "-req", "-in", folder / "csr", "-CA", ca, "-CAkey", ca_key, "-CAcreateserial", "-days", "2")
    _openssl(*signed, "-out", cert, "-extfile", folder / "ext")
    return ca, cert, key


def _openssl(*arguments: object, given: bytes = b"") -> bytes:
    done = subprocess.run(["openssl", *map(str, arguments)], input=given, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def token(cert: Path, key: Path, service: str, scope: str) -> str:
    """A token that the registry accepts (distribution `spec/auth/jwt.md`)."""
    kind, name, actions = scope.split(":") if scope else ("registry", "catalog", "*")
    der = _openssl("x509", "-in", cert, "-outform", "DER")
    header = {"typ": "JWT", "alg": "RS256", "x5c": [base64.b64encode(der).decode()]}
    claims = {"iss": "test", "sub": USER, "aud": service, "exp": 4102444800, "nbf": 0, "iat": 0, "jti": "1"}
    claims["access"] = [{"type": kind, "name": name, "actions": actions.split(",")}]
    text = ".".join(_base64(json.dumps(part).encode()) for part in (header, claims))
    return f"{text}.{_base64(_openssl('dgst', '-sha256', '-sign', key, given=text.encode()))}"


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def query(handler: BaseHTTPRequestHandler) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(handler.path).query).items()}


def git(*arguments: object, folder: Path | None = None) -> str:
    command = ["git", *(["-C", str(folder)] if folder else []), *map(str, arguments)]
    identity = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"} | {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "a"), ("EMAIL", "a@b.c"))
    }
    done = subprocess.run(command, env=os.environ | identity, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@contextmanager
def git_server(folder: Path, password: str = "") -> Iterator[str]:
    """The repositories in a folder, by Git's own program for HTTP; the URL of the folder."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        given = handler.headers.get("Authorization", "")
        expected = "Basic " + base64.b64encode(f"{USER}:{password}".encode()).decode()
        if password and given != expected:
            reply(handler, 401, WWW_Authenticate='Basic realm="git"')
            return
        parts = urlsplit(handler.path)
        length = int(handler.headers.get("Content-Length") or 0)
        environment = {
            "GIT_PROJECT_ROOT": str(folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": handler.command,
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
            "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
            "PATH": os.environ["PATH"],
        }
        done = subprocess.run(
            ["git", "http-backend"],
            input=handler.rfile.read(length),
            env=environment,
            capture_output=True,
            check=False,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        status = int(headers.pop("Status", "200").split()[0])
        reply(handler, status, body, **headers)

    with served(answer) as host:
        yield f"http://{host}"
