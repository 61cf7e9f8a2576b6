"""Registries of images: digests of tags, platforms of images, and credentials from the configuration of Docker.

Sources: the specification of OCI registries (`spec.md`, "Pulling manifests"), distribution (`spec/auth/token.md`),
docker/cli `cli/config/configfile` (auths, credHelpers, credsStore) and docker/docker-credential-helpers
(`docker-credential-<name> get`, the host on the standard input; the user `<token>` has an identity token).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit

import orjson
from msgspec import Struct

from gen.base import as_mapping, regex
from gen.base.codes.pins import MISSING_IMAGE, REMOTE_ANSWER, REMOTE_LOGIN
from gen.base.repository.files import read_regular
from gen.pins.http import DOCKER_HUB, Answer, Http, Reference, RemoteError, may_follow
from gen.pins.lock import DIGEST

INDEXES: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_ACCEPT: Final = ", ".join(
    (*INDEXES, "application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json")
)
"""Without the types of indexes, a registry answers with the digest of one platform."""
_OK, _DENIED, _FORBIDDEN, _MISSING = 200, 401, 403, 404
_FUNCTIONS: Final = ("sha256", "sha512")
_PARAMETER: Final = regex(r'(\w+)="([^"]*)"')
_PLATFORM: Final = regex(r"[a-z0-9]{1,20}/[a-z0-9]{1,20}")
"""As Go names them (`go tool dist list`)."""
_KEY_OF_DOCKER_HUB: Final = "https://index.docker.io/v1/"
_HELPER: Final = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_HELPER_SECONDS: Final = 20
_MOST_BYTES: Final = 1 << 20
_MOST_PAGES: Final = 50
_NEXT: Final = regex(r"<([^>]{1,2000})>; *rel=\"?next\"?")
_TOKEN_USER: Final = "<token>"  # noqa: S105 - the user name of tokens


class Image(Struct, frozen=True, kw_only=True):
    digest: str
    platforms: frozenset[str]
    """Such as `linux/amd64`."""


class Registry:
    """The images of one host. Several threads may ask it."""

    def __init__(self, host: str, config: DockerConfig, seconds: float) -> None:
        self.host, self._config = host, config
        self._http = Http(host, seconds)
        self._headers: dict[str, str] = {}
        """The header with which a repository can be read, once it is known."""

    def digest(self, image: Reference, deadline: float) -> str:
        """The digest of a tag, for all platforms. RemoteError if there is none."""
        answer = self._ask("HEAD", image, image.manifest(), deadline)
        digest = answer.headers.get("docker-content-digest", "")
        if not digest:  # older registries
            digest = _digest(self._ask("GET", image, image.manifest(), deadline).body)
        if not DIGEST.fullmatch(digest):
            raise self._odd()
        return digest

    def image(self, image: Reference, digest: str, deadline: float) -> Image:
        """The image with a digest, which its content must have."""
        body = self._verified(self._ask("GET", image, image.manifest(digest), deadline), digest)
        listed = body.get("manifests")
        if isinstance(listed, list):
            known = (_platform(entry.get("platform")) for entry in listed if isinstance(entry, dict))
            return Image(digest=digest, platforms=frozenset(one for one in known if one))
        config = body.get("config")
        blob = config.get("digest") if isinstance(config, dict) else None
        if not isinstance(blob, str) or not DIGEST.fullmatch(blob):
            raise self._odd()
        about = self._verified(self._ask("GET", image, image.blob(blob), deadline), blob)
        return Image(digest=digest, platforms=frozenset({_platform(about)} - {""}))

    def manifest(self, image: Reference, digest: str, deadline: float) -> dict[str, object]:
        """The manifest with a digest, which its content must have."""
        return self._verified(self._ask("GET", image, image.manifest(digest), deadline), digest)

    def content(self, image: Reference, digest: str, deadline: float) -> bytes:
        """A blob, which must have its digest."""
        return self._checked(self._ask("GET", image, image.blob(digest), deadline), digest)

    def tags(self, image: Reference, deadline: float) -> list[str]:
        """The tags of a repository."""
        url, found = f"{image.api}/v2/{image.repository}/tags/list?n=1000", list[str]()
        for _ in range(_MOST_PAGES):
            answer = self._ask("GET", image, url, deadline)
            try:
                tags = orjson.loads(answer.body)["tags"]
            except (ValueError, TypeError, KeyError):
                raise self._odd() from None
            found += [tag for tag in tags or () if isinstance(tag, str)]
            following = _NEXT.match(answer.headers.get("link", ""))
            if following is None or not following[1].startswith("/v2/"):
                break
            url = image.api + following[1]
        return found

    def _checked(self, answer: Answer, digest: str) -> bytes:
        function, _, digits = digest.partition(":")
        if function not in _FUNCTIONS or hashlib.new(function, answer.body).hexdigest() != digits:
            message = f"registry `{self.host}` sends content with another digest"
            raise RemoteError(REMOTE_ANSWER, message, "ask the owner of the registry")
        return answer.body

    def _verified(self, answer: Answer, digest: str) -> dict[str, object]:
        try:
            body = orjson.loads(self._checked(answer, digest))
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise self._odd()
        return body

    def _ask(self, method: str, image: Reference, url: str, deadline: float) -> Answer:
        """The answer of a repository, with a token or a password if the registry asks for one."""
        authorization = self._headers.get(image.repository, "")
        answer = self._send(method, url, authorization, deadline)
        if answer.status == _DENIED:
            authorization = self._authorization(image, answer, deadline)
            answer = self._send(method, url, authorization, deadline)
        if answer.status == _OK:
            self._headers[image.repository] = authorization
            return answer
        raise self._refusal(image, answer.status)

    def _send(self, method: str, url: str, authorization: str, deadline: float) -> Answer:
        headers = {"Accept": _ACCEPT} | ({"Authorization": authorization} if authorization else {})
        return self._http.request(method, url, headers, deadline)

    def _refusal(self, image: Reference, status: int) -> RemoteError:
        name = f"`{image.repository}` in registry `{self.host}`"
        if status == _MISSING:
            what = f"digest of {name}" if ":" in image.tag else f"tag `{image.tag}` of {name}"
            return RemoteError(MISSING_IMAGE, f"{what} does not exist", "correct the name, or push the image")
        if status in (_DENIED, _FORBIDDEN):
            hint = f"log in with `docker login {self.host}`; registries also answer so for names that do not exist"
            return RemoteError(REMOTE_LOGIN, f"you may not read {name}", hint)
        return RemoteError(REMOTE_ANSWER, f"registry `{self.host}` answers with status {status}", "run it again later")

    def _authorization(self, image: Reference, answer: Answer, deadline: float) -> str:
        """The header that the registry asks for; empty without credentials."""
        scheme, _, rest = answer.headers.get("www-authenticate", "").partition(" ")
        credentials = self._config.of(self.host)
        if scheme.lower() == "basic":
            return credentials.basic
        if scheme.lower() != "bearer":
            raise self._odd()
        said = dict(_PARAMETER.findall(rest))
        realm = said.get("realm", "")
        if not may_follow(image.api, realm) or urlsplit(realm).fragment:
            message = f"registry `{self.host}` names an address for tokens that gen does not trust"
            raise RemoteError(REMOTE_ANSWER, message, "ask the owner of the registry for an address with https")
        return "Bearer " + self._token(image, realm, said.get("service", ""), credentials, deadline)

    def _token(self, image: Reference, realm: str, service: str, credentials: Credentials, deadline: float) -> str:
        """A token to read this repository. The scope in the challenge is ignored."""
        asked = {"service": service, "scope": f"repository:{image.repository}:pull"}
        if credentials.identity:
            form = {"grant_type": "refresh_token", "client_id": "gitops-gen", "refresh_token": credentials.identity}
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            answer = self._http.request("POST", realm, headers, deadline, urlencode(asked | form).encode())
        else:
            headers = {"Authorization": credentials.basic} if credentials.basic else {}
            address = f"{realm}{'&' if '?' in realm else '?'}{urlencode(asked)}"
            answer = self._http.request("GET", address, headers, deadline)
        if answer.status != _OK:
            raise self._refusal(image, _DENIED)
        try:
            body = orjson.loads(answer.body)
            token = body.get("token") or body.get("access_token")
        except (ValueError, AttributeError):
            raise self._odd() from None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise self._odd()
        return token

    def _odd(self) -> RemoteError:
        message = f"registry `{self.host}` does not answer as a registry of images"
        return RemoteError(REMOTE_ANSWER, message, "check the name of the registry")


def _digest(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def _platform(about: object) -> str:
    """`linux/amd64`; empty for attestations and artifacts."""
    if not isinstance(about, dict):
        return ""
    system, architecture = about.get("os"), about.get("architecture")
    text = f"{system}/{architecture}"
    return text if _PLATFORM.fullmatch(text) and "unknown" not in (system, architecture) else ""


class Credentials(Struct, frozen=True, kw_only=True):
    """A user and a password, or an identity token. Empty for anonymous requests."""

    user: str = ""
    password: str = ""
    identity: str = ""

    @property
    def basic(self) -> str:
        """The header of basic authentication; empty without a user."""
        if not self.user:
            return ""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


class DockerConfig:
    """The configuration of Docker."""

    def __init__(self, data: Mapping[str, object], file: str) -> None:
        self._data, self._file = data, file

    @classmethod
    def read(cls) -> DockerConfig:
        """The file of the user; an empty configuration without one."""
        folder = os.environ.get("DOCKER_CONFIG")
        path = Path(folder) if folder else Path("~/.docker").expanduser()
        try:
            data = orjson.loads(read_regular(path / "config.json", _MOST_BYTES))
        except FileNotFoundError:
            data = {}
        except (OSError, ValueError):
            raise RemoteError(
                REMOTE_LOGIN, f"`{path / 'config.json'}` is not a valid configuration of Docker", "correct the file"
            ) from None
        return cls(data if isinstance(data, dict) else {}, str(path / "config.json"))

    def of(self, host: str) -> Credentials:
        """The credentials for exactly this host."""
        keys = (_KEY_OF_DOCKER_HUB, "docker.io", "index.docker.io") if host == DOCKER_HUB else (host,)
        helpers = as_mapping(self._data.get("credHelpers"))
        helper = next((helpers[key] for key in keys if key in helpers), self._data.get("credsStore"))
        if isinstance(helper, str) and helper:
            found = self._ask(helper, keys[0])
            if found is not None:
                return found
        auths = {_host(key): value for key, value in as_mapping(self._data.get("auths")).items()}
        return next((_written(as_mapping(auths[key])) for key in map(_host, keys) if key in auths), Credentials())

    def _ask(self, helper: str, server: str) -> Credentials | None:
        """The answer of a helper; None if it knows nothing of the host. Its output is never shown."""
        broken = RemoteError(
            REMOTE_LOGIN,
            f"the credential helper `{helper[:60]}` in `{self._file}` does not work",
            f"run `docker-credential-{helper[:60]} list`, or log in again with `docker login`",
        )
        if not _HELPER.fullmatch(helper):
            raise broken
        command = [f"docker-credential-{helper}", "get"]
        try:
            done = subprocess.run(  # noqa: S603 - no shell, and the name has a form
                command, input=server.encode(), capture_output=True, check=False, timeout=_HELPER_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired):
            raise broken from None
        if done.returncode != 0:
            if b"credentials not found" in done.stdout + done.stderr:
                return None
            raise broken
        try:
            said = orjson.loads(done.stdout)
            user, secret = str(said["Username"]), str(said["Secret"])
        except (ValueError, TypeError, KeyError):
            raise broken from None
        return Credentials(identity=secret) if user == _TOKEN_USER else Credentials(user=user, password=secret)


def _written(entry: Mapping[str, object]) -> Credentials:
    """Credentials in the file itself."""
    if token := entry.get("identitytoken"):
        return Credentials(identity=str(token))
    try:
        user, _, password = base64.b64decode(str(entry.get("auth") or "")).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        user, password = "", ""
    return Credentials(user=str(entry.get("username") or user), password=str(entry.get("password") or password))


def _host(key: str) -> str:
    """Keys may be URLs."""
    return key if key == _KEY_OF_DOCKER_HUB else re.sub(r"^https?://", "", key).split("/", 1)[0]
