"""The patch stage: the patches of an overlay. Without any, it imports nothing that only patches need."""

from __future__ import annotations

from gen.base import Findings
from gen.overlay.overlay import Overlay
from gen.render.patch.provenance import Provenance
from gen.render.results import BuiltObjects, PatchedObjects


def apply_patches(built: BuiltObjects, overlay: Overlay, found: Findings) -> PatchedObjects:
    """The objects after every patch that matches them, in the order of the overlay."""
    if not overlay.patches:
        return PatchedObjects(
            built.manifests, built.manifests, tuple(Provenance() for _ in built.manifests), frozenset()
        )
    from gen.render.patch.apply import patch_objects

    return patch_objects(built, overlay, found)
