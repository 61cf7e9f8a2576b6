"""Applies the patches of an overlay to built objects, and records the provenance of each value.

The name `$training` in patches of pods, for the training container of each kind.
"""

from __future__ import annotations

from typing import Any

from gen.base.codes.overlays import INVALID_PATCH, PATCH_DOES_NOT_APPLY
from gen.base.findings import Findings, Route
from gen.kubernetes.objects import Body
from gen.kubernetes.schemas.registry import schemas
from gen.overlay.overlay import Overlay
from gen.overlay.patch import Patch, Target, fits, pod_routes
from gen.render.manifest import BuiltObjects, Deletion, Manifest, PatchedObjects
from gen.render.patch import json6902
from gen.render.patch.guard import breaches
from gen.render.patch.provenance import Provenance, named_route
from gen.render.patch.strategic import StrategicMerge

TRAINING = "$training"
"""No container can have this name."""


def with_training_container(patch: Body, name: str | None) -> Body:
    """The patch of a pod template, with the name of the training container for `$training`."""
    spec = patch.get("spec")
    containers = spec.get("containers") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(containers, list):
        return patch
    named: list[object] = [
        {**entry, "name": name} if isinstance(entry, dict) and entry.get("name") == TRAINING else entry
        for entry in containers
    ]
    return {**patch, "spec": {**spec, "containers": named}}


def patch_objects(built: BuiltObjects, overlay: Overlay, found: Findings) -> PatchedObjects:
    """The objects after every patch that matches them, in the order of the overlay."""
    manifests = []
    origins = []
    matched: set[int] = set()
    deletions: set[Deletion] = set()
    for manifest in built.manifests:
        provenance = Provenance()
        patched = manifest
        for index, patch in enumerate(overlay.patches):
            if parts := _parts(patch.target, patched):
                matched.add(index)
                patched, deleted = _patched(patched, patch, parts, overlay.kubernetes, provenance, found)
                deletions.update(Deletion(patch=index, route=route, hint=hint) for route, hint in deleted)
        if patched is not manifest and manifest.main_container is not None:
            patched = patched.with_body(_main_container_first(patched.body, manifest.main_container))
        manifests.append(patched)
        origins.append(provenance)
    return PatchedObjects(tuple(manifests), built.manifests, tuple(origins), frozenset(matched), frozenset(deletions))


def _parts(target: Target, manifest: Manifest) -> list[Route]:
    """Routes to the parts of an object that a patch changes: the whole object, or pod templates of a run."""
    if not fits(target, manifest.body, manifest.name):
        return []
    if target.pods is None:
        return [()]
    return pod_routes(target, manifest.body) if manifest.is_workload else []


def _patched(
    manifest: Manifest, patch: Patch, parts: list[Route], version: str, provenance: Provenance, found: Findings
) -> tuple[Manifest, list[tuple[Route, str]]]:
    """The object after one patch, or unchanged if the patch breaks it, and the deletions of a strategic merge."""
    own = Provenance()
    deletions: list[tuple[Route, str]] = []
    if patch.merge is not None:
        body, deletions = _merged(manifest, patch, patch.merge, parts, version, own, found)
    else:
        body = _operated(manifest, patch, parts, own, found)
    broken = list(breaches(manifest, body))
    for breach in broken:
        place = own.blame(body, breach.route) if breach.route else None
        message = f"the patch {breach.what} of {manifest.identity}"
        found.error(breach.code, place or patch.place, message, breach.hint)
    if broken:
        return manifest, deletions
    provenance.add(own)
    return manifest.with_body(body), deletions


def _merged(
    manifest: Manifest,
    patch: Patch,
    merge: Body,
    parts: list[Route],
    version: str,
    provenance: Provenance,
    found: Findings,
) -> tuple[Body, list[tuple[Route, str]]]:
    merging = StrategicMerge(schemas(version), patch.layer, provenance)
    body = manifest.body
    for route in parts:
        named = with_training_container(merge, manifest.main_container) if route else merge
        body = merging.apply_to_pods(body, named, route) if route else merging.apply(body, named)
    for route, message, hint in merging.problems:
        found.error(INVALID_PATCH, patch.layer.find(route).value, message, hint)
    return body, merging.deletions


def _operated(manifest: Manifest, patch: Patch, parts: list[Route], provenance: Provenance, found: Findings) -> Body:
    body = manifest.body
    for route in parts:
        body = _operated_part(manifest, body, patch, route, provenance, found)
    return body


def _operated_part(
    manifest: Manifest, body: Body, patch: Patch, part: Route, provenance: Provenance, found: Findings
) -> Body:
    for index, relative in enumerate(patch.operations):
        operation = json6902.below(relative, part)
        try:
            changed, route = json6902.apply(body, operation)
        except json6902.DoesNotApply as error:
            place = patch.layer.find((index,)).value
            message = f"the operation does not apply to {manifest.identity}: {error}"
            found.error(PATCH_DOES_NOT_APPLY, place, message, "correct the path, or narrow the target")
            if operation.op == "test":
                break
        else:
            if operation.op != "test":
                named = named_route(body if operation.op == "remove" else changed, route)
                provenance.record(named, patch.layer, (index, "value"))
            body = changed
    return body


def _main_container_first(value: Any, name: str) -> Any:
    """Strategic merge puts new containers first, but operators take the first one for the training container."""
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
