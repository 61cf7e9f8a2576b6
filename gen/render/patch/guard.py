"""What other parts and programs rely on in an object, which no patch may take away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gen.kubernetes import MANAGED_BY, OWN, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.render.manifest import Manifest

_DEPTH = 4
"""How many steps lead to the template of a training resource: `spec`, replica map, role, `template`."""


@dataclass(frozen=True, slots=True)
class Breach:
    """Something that a patch took away or changed."""

    code: str
    route: Route
    """Where; empty for the object."""
    what: str
    """Completes «the patch … of <object>»."""
    hint: str


def breaches(manifest: Manifest, body: Body) -> Iterator[Breach]:
    """What of the object is broken in `body`, which is the same object after a patch."""
    if _identity(body) != _identity(manifest.body):
        hint = "leave `apiVersion`, `kind`, `metadata.name` and `metadata.namespace` as they are"
        yield Breach("patch-renames", (), "makes another object", hint)
        return
    if manifest.tree == "storage":
        yield from _protection(manifest.body, body)
    before, after = dict(_templates(manifest.body, ())), dict(_templates(body, ()))
    for route in ((), *before):
        yield from _labels(manifest.body, body, (*route, "metadata", "labels"))
    if manifest.main_container is None:
        return
    for route in dict.fromkeys((*before, *after)):
        if not _has_container(after.get(route), manifest.main_container):
            what = f"takes the container `{manifest.main_container}` out of `{'.'.join(map(str, route[:-1]))}`"
            hint = f"keep a container `{manifest.main_container}` in the pods of every role: the operator looks for it"
            yield Breach("patch-breaks", (*route, "spec", "containers"), what, hint)


def _identity(body: Body) -> tuple[Any, ...]:
    """What makes an object this one; other objects, files and the hash refer to it."""
    metadata = _at(body, ("metadata",))
    return body.get("apiVersion"), body.get("kind"), metadata.get("name"), metadata.get("namespace")


def _labels(old: Body, new: Body, route: Route) -> Iterator[Breach]:
    before, after = _at(old, route), _at(new, route)
    for key in sorted(before.keys() | after.keys()):
        ours = key == MANAGED_BY or key.startswith(OWN)
        if ours and before.get(key) != after.get(key):
            hint = f"leave `{OWN}…` and `{MANAGED_BY}` as they are: selectors and engines go by them"
            yield Breach("patch-breaks", (*route, key), f"changes the label `{key}`", hint)


def _protection(old: Body, new: Body) -> Iterator[Breach]:
    """The words in the annotations of storage that keep both engines from removing it."""
    route = ("metadata", "annotations")
    before, after = _at(old, route), _at(new, route)
    for key, words in before.items():
        kept = after.get(key)
        if not isinstance(kept, str) or not set(words.split(",")) <= set(kept.split(",")):
            hint = f"keep `{key}: {words}`, and add to it what you need"
            yield Breach("patch-breaks", (*route, key), f"takes the protection `{key}` from the data", hint)


def _templates(value: Any, route: Route) -> Iterator[tuple[Route, Body]]:
    """Every pod template, with its route; what a patch made of the rest may be anything."""
    if isinstance(value, dict) and len(route) < _DEPTH:
        for key, inner in value.items():
            if key == "template" and isinstance(inner, dict):
                yield (*route, key), inner
            else:
                yield from _templates(inner, (*route, key))


def _has_container(template: Any, name: str) -> bool:
    containers = _at(template, ("spec",)).get("containers")
    return isinstance(containers, list) and any(isinstance(c, dict) and c.get("name") == name for c in containers)


def _at(value: Any, route: Route) -> Body:
    """The mapping at a route; an empty one when there is none."""
    found = at(value, *route)
    return found if isinstance(found, dict) else {}
