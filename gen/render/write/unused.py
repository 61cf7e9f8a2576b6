"""Volumes and claims in `rendered/` that no job uses any more. gen keeps them, because they may refer to data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.diagnostics import Findings, Location
from gen.findings.rendered import FOREIGN_FILE, HAND_EDITED, UNUSED_STORAGE
from gen.kubernetes import at, identity_of
from gen.render.emit import untouched
from gen.repository.layout import RenderedPath, object_file, tree_folder
from gen.resources.core import DATA, PERSISTENT_VOLUME

if TYPE_CHECKING:
    from gen.kubernetes import Body

_PRUNE = "to remove the file, run `gen render --prune-storage`"


def is_unused_data(path: str, text: str, found: Findings, *, kept: bool = False) -> bool:
    """Whether a generated file that is not part of the result must be kept, with a finding if so.

    A volume or claim is expected in the file that gen writes for it. Anywhere else, after an edit, or if the file
    cannot be read, it is an error: it may be data, so gen does not remove it, or an object that was never rendered.
    With `kept`, a run that is behind the platform mounts it.
    """
    if not (RenderedPath.parse(path).is_storage or PERSISTENT_VOLUME.kind in text):
        return False
    place, body = Location(path), manifest_of(text)
    if body is None:
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
    body = manifest_of(text) if RenderedPath.parse(path).is_storage else None
    if body is None or not is_data(body):
        return ""
    route = ("spec", "claimRef") if body.get("kind") == PERSISTENT_VOLUME.kind else ("metadata",)
    return "/".join((RenderedPath.parse(path).overlay, *(str(at(body, *route, key)) for key in ("namespace", "name"))))


def manifest_of(text: str) -> Body | None:
    """The only object of a manifest; None if there are others, or if readers would disagree about it."""
    from gen.load.strict import parse  # noqa: PLC0415 - few files are unused
    from gen.load.yaml12 import typed  # noqa: PLC0415 - as above

    readable = text.encode("utf-8", "replace").decode("utf-8")  # it may have been edited by hand
    found = Findings()
    body: Any = typed(parse(readable, "", found) or {})
    return body if isinstance(body, dict) and body and not found.failed() else None


def is_data(body: Body) -> bool:
    """Whether an object is a volume or a claim, by its own kind; its version and names can be invalid."""
    return body.get("kind") in {resource.kind for resource in DATA}


def data_file(path: str, body: Body) -> str:
    """The file that gen writes for a volume or claim, in the overlay whose folder contains a path.

    Empty if gen writes no such object.
    """
    if body.get("apiVersion") not in PERSISTENT_VOLUME.versions:
        return ""
    route = ("spec", "claimRef") if body.get("kind") == PERSISTENT_VOLUME.kind else ("metadata",)
    namespace, name = at(body, *route, "namespace"), at(body, "metadata", "name")
    overlay = RenderedPath.parse(path).overlay
    return f"{tree_folder(overlay, 'storage', str(namespace))}/{object_file(str(body['kind']), str(name))}"
