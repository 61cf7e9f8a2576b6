"""Effects on data: volumes and claims that a merge adds, changes or removes.

A merge must not remove, rename, shrink or unprotect data unless that was requested.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from gen.base import Diagnostic, Findings, Location, Severity, at
from gen.base.codes.rendered import DATA_REMOVED, DATA_RENAMED, DATA_SHRUNK, DATA_UNPROTECTED, IMMUTABLE_STORAGE
from gen.base.engines import protections
from gen.kubernetes import quantity
from gen.kubernetes.facts.builtin import CAPACITY, RECLAIM_POLICY, REQUEST
from gen.render.rendered_object import DATA, RenderedObject
from gen.render.write.volumes import immutable_changes, size_remedy
from gen.review.rendered_trees import Pair

_COPY = "declare a new volume, copy the data, and use the new volume in the jobs"


class DataAction(StrEnum):
    """Effect of a merge on a volume or claim."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    KEPT = "kept"


class DataObject(Struct, frozen=True):
    """A volume or a claim."""

    pair: Pair

    @property
    def action(self) -> DataAction:
        if self.pair.before is None:
            return DataAction.ADDED
        if self.pair.after is None:
            return DataAction.REMOVED
        return DataAction.CHANGED if self.pair.changed else DataAction.KEPT


def data_changes(pairs: Iterable[Pair], found: Findings, *, allowed: bool) -> tuple[DataObject, ...]:
    """The volumes and claims among the objects. Reports danger to data as errors, or as warnings if `allowed`."""
    objects = tuple(DataObject(pair) for pair in pairs if pair.object.key.kind in DATA and not pair.object.key.group)
    added = [data.pair.after for data in objects if data.action is DataAction.ADDED and data.pair.after is not None]
    severity = Severity.WARNING if allowed else Severity.ERROR
    for data in objects:
        before, after = data.pair.before, data.pair.after
        if before is not None and after is None:
            found.extend([_removed(before, added, severity)])
        elif before is not None and after is not None and data.pair.changed:
            found.extend(_rejected(before, after))
            found.extend(_unprotected(before, after, severity))
    return objects


def _removed(before: RenderedObject, added: Sequence[RenderedObject], severity: Severity) -> Diagnostic:
    place = Location(before.path)
    successor = next((after for after in added if _same_data(before, after)), None)
    if successor is not None:
        message = f"`{before.key}` would be renamed to `{successor.key.name}`; its data would not be moved"
        hint = f"keep the old name, or {_COPY}"
        return Diagnostic(place, DATA_RENAMED.name, message, hint, severity=severity)
    message = f"`{before.key}` would be removed from Git, and the location of its data lost"
    hint = "restore the file and its volume in the overlay, or use --allow-data-removal if the data may be deleted"
    return Diagnostic(place, DATA_REMOVED.name, message, hint, severity=severity)


def _same_data(before: RenderedObject, after: RenderedObject) -> bool:
    """Whether two objects refer to the same data: same kind, overlay and namespace, equal except for names."""
    places = [(one.key.scope, one.key.kind, one.key.namespace) for one in (before, after)]
    return places[0] == places[1] and _without_names(at(before.body, "spec")) == _without_names(at(after.body, "spec"))


def _without_names(spec: object) -> object:
    """The spec without the fields that are derived from the names of the volume and of its claim."""
    if not isinstance(spec, dict):
        return spec
    source = spec.get("csi")
    rest = {key: value for key, value in spec.items() if key not in ("claimRef", "volumeName", "csi")}
    if isinstance(source, dict):
        rest["csi"] = {key: value for key, value in source.items() if key != "volumeHandle"}
    return rest


def _rejected(before: RenderedObject, after: RenderedObject) -> Iterator[Diagnostic]:
    """Changes that the API server rejects, and smaller volumes."""
    place = Location(after.path)
    for route, old, new in immutable_changes(before.body, after.body):
        if route == REQUEST and not _less(old, new):
            message = f"`{after.key}` would grow from {old} to {new}, which a cluster rejects: it has a given volume"
            yield Diagnostic(place, IMMUTABLE_STORAGE.name, message, size_remedy(old, new))
        elif route == REQUEST:
            message = f"`{after.key}` would shrink from {old} to {new}; claims can only grow"
            yield Diagnostic(place, DATA_SHRUNK.name, message, f"keep {old}, or {_COPY}")
        else:
            message = f"`{'.'.join(route)}` of `{after.key}` changed; it cannot be updated in a cluster"
            yield Diagnostic(place, IMMUTABLE_STORAGE.name, message, f"revert the change, or {_COPY}")
    old, new = at(before.body, *CAPACITY), at(after.body, *CAPACITY)
    if _less(old, new):
        message = f"`{after.key}` would shrink from {old} to {new}"
        yield Diagnostic(place, DATA_SHRUNK.name, message, f"keep {old}, or {_COPY}")


def _less(old: object, new: object) -> bool:
    try:
        return quantity.amount(str(new)) < quantity.amount(str(old))
    except ValueError:
        return False


def _unprotected(before: RenderedObject, after: RenderedObject, severity: Severity) -> Iterator[Diagnostic]:
    """Protections of the data that would be lost."""
    place = Location(after.path)
    for mark in protections():
        if mark.is_on(before.metadata) and not mark.is_on(after.metadata):
            message = f"`{after.key}` would lose its protection `{mark}`"
            yield Diagnostic(place, DATA_UNPROTECTED.name, message, "run `gen render` to restore it", severity=severity)
    if at(before.body, *RECLAIM_POLICY) == "Retain" and at(after.body, *RECLAIM_POLICY) != "Retain":
        message = f"`{after.key}` would be deleted with its claim: `{RECLAIM_POLICY[-1]}` is no longer `Retain`"
        yield Diagnostic(place, DATA_UNPROTECTED.name, message, "set it to `Retain` again", severity=severity)
