"""Finds overlays: folders in `overlays/` with an `overlay.yaml`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gen.diagnostics import Location, near
from gen.findings.files import INVALID_NAME, MISPLACED_FILE, MISSING_FILE, NOT_A_FILE
from gen.findings.overlays import RESERVED_NAME
from gen.repository.layout import (
    LABEL,
    OVERLAY_FILE,
    OVERLAYS,
    SIMILAR_ENDINGS,
    overlay_file,
    overlays_path,
    rendered_path,
)
from gen.repository.safe_files import printable_path, unusable
from gen.resources.engines import ENGINES

if TYPE_CHECKING:
    from pathlib import Path

    from gen.diagnostics import Findings


def overlay_names(root: Path, found: Findings) -> list[str]:
    """Sorted names of overlays. Misplaced and misnamed ones are findings.

    Else gen would treat their rendered files as left over. Hidden entries and files such as a README are ignored.
    """
    return [name for name in _listed(root / OVERLAYS) if not name.startswith(".") and _is_overlay(root, name, found)]


def _is_overlay(root: Path, name: str, found: Findings) -> bool:
    path, place = root / overlays_path(name), Location(overlays_path(printable_path(name)))
    if path.is_symlink():
        found.error(NOT_A_FILE, place, "links are not allowed", "replace the link with the folder itself")
    elif not path.is_dir():
        if name.lower().endswith(SIMILAR_ENDINGS):
            stem = printable_path(name.rsplit(".", 1)[0])
            hint = f"move it to {overlay_file(stem)}"
            found.error(MISPLACED_FILE, place, "overlay file outside of an overlay folder", hint)
    elif name in ENGINES:
        message = f"reserved overlay name `{name}`: {rendered_path(name)}/ contains the files for {name}"
        found.error(RESERVED_NAME, place, message, "rename the folder")
    elif not LABEL.fullmatch(name):
        hint = "rename the folder; use lower-case letters, digits and `-`"
        found.error(INVALID_NAME, place, f"`{printable_path(name)}` is not a valid overlay name", hint)
    elif OVERLAY_FILE not in (inside := _listed(path)):
        meant = near(OVERLAY_FILE, (other for other in inside if other.lower().endswith(SIMILAR_ENDINGS)))
        rename = f"rename `{printable_path(meant)}` to `{OVERLAY_FILE}`"
        hint = rename if meant else f"add `{OVERLAY_FILE}`, or remove the folder"
        found.error(MISSING_FILE, place, f"the folder has no `{OVERLAY_FILE}`", hint)
    else:
        return True
    return False


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names, not paths
    except OSError as error:
        raise unusable(folder, error, "check its permissions") from error
