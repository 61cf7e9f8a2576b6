"""Credentials of registries from the configuration of Docker, and from its helpers.

Sources: docker/cli `cli/config/configfile` (auths, credHelpers, credsStore) and docker/docker-credential-helpers
(`docker-credential-<name> get`, the host on the standard input; the user `<token>` has an identity token).
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson
from msgspec import Struct

from gen.findings.pins import REMOTE_LOGIN
from gen.regex import regex
from gen.remote.errors import RemoteError
from gen.remote.reference import DOCKER_HUB
from gen.repository.safe_files import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY_OF_DOCKER_HUB: Final = "https://index.docker.io/v1/"
_HELPER: Final = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_HELPER_SECONDS: Final = 20
_MOST_BYTES: Final = 1 << 20
_TOKEN_USER: Final = "<token>"  # noqa: S105 - the name by which helpers mark a token


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

    def __init__(self, data: Mapping[str, Any], file: str) -> None:
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
        helpers = _mapping(self._data.get("credHelpers"))
        helper = next((helpers[key] for key in keys if key in helpers), self._data.get("credsStore"))
        if isinstance(helper, str) and helper:
            found = self._ask(helper, keys[0])
            if found is not None:
                return found
        auths = {_host(key): value for key, value in _mapping(self._data.get("auths")).items()}
        return next((_written(_mapping(auths[key])) for key in map(_host, keys) if key in auths), Credentials())

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


def _written(entry: Mapping[str, Any]) -> Credentials:
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


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
