"""A rendered object on its way from build to text. Each stage hands over a type of its own: none can be skipped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.kubernetes import Body, at, identity
from gen.repository.layout import Tree, rendered_folder

if TYPE_CHECKING:
    from gen.render.patch.provenance import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One Kubernetes object."""

    body: Body
    name: str
    """Its name without a hash, which stays the same from run to run."""
    source: Location
    """The input that it comes from: the job file, or where the overlay declares the volume."""
    folder: str
    """Where it lies in its tree: `<namespace>/<job>`, `<namespace>` for storage, the engine's name for a bundle."""
    tree: Tree = "jobs"
    of_run: bool = False
    """Whether it belongs to one run: then its content is part of the run's hash, and its name carries it."""
    main_container: str | None = None
    """The container that an operator takes as the training one, for the workload."""
    suspend: tuple[str, ...] = ()
    """Where it says that it is suspended, which the hash leaves out."""

    def folder_in(self, overlay: str) -> str:
        """The folder of its file when it is rendered for an overlay."""
        return rendered_folder(overlay, self.tree, self.folder)

    def with_body(self, body: Body) -> Manifest:
        return self if body is self.body else replace(self, body=body)

    @property
    def group_kind(self) -> str:
        """`group/Kind`, or `Kind` in the core group."""
        group, _, _ = str(self.body["apiVersion"]).rpartition("/")
        return f"{group}/{self.body['kind']}" if group else str(self.body["kind"])

    @property
    def identity(self) -> str:
        """`Kind namespace/name`, for messages."""
        return identity(self.body["kind"], at(self.body, "metadata", "namespace") or "", self.name)


@dataclass(frozen=True, slots=True)
class Built:
    """What the builders made."""

    manifests: tuple[Manifest, ...]


@dataclass(frozen=True, slots=True)
class Patched:
    """With the overlay's patches, and for each object what they set."""

    manifests: tuple[Manifest, ...]
    built: tuple[Manifest, ...]
    """The same objects as they were before."""
    provenance: tuple[Provenance, ...]
    matched: frozenset[int]
    """Patches of the overlay that changed something here."""


@dataclass(frozen=True, slots=True)
class Valid:
    """Fits its schemas and rules, whatever the run's hash will be."""

    manifests: tuple[Manifest, ...]


@dataclass(frozen=True, slots=True)
class Sealed:
    """With the run's hash in every place where it stands."""

    manifests: tuple[Manifest, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """Text for a path below `rendered/`, with `/`."""

    path: str
    text: str | None
    """None when it was rendered before and is only known by its digest."""
    digest: str
    """SHA-256 of the text below its first line."""
    identity: str
    """`Kind namespace/name` of the object in it."""
    source: Location
    """The input that it comes from."""
    storage: bool = False
    """Whether it is data, which is never removed without being told to."""
