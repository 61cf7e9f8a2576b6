"""What a platform owner may write as a patch of rendered objects. What patches do is in `gen.render.patch.apply`."""

# no postponed annotations here: pydantic would compile each of them again when the program starts
from typing import Any

from gen.model.base import Model
from gen.model.scalars import Text


class Target(Model):
    """Which objects a patch changes: all that fit everything said here. Texts are patterns with `*`."""

    group: Text | None = None
    """API group; empty for the core group."""
    version: Text | None = None
    """API version."""
    kind: Text | None = None
    """Kind of object."""
    name: Text | None = None
    """Name, for objects of a run without the hash."""
    namespace: Text | None = None
    """Namespace."""
    label_selector: Text | None = None
    """Labels, as in `kubectl -l`."""
    annotation_selector: Text | None = None
    """Annotations, in the same form."""


class PatchFields(Model):
    """A change of rendered objects: strategic merge (a mapping) or JSON 6902 (a list of operations)."""

    target: Target | None = None
    """Objects to change; a strategic merge may name them by its own `kind` and `metadata.name` instead."""
    patch: Any = None
    """The patch itself."""
    path: Text | None = None
    """A file with the patch, below the overlay's folder."""
