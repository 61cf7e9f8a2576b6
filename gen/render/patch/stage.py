"""The patch stage. Without patches it imports nothing that only patches need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.render.manifest import Patched
from gen.render.patch.provenance import Provenance

if TYPE_CHECKING:
    from gen.diagnostics import Findings
    from gen.overlay.overlay import Overlay
    from gen.render.manifest import Built


def apply_patches(built: Built, overlay: Overlay, found: Findings) -> Patched:
    """The objects after every patch that matches them, in the order of the overlay."""
    if not overlay.patches:
        return Patched(built.manifests, built.manifests, tuple(Provenance() for _ in built.manifests), frozenset())
    from gen.render.patch.apply import patch_objects  # noqa: PLC0415 - many overlays have no patches

    return patch_objects(built, overlay, found)
