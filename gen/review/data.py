"""What happens to data: volumes and claims, which are never removed, renamed, shrunk or unprotected unasked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gen import quantity
from gen.diagnostics import Diagnostic, Location, Severity
from gen.kubernetes import at
from gen.render.write.immutable import immutable_changes
from gen.review.rendered_object import DATA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gen.diagnostics import Findings
    from gen.review.matching import Pair
    from gen.review.rendered_object import Item

_PROTECTIONS = (
    ("argocd.argoproj.io/sync-options", "Prune=false"),
    ("argocd.argoproj.io/sync-options", "Delete=false"),
    ("kustomize.toolkit.fluxcd.io/prune", "disabled"),
)
"""What keeps Argo CD and Flux from removing an object; all are read from the object in the cluster."""
_COPY = "declare another volume beside it, copy the data, and let jobs use that"
_SIZE = ("spec", "capacity", "storage")
_REQUEST = "spec.resources.requests.storage"


class DataAction(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class DataObject:
    """A volume or a claim."""

    pair: Pair

    @property
    def action(self) -> DataAction:
        if self.pair.before is None:
            return DataAction.ADDED
        if self.pair.after is None:
            return DataAction.REMOVED
        return DataAction.CHANGED if self.pair.changed else DataAction.KEPT


def data_of(pairs: Iterable[Pair], found: Findings, *, allowed: bool) -> tuple[DataObject, ...]:
    """The data among the objects. Where a merge endangers it there is an error, or a warning when it is `allowed`."""
    objects = tuple(DataObject(pair) for pair in pairs if pair.item.key.kind in DATA and not pair.item.key.group)
    added = [item.pair.after for item in objects if item.action is DataAction.ADDED and item.pair.after is not None]
    severity = Severity.WARNING if allowed else Severity.ERROR
    for data in objects:
        before, after = data.pair.before, data.pair.after
        if before is not None and after is None:
            found.extend([_removed(before, added, severity)])
        elif before is not None and after is not None and data.pair.changed:
            found.extend(_refused(before, after))
            found.extend(_exposed(before, after, severity))
    return objects


def _removed(item: Item, added: Sequence[Item], severity: Severity) -> Diagnostic:
    place = Location(item.path)
    successor = next((other for other in added if _alike(item, other)), None)
    if successor is not None:
        message = f"{item.key.object} would be renamed to {successor.key.name}: no data moves along"
        hint = f"keep the old name; or {_COPY}"
        return Diagnostic(place, "data-renamed", message, hint, severity=severity)
    message = f"{item.key.object} would leave Git, and with it what says where the data is"
    hint = "restore the file, and its volume in the overlay; --allow-data-removal when the data may go"
    return Diagnostic(place, "data-removed", message, hint, severity=severity)


def _alike(old: Item, new: Item) -> bool:
    """Whether both stand for the same data: of one kind and place, and equal in all that does not hold a name."""
    places = [(item.key.scope, item.key.kind, item.key.namespace) for item in (old, new)]
    return places[0] == places[1] and _unnamed(at(old.body, "spec")) == _unnamed(at(new.body, "spec"))


def _unnamed(spec: Any) -> Any:
    """Without the fields that follow the names of the volume and of its claim."""
    if not isinstance(spec, dict):
        return spec
    source = spec.get("csi")
    rest = {key: value for key, value in spec.items() if key not in ("claimRef", "volumeName", "csi")}
    if isinstance(source, dict):
        rest["csi"] = {key: value for key, value in source.items() if key != "volumeHandle"}
    return rest


def _refused(before: Item, after: Item) -> Iterator[Diagnostic]:
    """Changes that a cluster would not make, or that take room away."""
    place = Location(after.path)
    for path, old, new in immutable_changes(before.body, after.body):
        if path == _REQUEST:
            message = f"{after.key.object} would shrink from {old} to {new}, and a claim can only grow"
            yield Diagnostic(place, "data-shrunk", message, f"keep {old}; or {_COPY}")
        else:
            message = f"`{path}` of {after.key.object} changed, and a cluster cannot change it"
            yield Diagnostic(place, "immutable-storage", message, f"change it back; or {_COPY}")
    old, new = at(before.body, *_SIZE), at(after.body, *_SIZE)
    if _less(old, new):
        message = f"{after.key.object} would shrink from {old} to {new}"
        yield Diagnostic(place, "data-shrunk", message, f"keep {old}; or {_COPY}")


def _less(old: Any, new: Any) -> bool:
    try:
        return quantity.amount(str(new)) < quantity.amount(str(old))
    except ValueError:
        return False


def _exposed(before: Item, after: Item, severity: Severity) -> Iterator[Diagnostic]:
    """Protections that it had and would have no more."""
    place = Location(after.path)
    for name, word in _PROTECTIONS:
        if word in before.annotation(name).split(",") and word not in after.annotation(name).split(","):
            message = f"{after.key.object} would lose its protection `{name}: {word}`"
            yield Diagnostic(place, "data-unprotected", message, "run `gen render`, which writes it", severity=severity)
    policy = "persistentVolumeReclaimPolicy"
    if at(before.body, "spec", policy) == "Retain" and at(after.body, "spec", policy) != "Retain":
        message = f"{after.key.object} would be deleted with its claim: `{policy}` is no longer Retain"
        yield Diagnostic(place, "data-unprotected", message, "change it back to Retain", severity=severity)
