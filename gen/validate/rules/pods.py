"""What the API server refuses when an operator makes a pod of a template: too late for anyone to see it in Git."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.view import View


def pods(view: View) -> Iterator[tuple[Route, str]]:
    """Faults of every pod template: doubled names, mounts of nothing, containers without an image."""
    for route, template in view.templates:
        yield from _pod(template["spec"], (*route, "spec"))
    for route, container in view.containers():
        if not container.get("image"):
            yield route, f"the container `{container['name']}` has no image"
        yield from _doubled([entry["name"] for entry in container.get("env") or ()], (*route, "env"), "variable")


def _pod(spec: Body, route: Route) -> Iterator[tuple[Route, str]]:
    volumes = [volume["name"] for volume in spec.get("volumes") or ()]
    yield from _doubled(volumes, (*route, "volumes"), "volume")
    containers: set[str] = set()
    for field in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(field) or ()):
            if container["name"] in containers:
                yield (*route, field, index, "name"), f"two containers are called `{container['name']}`"
            containers.add(container["name"])
            yield from _mounts(container, (*route, field, index, "volumeMounts"), volumes)


def _mounts(container: Body, route: Route, volumes: list[str]) -> Iterator[tuple[Route, str]]:
    paths: set[str] = set()
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        if mount["name"] not in volumes:
            yield (*route, index, "name"), f"`{mount['name']}` is no volume of the pod"
        if mount["mountPath"] in paths:
            yield (*route, index, "mountPath"), f"`{mount['mountPath']}` is mounted twice"
        paths.add(mount["mountPath"])


def _doubled(names: list[str], route: Route, what: str) -> Iterator[tuple[Route, str]]:
    if len(set(names)) == len(names):
        return
    for index, name in enumerate(names):
        if name in names[:index]:
            yield (*route, index), f"two {what}s are called `{name}`"
