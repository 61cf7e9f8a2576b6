"""The lock of a job: the digest of each image, and the commit of each ref of its code.

    images:
      registry.example.com/train:1.5: registry.example.com/train:1.5@sha256:…
    code:
      https://git.example.com/team/train.git:
        main: 6c3e…

The keys are as in the job or the overlay, before the overlay replaces registries: a digest is the same content in
every registry. So a lock is valid in all overlays, and one that names something else is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gen.diagnostics import Location
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.diagnostics import Route
    from gen.load import Source

IMAGES: Final = "images"
CODE: Final = "code"
UPDATES: Final = "updates"
"""Field that asks for updates of the pins by a scheduled job of CI."""
DIGEST: Final = regex(r"sha256:[0-9a-f]{64}")
COMMIT: Final = regex(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
"""Full hashes of Git: SHA-1, and SHA-256 in repositories that use it."""

MOST_FINDINGS: Final = 20
"""Findings about one lock. A file can have thousands of wrong values."""

CodeKey = tuple[str, str]
"""URL and ref."""


class Lock(Struct, frozen=True, kw_only=True):
    """The pins of a job; empty if it has no lock file."""

    file: str
    images: Mapping[str, str] = {}
    """Digest by image, as the job or the overlay writes it."""
    commits: Mapping[CodeKey, str] = {}
    """Commit by URL and ref."""
    updates: bool = False
    """Whether the job asks for updates."""
    source: Source | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of the file; empty without one."""
        return self.source.digest if self.source is not None else ""

    def place(self, route: Route) -> Location:
        return self.source.place(route, key=True) if self.source is not None else Location(self.file)

    def routes(self) -> Iterator[tuple[Route, str | CodeKey]]:
        """The route of each pin in the file, with its image or ref."""
        yield from (((IMAGES, image), image) for image in self.images)
        yield from (((CODE, *key), key) for key in self.commits)


_FULL_DIGEST: Final = regex(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
"""The functions of the OCI image specification (`descriptor.md`, "Registered algorithms")."""
_SHORT: Final = 12


def short_pin(pin: str) -> str:
    """A digest or a commit with its first digits, as tools of registries and Git show them."""
    start, colon, digits = pin.rpartition(":")
    return f"{start}{colon}{digits[:_SHORT]}"


def is_full_commit(ref: str) -> bool:
    """Whether a ref always has the same content."""
    return COMMIT.fullmatch(ref) is not None


def is_full_digest(image: str) -> bool:
    """Whether an image always has the same content: it has a digest of a function that runtimes check."""
    return _FULL_DIGEST.fullmatch(image.partition("@")[2]) is not None
