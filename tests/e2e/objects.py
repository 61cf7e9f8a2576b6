"""Rendered objects to try: those of this repository, and those that the cases of other tests expect."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from gen.base.repository.layout import DEFINITIONS
from gen.kubernetes.facts import RESOURCES
from tests.support import HERE, PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.kubernetes.objects import Body


@dataclass(frozen=True, slots=True)
class Rendered:
    """One file with the object in it."""

    path: Path
    text: bytes
    body: Body

    def __str__(self) -> str:
        return self.path.relative_to(PROJECT).as_posix()


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """A pod template at any depth of an object."""

    owner: Rendered
    route: str
    body: Body

    def __str__(self) -> str:
        return f"{self.owner}:{self.route}"

    def pod(self) -> Body:
        """The pod that a controller would make of it, as far as the template has its fields."""
        namespace = self.owner.body["metadata"]["namespace"]
        metadata = {"name": "pod", **self.body.get("metadata", {}), "namespace": namespace}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": self.body["spec"]}


OTHER_RELEASES = ("train-in-2.0", "train-mpi-in-2.1")
"""Cases for releases of operators with other definitions of the same version than the server's."""
_PARTIAL = {field for resource in RESOURCES.values() for field in resource.partial_templates}


@cache
def all_rendered() -> tuple[Rendered, ...]:
    """The objects of the example repository and of the golden cases."""
    cases = [folder for folder in (HERE / "golden").iterdir() if folder.name not in OTHER_RELEASES]
    cases = [folder for folder in cases if not list(folder.glob(f"overlays/*/{DEFINITIONS}"))]  # not on the server
    folders = [PROJECT / "rendered", *sorted(case / "rendered" for case in cases)]
    return tuple(_read(path) for folder in folders for path in sorted(folder.rglob("*.yaml")))


def pod_templates(rendered: Rendered) -> Iterator[PodTemplate]:
    for route, body in _templates(rendered.body):
        yield PodTemplate(rendered, route, body)


def _read(path: Path) -> Rendered:
    text = path.read_bytes()
    return Rendered(path, text, yaml.load(text, yaml.CSafeLoader))


def _templates(node: Any, route: str = "") -> Iterator[tuple[str, Body]]:
    """Every mapping with a `spec` that holds containers; other templates, such as a job's, are walked through.

    Parts of templates, which an operator merges into others, make no pods.
    """
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        if key in _PARTIAL:
            continue
        here = f"{route}.{key}".lstrip(".")
        if key == "template" and isinstance(child, dict) and "containers" in child.get("spec", {}):
            yield here, child
        else:
            yield from _templates(child, here)
