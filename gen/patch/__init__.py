"""The stage that applies an overlay's patches to built objects, and remembers which place set which value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.manifest import Built, Manifest, Patched
from gen.patch import json6902
from gen.patch.provenance import Provenance, labelled
from gen.patch.strategic import StrategicMerge
from gen.patch.target import fits
from gen.validate.schemas import schemas

if TYPE_CHECKING:
    from gen.diagnostics import Findings
    from gen.kubernetes import Body
    from gen.overlay import Overlay
    from gen.patch.types import Patch


def apply_patches(built: Built, overlay: Overlay, found: Findings) -> Patched:
    """The objects with every patch that fits them, in the order of the overlay."""
    manifests = []
    origins = []
    matched: set[int] = set()
    for manifest in built.manifests:
        provenance = Provenance()
        patched = manifest
        for index, patch in enumerate(overlay.patches):
            if fits(patch.target, patched):
                matched.add(index)
                changed = _patched(patched, patch, overlay.kubernetes, provenance, found)
                if _identity(changed.body) == _identity(manifest.body):
                    patched = changed
                else:
                    hint = "leave `apiVersion`, `kind`, `metadata.name` and `metadata.namespace` as they are"
                    found.error(
                        "patch-renames", patch.place, f"the patch makes another object of {manifest.identity}", hint
                    )
        if patched is not manifest and manifest.main_container is not None:
            patched = patched.with_body(_main_container_first(patched.body, manifest.main_container))
        manifests.append(patched)
        origins.append(provenance)
    return Patched(tuple(manifests), tuple(origins), frozenset(matched))


def _patched(manifest: Manifest, patch: Patch, version: str, provenance: Provenance, found: Findings) -> Manifest:
    if patch.merge is not None:
        merge = StrategicMerge(schemas(version), patch.layer, provenance)
        return manifest.with_body(merge.apply(manifest.body, patch.merge))
    body = manifest.body
    for index, operation in enumerate(patch.operations):
        try:
            body, route = json6902.apply(body, operation)
        except json6902.DoesNotApply as error:
            place = patch.layer.find((index,)).value
            message = f"the operation does not apply to {manifest.identity}: {error}"
            found.error("patch-does-not-apply", place, message, "correct the path, or narrow the target")
        else:
            provenance.record(labelled(body, route), patch.layer, (index, "value"))
    return manifest.with_body(body)


def _identity(body: Body) -> tuple[Any, ...]:
    """What makes an object this one; other objects, files and the hash refer to it."""
    metadata = body.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    return body.get("apiVersion"), body.get("kind"), named.get("name"), named.get("namespace")


def _main_container_first(value: Any, name: str) -> Any:
    """Strategic merge puts new containers in front, but operators take the first one as the training container."""
    if isinstance(value, dict):
        return {
            key: sorted(inner, key=lambda container: container.get("name") != name)
            if key == "containers" and isinstance(inner, list) and all(isinstance(c, dict) for c in inner)
            else _main_container_first(inner, name)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_main_container_first(inner, name) for inner in value]
    return value
