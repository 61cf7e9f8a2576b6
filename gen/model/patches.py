"""Fields of a patch in an overlay. `gen.render.patch.apply` applies patches."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Mapping
from typing import Any, ClassVar

from gen.model.base import Model
from gen.model.scalars import Text
from gen.model.synonyms import TARGET


class PodTarget(Model):
    """Selects the pod templates to patch, of the runs that the other fields of the target select."""

    main: ClassVar[str] = "role"

    kind: Text | None = None
    """Kind of the run, such as `PyTorchJob`."""
    role: Text | None = None
    """Role of the pods, such as `worker`. Runs without the role are left as they are."""


class Target(Model):
    """Selects the objects to patch. All given fields must match; strings are patterns with `*`."""

    synonyms: ClassVar[Mapping[str, str]] = TARGET
    main: ClassVar[str] = "kind"

    group: Text | None = None
    """API group; empty for the core group."""
    version: Text | None = None
    """API version."""
    kind: Text | None = None
    """Kind of the object."""
    name: Text | None = None
    """Name of the object. For objects of a run, without the hash."""
    namespace: Text | None = None
    """Namespace."""
    label_selector: Text | None = None
    """Label selector, as in `kubectl -l`."""
    annotation_selector: Text | None = None
    """Annotation selector, in the same form."""
    pods: PodTarget | None = None
    """Pod templates in runs of every kind. The patch is then one of a pod template; the container `$training` is the
    training container, whatever its name is. A TrainJob has no pod templates."""


class PatchFields(Model):
    """Patch of rendered objects: a strategic merge (mapping) or a JSON 6902 patch (list of operations)."""

    target: Target | None = None
    """Objects to patch. A strategic merge may use its own `kind` and `metadata.name` instead."""
    patch: Any = None
    """The patch itself."""
    path: Text | None = None
    """File that contains the patch, in the folder of the overlay."""
