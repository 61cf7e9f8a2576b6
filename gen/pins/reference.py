"""Names of images in the API of registries, and the error for an image or ref without an answer.

Sources: `distribution/reference` (names without a registry are on Docker Hub), and the specification of OCI registries.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final

from msgspec import Struct

from gen.base.codes import Code

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
