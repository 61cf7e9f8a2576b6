"""Requests to registries: the only file here that imports an HTTP client. Servers are strangers: all has limits."""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import cached_property
from http import HTTPStatus
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct

from gen import LIVE_EXTRA
from gen.base import Code, UsageError
from gen.base.codes.pins import REMOTE_ANSWER, REMOTE_UNREACHABLE

DOCKER_HUB: Final = "docker.io"
_API_OF_DOCKER_HUB: Final = "registry-1.docker.io"


class Reference(Struct, frozen=True, kw_only=True):
    """An image as a registry knows it."""

    host: str
    """With a port, if it has one."""
    repository: str
    tag: str
    """Tag, or digest."""

    @classmethod
    def of(cls, image: str) -> Reference:
        """The parts of a valid image reference."""
        name, _, digest = image.partition("@")
        first, slash, rest = name.partition("/")
        if slash and ("." in first or ":" in first or first == "localhost"):
            host, name = first, rest
        else:
            host = DOCKER_HUB
        name, _, tag = name.partition(":")
        host = DOCKER_HUB if host == "index.docker.io" else host
        if host == DOCKER_HUB and "/" not in name:
            name = f"library/{name}"
        return cls(host=host, repository=name, tag=digest or tag or "latest")

    @property
    def api(self) -> str:
        """The address of the registry. As in Docker, only one on this machine may be without TLS."""
        host = _API_OF_DOCKER_HUB if self.host == DOCKER_HUB else self.host
        return f"{'http' if is_local(host) else 'https'}://{host}"

    def manifest(self, tag: str = "") -> str:
        return f"{self.api}/v2/{self.repository}/manifests/{tag or self.tag}"

    def blob(self, digest: str) -> str:
        return f"{self.api}/v2/{self.repository}/blobs/{digest}"


def is_local(host: str) -> bool:
    """Whether a host, with or without a port, is this machine."""
    name = host.rpartition(":")[0] or host
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


class RemoteError(Exception):
    """A finding about an image or a ref. Its texts contain nothing that a server, a helper or Git printed."""

    def __init__(self, code: Code, message: str, hint: str, *, silent: bool = False) -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint
        self.silent = silent
        """Whether the server does not answer at all, so that it need not be asked again."""


AT_ONCE: Final = 8
"""Connections to one host."""
MOST_BYTES: Final = 8 << 20
"""Registries limit manifests to 4 MiB (specification of OCI registries)."""
_CHUNK: Final = 1 << 16
_BUSY: Final = frozenset({429, 502, 503, 504})
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS: Final = 4
_ATTEMPTS: Final = 5
_CERTIFICATES: Final = ("/etc/docker/certs.d", "~/.docker/certs.d")
"""Folders with the authorities of registries, as Docker and containerd read them: `<host>/*.crt`."""


