"""Applies the patches of an overlay to built objects, and records the provenance of each value.

Operations of JSON 6902 are here, strategic merge in `gen.render.patch.strategic`. The name `$training` in patches of
pods, for the training container of each kind. No patch may remove parts on which gen, operators or GitOps engines
depend (`breaches`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Code, Findings, Route, as_mapping, follow, get, regex
from gen.base.codes.overlays import INVALID_PATCH, PATCH_BREAKS, PATCH_DOES_NOT_APPLY, PATCH_RENAMES
from gen.job.queue import QueueProfile
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.pods import pod_sets, templates_by_shape
from gen.kubernetes.objects import MANAGED_BY, OWN, Body
from gen.kubernetes.schemas.registry import schemas
from gen.overlay.overlay import Overlay
from gen.overlay.patch import Operation, Patch, Target, fits, pod_routes
from gen.render.patch.provenance import Provenance, named_route
from gen.render.patch.strategic import StrategicMerge
from gen.render.results import BuiltObjects, Deletion, Manifest, PatchedObjects

_INDEX = regex(r"0|[1-9][0-9]{0,6}")


class DoesNotApply(Exception):  # noqa: N818 - named after the message
    """The path does not exist, or a test failed."""


def apply(body: Body, operation: Operation) -> tuple[Body, Route]:
    """The changed copy and the changed route. DoesNotApply if the operation is impossible."""
    match operation.op:
        case "test":
            if not _equal(_value_at(body, operation.path), operation.value):
                raise DoesNotApply(f"`{_text(operation.path)}` differs from the expected value of the test")
            return body, _route(body, operation.path)
        case "remove":
            return _changed(body, operation.path, remove=True), _route(body, operation.path)
        case "replace":
            _value_at(body, operation.path)
            changed = _changed(body, operation.path, operation.value, replace=True)
        case "add":
            changed = _changed(body, operation.path, operation.value)
        case "copy" | "move":
            assert operation.origin is not None  # read only with `from`
            value = _value_at(body, operation.origin)
            base = _changed(body, operation.origin, remove=True) if operation.op == "move" else body
            changed = _changed(base, operation.path, value)
        case unknown:
            raise AssertionError(unknown)
    return changed, _route(changed, operation.path)


def below(operation: Operation, route: Route) -> Operation:
    """The operation with paths relative to a part of the object."""
    if not route:
        return operation
    start = tuple(map(str, route))
    origin = (*start, *operation.origin) if operation.origin is not None else None
    return replace(operation, path=(*start, *operation.path), origin=origin)


def _equal(one: object, other: object) -> bool:
    """Equality in JSON, where `true` is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _value_at(value: Any, path: tuple[str, ...]) -> object:
    for number, step in enumerate(path):
        value = value[_key(value, step, path[: number + 1])]
    return value


def _key(holder: object, step: str, path: tuple[str, ...], *, adding: bool = False) -> Any:
    """The key or index of `step` in `holder`. If `adding`, it need not exist yet."""
    if isinstance(holder, dict) and (adding or step in holder):
        return step
    if isinstance(holder, list):
        if adding and step == "-":
            return len(holder)
        if _INDEX.fullmatch(step) and int(step) < len(holder) + adding:
            return int(step)
    raise DoesNotApply(f"`{_text(path)}` does not exist")


def _changed(
    holder: Any,
    path: tuple[str, ...],
    value: Any = None,
    *,
    remove: bool = False,
    replace: bool = False,
    depth: int = 0,
) -> Any:
    """A copy with the value at `path` changed. Only its parents are copied."""
    last = depth == len(path) - 1
    key = _key(holder, path[depth], path[: depth + 1], adding=last and not remove and not replace)
    copy = dict(holder) if isinstance(holder, dict) else list(holder)
    if not last:
        copy[key] = _changed(holder[key], path, value, remove=remove, replace=replace, depth=depth + 1)
    elif remove:
        del copy[key]
    elif isinstance(copy, list) and not replace:
        copy.insert(key, value)
    else:
        copy[key] = value
    return copy


def _route(body: object, path: tuple[str, ...]) -> Route:
    """The path as a route, with indices as numbers."""
    route: list[str | int] = []
    value = body
    for step in path:
        key = (len(value) - 1 if step == "-" else int(step)) if isinstance(value, list) else step
        value = get(value, key)
        route.append(key)
    return tuple(route)


def _text(path: tuple[str, ...]) -> str:
    return "/" + "/".join(path)


class Breach(Struct, frozen=True):
    """A part of an object that a patch removed or changed."""

    code: Code
    route: Route
    """Route of the part; empty for the object itself."""
    what: str
    """Completes `the patch … of <object>`."""
    hint: str


