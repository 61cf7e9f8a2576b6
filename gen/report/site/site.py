"""What the pages of a repository show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.report.documentation import Documentation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.inventory.listing import Listing
    from gen.overlay.overlay import Overlay
    from gen.review.history import RunEvent
    from gen.review.links import Links


class Site(Struct, frozen=True, kw_only=True):
    """A repository at a commit."""

    listing: Listing
    overlays: tuple[Overlay, ...]
    texts: Mapping[str, str]
    """Of job files, without lines with secrets."""
    history: Mapping[str, tuple[RunEvent, ...]]
    """By job file."""
    links: Links | None
    commit: str
    documentation: Documentation = Documentation()
    """Where findings are explained."""
