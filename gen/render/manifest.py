"""Rendered objects between the build and write stages. Each stage returns a type of its own, so none can be skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Location, Route, at
from gen.base.repository.layout import Tree, rendered_folder
from gen.kubernetes.objects import Body, identity

if TYPE_CHECKING:
    from gen.job.queue import QueueProfile
    from gen.render.patch.provenance import Provenance


class Manifest(Struct, frozen=True, kw_only=True):
    """One Kubernetes object."""

    body: Body
    name: str
    """Its name without the hash, the same for every run."""
    source: Location
    """Its source: the job file, or the declaration of the volume in the overlay."""
    folder: str
    """Its folder in the tree: `<namespace>/<job>`, `<namespace>` for storage, the name of the engine for a bundle."""
    tree: Tree = "jobs"
    file: str = ""
    """Its file, relative to the folder. [default: by its kind and name]"""
    of_run: bool = False
    """Whether it belongs to one run. If so, the hash covers its content, and its name contains the hash."""
    main_container: str | None = None
    """For a workload: the container that the operator takes for the training container."""
    step: str = ""
    """For the object of a step of a pipeline: the name of the step. The workflow creates it; it has no file."""
    whole_hash: bool = False
    """Whether the hash covers all of the objects in it, with their metadata, because none can change."""
    suspend: tuple[str, ...] = ()
    """Path of the field that suspends it, which the hash excludes."""
    queue: QueueProfile | None = None
    """For a workload: the declared queue that it uses."""

    @property
    def embedded(self) -> bool:
        """Whether a workflow contains the object, so that it has no file."""
        return bool(self.step) and self.is_workload

    @property
    def is_workload(self) -> bool:
        """Whether it is the object of a run that an operator runs."""
        return self.main_container is not None

    def folder_in(self, overlay: str) -> str:
        """Folder of its file in an overlay."""
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


class BuiltObjects(Struct, frozen=True):
    """Objects of the build stage."""

    manifests: tuple[Manifest, ...]


class Deletion(Struct, frozen=True, kw_only=True):
    """A `$patch: delete` that was applied to an object."""

    patch: int
    """Index of the overlay's patch."""
    route: Route
    """Route of the directive in the patch."""
    hint: str
    """How to correct it; empty if it deleted something."""


class PatchedObjects(Struct, frozen=True):
    """Objects after the patches of the overlay, with the provenance of patched values."""

    manifests: tuple[Manifest, ...]
    built: tuple[Manifest, ...]
    """The same objects before the patches."""
    provenance: tuple[Provenance, ...]
    matched: frozenset[int]
    """Indices of the overlay's patches that matched an object."""
    deletions: frozenset[Deletion] = frozenset()


class ValidObjects(Struct, frozen=True):
    """Objects that are valid for their schemas and rules with any hash of the run."""

    manifests: tuple[Manifest, ...]


class SealedObjects(Struct, frozen=True):
    """Objects with the hash of the run in place of `RUN`."""

    manifests: tuple[Manifest, ...]
    digest: str = ""
    """The hash, if the objects still have `RUN`: it is replaced when they are written."""


class File(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file below `rendered/`; its path uses `/`."""

    path: str
    text: str | None = None
    """None if it comes from the cache, which stores only the digest."""
    digest: str
    """SHA-256 of the text after its first line."""
    identity: str
    """`Kind namespace/name` of its object."""
    source: Location
    """The job file, or the place in the overlay, that it was rendered from."""
    storage: bool = False
    """Whether it is storage, which is removed only with `--prune-storage`."""
    record: str = ""
    """Text of a run's record, in its first line (see `gen.render.record`)."""
