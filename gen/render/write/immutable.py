"""Changes of storage objects that an API server rejects for existing objects.

The source of a volume is immutable. In the spec of a claim only the requested size may change, and only grow
(kubernetes/api `core/v1/types.go`, and the API server's validation). That of a claim of a given volume may not change
at all: "only dynamically provisioned pvc can be resized" (the admission plugin `PersistentVolumeClaimResize`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen import quantity
from gen.diagnostics import Findings
from gen.kubernetes import at

if TYPE_CHECKING:
    from collections.abc import Iterator

_MUTABLE = frozenset({"spec.capacity", "spec.mountOptions", "spec.persistentVolumeReclaimPolicy", "spec.accessModes"})
"""Mutable fields of a persistent volume."""
REQUEST: Final = "spec.resources.requests.storage"
"""Path of the requested size of a claim."""
_LARGER = "keep {}: clusters only enlarge claims of a storage class, and `size` does not limit other volumes"
_SMALLER = "keep {}: a claim can only grow"


def immutable_change(old: str, new: str) -> tuple[str, Any, Any] | None:
    """The first immutable field that changed: path, old value, new value."""
    from gen.load.strict import parse  # noqa: PLC0415 - few files change

    readable = old.encode("utf-8", "replace").decode("utf-8")  # it may have been edited by hand
    before, after = parse(readable, "", Findings()), parse(new, "", Findings())
    if not isinstance(before, dict) or not isinstance(after, dict):
        return None
    return next(immutable_changes(before, after), None)


def immutable_changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Immutable fields that differ between two versions of a volume or a claim: path, old value, new value."""
    claim = after.get("kind") == "PersistentVolumeClaim"
    provisioned = not at(before, "spec", "volumeName")
    for path, was, now in _differences(before.get("spec"), after.get("spec"), "spec"):
        if path == REQUEST and ((provisioned and _grows(was, now)) or _equals(was, now)):
            continue
        if not claim and (was or None) == (now or None):
            continue  # an empty class equals a missing one for a volume, but not for a claim
        if claim or not any(path == mutable or path.startswith(f"{mutable}.") for mutable in _MUTABLE):
            yield path, was, now


def _differences(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _differences(old.get(key), new.get(key), f"{path}.{key}")
    elif old != new:
        yield path, old, new


def size_remedy(old: Any, new: Any) -> str:
    """Remedy for another size of a claim."""
    return (_LARGER if _grows(old, new) else _SMALLER).format(old)


def _grows(old: Any, new: Any) -> bool:
    try:
        return quantity.amount(str(new)) >= quantity.amount(str(old))
    except ValueError:
        return False


def _equals(old: Any, new: Any) -> bool:
    return _grows(old, new) and _grows(new, old)
