"""Parts of an object that no patch may remove, because gen, operators or GitOps engines depend on them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gen.base.codes.code import Code
from gen.base.codes.overlays import PATCH_BREAKS, PATCH_RENAMES
from gen.base.findings import Route
from gen.base.labels import OWN
from gen.base.routes import follow
from gen.job.queue import Gang, QueueProfile
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.pods import pod_sets, templates_by_shape
from gen.kubernetes.objects import MANAGED_BY, Body
from gen.render.manifest import Manifest


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
                ours = queue.acts_on(key) and (key in before or isinstance(queue, Gang))
                if ours and before.get(key) != after.get(key):
                    yield Breach(PATCH_BREAKS, (*here, key), f"changes `{key}`, which the queue sets", hint)
    for route in templates if isinstance(queue, Gang) else ():
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
    found = follow(value, route)
    return found if isinstance(found, dict) else {}