def breaches(manifest: Manifest, body: Body) -> Iterator[Breach]:
    """Parts that `body`, which is the object after a patch, has lost."""
    if _identity(body) != _identity(manifest.body):
        hint = "leave `apiVersion`, `kind`, `metadata.name` and `metadata.namespace` as they are"
        yield Breach(PATCH_RENAMES, (), "makes another object", hint)
        return
    if manifest.tree == "storage":
        yield from _protection(manifest.body, body)
    before = _templates(manifest.body)
    for route in ((), *before):
        yield from _labels(manifest.body, body, (*route, "metadata", "labels"))
    if manifest.queue is not None:
        yield from _queue(manifest.queue, manifest.body, body, before)
    if manifest.main_container is None:
        return
    for route in _training(before, body, manifest.main_container):
        if not _has_container(follow(body, route), manifest.main_container):
            what = f"takes the container `{manifest.main_container}` out of `{'.'.join(map(str, route[:-1]))}`"
            hint = f"keep a container `{manifest.main_container}` in the pods of every role: the operator looks for it"
            yield Breach(PATCH_BREAKS, (*route, "spec", "containers"), what, hint)


def _templates(body: Body) -> dict[Route, object]:
    """Every pod template with its route: by the facts of the kind, and everything with the shape of a template."""
    found: dict[Route, object] = dict(templates_by_shape(body.get("spec"), ("spec",)))
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    if resource is not None:
        found |= {pods.route: pods.template for pods in pod_sets(resource, body)}
    return found


def _training(before: dict[Route, object], body: Body, container: str) -> Iterator[Route]:
    """Templates that need the training container: those that had it, and new ones if the operator looks for it."""
    yield from (route for route, template in before.items() if _has_container(template, container))
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    if resource is not None and resource.container is not None:
        yield from (pods.route for pods in pod_sets(resource, body) if pods.route not in before)


def _identity(body: Body) -> tuple[object, ...]:
    """The identity of an object, to which other objects, files and the hash refer."""
    metadata = _at(body, ("metadata",))
    return body.get("apiVersion"), body.get("kind"), metadata.get("name"), metadata.get("namespace")


def _labels(old: Body, new: Body, route: Route) -> Iterator[Breach]:
    before, after = _at(old, route), _at(new, route)
    for key in sorted(before.keys() | after.keys()):
        ours = key == MANAGED_BY or key.startswith(OWN)
        if ours and before.get(key) != after.get(key):
            hint = f"leave `{OWN}…` and `{MANAGED_BY}` as they are: selectors and engines depend on them"
            yield Breach(PATCH_BREAKS, (*route, key), f"changes the label `{key}`", hint)


def _queue(queue: QueueProfile, old: Body, new: Body, templates: dict[Route, object]) -> Iterator[Breach]:
    """Needs of the queue of a run: labels and annotations of its scheduler, and for a gang the name of that."""
    hint = "remove it from the patch, and change the queue in `queues` of the overlay"
    for route in ((), *templates):
        for field in ("labels", "annotations"):
            here = (*route, "metadata", field)
            before, after = _at(old, here), _at(new, here)
            for key in sorted(before.keys() | after.keys()):
                ours = queue.acts_on(key) and (key in before or queue.together)
                if ours and before.get(key) != after.get(key):
                    yield Breach(PATCH_BREAKS, (*here, key), f"changes `{key}`, which the queue sets", hint)
    for route in templates if queue.together else ():
        place: Route = (*route, "spec", "schedulerName")
        if follow(new, place) != follow(old, place):
            yield Breach(PATCH_BREAKS, place, "selects another scheduler than the queue", hint)


def _protection(old: Body, new: Body) -> Iterator[Breach]:
    """Annotations of storage that keep both engines from removing it."""
    route = ("metadata", "annotations")
    before, after = _at(old, route), _at(new, route)
    for key, words in before.items():
        kept = after.get(key)
        if not isinstance(kept, str) or not set(words.split(",")) <= set(kept.split(",")):
            hint = f"keep `{key}: {words}`; more values may be added"
            yield Breach(PATCH_BREAKS, (*route, key), f"takes the protection `{key}` from the data", hint)


def _has_container(template: object, name: str) -> bool:
    containers = _at(template, ("spec",)).get("containers")
    return isinstance(containers, list) and any(isinstance(c, dict) and c.get("name") == name for c in containers)


def _at(value: object, route: Route) -> Body:
    """The mapping at a route; an empty one if there is none."""
    return as_mapping(follow(value, route))


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
        body = manifest.body
        for route in parts:
            body = _operated(manifest, body, patch, route, own, found)
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


def _operated(
    manifest: Manifest, body: Body, patch: Patch, part: Route, provenance: Provenance, found: Findings
) -> Body:
    for index, relative in enumerate(patch.operations):
        operation = below(relative, part)
        try:
            changed, route = apply(body, operation)
        except DoesNotApply as error:
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


def _main_container_first(value: object, name: str) -> Any:
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
