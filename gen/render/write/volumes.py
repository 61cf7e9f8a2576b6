"""Volumes and claims in `rendered/`: those that no job uses any more, and changes that an API server rejects.

gen keeps unused ones, because they may refer to data. Immutable fields are by the facts of each kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from gen.base import Findings, Location, at
from gen.base.codes.rendered import FOREIGN_FILE, HAND_EDITED, UNUSED_STORAGE
from gen.base.repository.layout import RenderedPath, object_file, tree_folder
from gen.kubernetes import quantity
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.base import Path
from gen.kubernetes.facts.builtin import DATA, PERSISTENT_VOLUME
from gen.kubernetes.objects import Body, identity_of
from gen.render.emit import untouched

_PRUNE = "to remove the file, run `gen render --prune-storage`"
_LARGER = "keep {}: clusters only enlarge claims of a storage class, and `size` does not limit other volumes"
_SMALLER = "keep {}: a claim can only grow"


def is_unused_data(path: str, text: str, found: Findings, *, kept: bool = False) -> bool:
    """Whether a generated file that is not part of the result must be kept, with a finding if so.

    A volume or claim is expected in the file that gen writes for it. Anywhere else, after an edit, or if the file
    cannot be read, it is an error: it may be data, so gen does not remove it, or an object that was never rendered.
    With `kept`, a run that is behind the platform mounts it.
    """
    if not (RenderedPath.parse(path).is_storage or PERSISTENT_VOLUME.kind in text):
        return False
    from gen.render.committed import body_of

    place, body = Location(path), body_of(text)
    if not body:
        found.error(FOREIGN_FILE, place, "not a manifest with a single object, but it mentions a volume", _PRUNE)
        return True
    if not is_data(body):
        return False
    if (expected := data_file(path, body)) != path:
        message = f"`{identity_of(body)}` is not in the file that gen writes for it"
        move = f"move it to {expected}; " if expected else ""
        found.error(FOREIGN_FILE, place, message, move + _PRUNE)
    elif not untouched(text.removeprefix("\ufeff").replace("\r\n", "\n")):
        message = "no job uses this volume any more, but the file was edited by hand"
        found.error(HAND_EDITED, place, message, f"restore the file from Git; {_PRUNE}")
    elif kept:
        message = "only a run that was kept from an earlier platform uses this volume; leaving it unchanged"
        found.warning(UNUSED_STORAGE, place, message, "keep it until the run has ended")
    else:
        found.warning(UNUSED_STORAGE, place, "no job uses this volume any more; leaving it unchanged", _PRUNE)
    return True


def claim_of(path: str, text: str) -> str:
    """The claim of a volume, or the claim itself, as `overlay/namespace/name`; empty for other objects."""
    from gen.render.committed import body_of

    body = body_of(text) if RenderedPath.parse(path).is_storage else {}
    if not is_data(body):
        return ""
    route = ("spec", "claimRef") if body.get("kind") == PERSISTENT_VOLUME.kind else ("metadata",)
    return "/".join((RenderedPath.parse(path).overlay, *(str(at(body, *route, key)) for key in ("namespace", "name"))))


def is_data(body: Body) -> bool:
    """Whether an object is a volume or a claim, by its own kind; its version and names can be invalid."""
    return body.get("kind") in {resource.kind for resource in DATA}


def data_file(path: str, body: Body) -> str:
    """The file that gen writes for a volume or claim, in the overlay of a path.

    Empty if gen writes no such object.
    """
    if body.get("apiVersion") not in PERSISTENT_VOLUME.versions:
        return ""
    route = ("spec", "claimRef") if body.get("kind") == PERSISTENT_VOLUME.kind else ("metadata",)
    namespace, name = at(body, *route, "namespace"), at(body, "metadata", "name")
    overlay = RenderedPath.parse(path).overlay
    return f"{tree_folder(overlay, 'storage', str(namespace))}/{object_file(str(body['kind']), str(name))}"


def immutable_change(old: str, new: str) -> tuple[Path, object, object] | None:
    """The first immutable field that changed: route, old value, new value."""
    from gen.base.yaml.strict import parse

    readable = old.encode("utf-8", "replace").decode("utf-8")  # it may have been edited by hand
    before, after = parse(readable, "", Findings()), parse(new, "", Findings())
    if not isinstance(before, dict) or not isinstance(after, dict):
        return None
    return next(immutable_changes(before, after), None)


def immutable_changes(before: Body, after: Body) -> Iterator[tuple[Path, object, object]]:
    """Immutable fields that differ between two versions of an object: route, old value, new value."""
    resource = resource_of_object(after.get("apiVersion"), after.get("kind"))
    updates = resource.updates if resource is not None else None
    if updates is None:
        return
    fixed = updates.fixed_with is not None and bool(at(before, *updates.fixed_with))
    for route, was, now in differences(before.get("spec"), after.get("spec"), ("spec",)):
        if route == updates.growing and ((not fixed and _grows(was, now)) or _equals(was, now)):
            continue
        if route in updates.added_once and was is None:
            continue
        if updates.empty_is_missing and (was or None) == (now or None):
            continue
        if not any(route[: len(mutable)] == mutable for mutable in updates.mutable):
            yield route, was, now


def differences(old: object, new: object, route: Path = ()) -> Iterator[tuple[Path, object, object]]:
    """Fields that differ, and lists as a whole: route, old value, new value."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key), new.get(key), (*route, key))
    elif old != new:
        yield route, old, new


def size_remedy(old: object, new: object) -> str:
    """Remedy for another size of a claim."""
    return (_LARGER if _grows(old, new) else _SMALLER).format(old)


def _grows(old: object, new: object) -> bool:
    try:
        return quantity.amount(str(new)) >= quantity.amount(str(old))
    except ValueError:
        return False


def _equals(old: object, new: object) -> bool:
    return _grows(old, new) and _grows(new, old)