class Answer(Struct, frozen=True, kw_only=True):
    """The answer of a server."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


def require_client() -> None:
    """UsageError if the client is not installed."""
    try:
        import urllib3  # noqa: F401 - an extra
    except ImportError:
        raise UsageError(f"this command needs an HTTP client: {LIVE_EXTRA}") from None


class Http:
    """Connections to one host, with the proxy of the environment and the user's authorities."""

    def __init__(self, host: str, seconds: float) -> None:
        self.host, self._seconds = host, seconds

    def request(
        self, method: str, url: str, headers: Mapping[str, str], deadline: float, body: bytes | None = None
    ) -> Answer:
        """The answer after redirects, and after pauses that the server asks for. RemoteError without one."""
        given = dict(headers)
        for _ in range(_MOST_REDIRECTS):
            answer = self._patient(method, url, given, deadline, body)
            if answer.status not in _REDIRECTS:
                return answer
            target = urljoin(url, answer.headers.get("location", ""))
            if not may_follow(url, target):
                break
            if urlsplit(target).netloc != urlsplit(url).netloc:
                if body is not None:  # it has a token of the user
                    break
                given.pop("Authorization", None)
            url = target
        hint = "write the name of the registry that has the image"
        raise RemoteError(
            REMOTE_ANSWER, f"registry `{self.host}` redirects to an address that gen does not follow", hint
        )

    def _patient(
        self, method: str, url: str, headers: Mapping[str, str], deadline: float, body: bytes | None
    ) -> Answer:
        """Ask again while the server is busy, and until the deadline."""
        for attempt in range(1, _ATTEMPTS + 1):
            answer = self._once(method, url, headers, deadline, body)
            if answer.status not in _BUSY:
                return answer
            pause = _pause(answer, attempt)
            if attempt == _ATTEMPTS or time.monotonic() + pause > deadline:
                break
            time.sleep(pause)
        limited = answer.status == HTTPStatus.TOO_MANY_REQUESTS
        what = "has a limit of requests, which is reached" if limited else f"answers with status {answer.status}"
        hint = "run the command again later" + (", or log in with `docker login`" if limited else "")
        raise RemoteError(REMOTE_ANSWER, f"registry `{self.host}` {what}", hint, silent=True)

    def _once(self, method: str, url: str, headers: Mapping[str, str], deadline: float, body: bytes | None) -> Answer:
        import urllib3

        seconds = max(min(self._seconds, deadline - time.monotonic()), 0.001)
        try:
            response = self._pool.request(
                method,
                url,
                body=body,
                headers={"User-Agent": "gitops-gen", **headers},
                timeout=urllib3.Timeout(connect=seconds, read=seconds),
                retries=False,
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
            try:
                return Answer(
                    status=int(response.status),
                    headers={name.lower(): value for name, value in response.headers.items()},
                    body=self._body(response, deadline),
                )
            finally:
                response.release_conn()
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise self._no_answer(error) from None

    def _body(self, response: Any, deadline: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        for part in response.stream(_CHUNK):
            size += len(part)
            parts.append(part)
            if size > MOST_BYTES:
                response.close()
                raise RemoteError(REMOTE_ANSWER, f"registry `{self.host}` sends more than a manifest", _CHECK)
            if time.monotonic() > deadline:
                response.close()
                raise self.timeout()
        return b"".join(parts)

    @cached_property
    def _pool(self) -> Any:
        import urllib3

        logging.getLogger("urllib3").setLevel(logging.CRITICAL)  # it warns on the terminal of the user
        options: dict[str, Any] = {"maxsize": AT_ONCE, "block": True, "ssl_context": self._authorities()}
        name = self.host.rpartition(":")[0] or self.host
        proxy = None if is_local(self.host) or proxy_bypass(name) else getproxies().get("https")
        if proxy is None:
            return urllib3.PoolManager(**options)
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        user = f"{parts.username or ''}:{parts.password or ''}" if parts.username or parts.password else None
        address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        return urllib3.ProxyManager(address, proxy_headers=urllib3.make_headers(proxy_basic_auth=user), **options)

    def _authorities(self) -> ssl.SSLContext:
        """The authorities of the system, or of `SSL_CERT_FILE`, and those of Docker for the host."""
        context = ssl.create_default_context()
        for folder in _CERTIFICATES:
            for file in sorted(Path(folder).expanduser().joinpath(self.host).glob("*.crt")):
                try:
                    context.load_verify_locations(file)
                except (OSError, ssl.SSLError):
                    hint = "correct or remove the file"
                    raise RemoteError(REMOTE_UNREACHABLE, f"`{file}` is not a certificate", hint, silent=True) from None
        return context

    def timeout(self) -> RemoteError:
        message = f"registry `{self.host}` did not answer within {self._seconds:g} s"
        return RemoteError(
            REMOTE_UNREACHABLE, message, "run the command again, or raise `--request-timeout`", silent=True
        )

    def _no_answer(self, error: BaseException) -> RemoteError:
        import urllib3

        cause: Any = getattr(error, "reason", None) or error
        if isinstance(cause, urllib3.exceptions.SSLError) or isinstance(
            error, (ssl.SSLError, urllib3.exceptions.SSLError)
        ):
            message = f"registry `{self.host}` has no certificate of a known authority"
            hint = "set `SSL_CERT_FILE` to the certificates of your authorities, or add it to /etc/docker/certs.d"
            return RemoteError(REMOTE_UNREACHABLE, message, hint, silent=True)
        if isinstance(cause, (urllib3.exceptions.TimeoutError, TimeoutError)) and not isinstance(
            cause, urllib3.exceptions.NewConnectionError
        ):
            return self.timeout()
        return RemoteError(REMOTE_UNREACHABLE, f"cannot reach registry `{self.host}`", _CHECK, silent=True)


_CHECK: Final = "check the name of the registry, the network, and the variables `HTTPS_PROXY` and `NO_PROXY`"


def may_follow(url: str, target: str) -> bool:
    """Whether a redirect, or the address of tokens, is safe: encrypted, or both on this machine."""
    old, new = urlsplit(url), urlsplit(target)
    if new.scheme == "https":
        return bool(new.hostname)
    return new.scheme == old.scheme == "http" and is_local(new.netloc) and "@" not in new.netloc


def _pause(answer: Answer, attempt: int) -> float:
    """The pause in `Retry-After`, which has seconds or a date; otherwise a growing one."""
    said = answer.headers.get("retry-after", "").strip()
    if said.isdecimal():
        return float(said[:9])
    try:
        return max(parsedate_to_datetime(said).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return 0.5 * 2.0**attempt
