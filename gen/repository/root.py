"""Finding the repository: the nearest folder with `jobs/` and `overlays/`, or the one that the user names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gen.diagnostics import UsageError
from gen.repository.layout import JOBS, OVERLAYS

if TYPE_CHECKING:
    from pathlib import Path


def find_root(start: Path) -> Path:
    """The nearest folder, from `start` upwards, with `jobs/` and `overlays/`. UsageError if there is none."""
    for folder in (start, *start.parents):
        if not _missing(folder):
            return checked_root(folder)
    hint = "name the repository with --root, or create one with `gen init DIR`"
    raise UsageError(f"no {JOBS}/ and {OVERLAYS}/ in {start} or any parent folder; {hint}")


def checked_root(root: Path) -> Path:
    """The resolved path of a folder that the user names as the repository. UsageError if it is not one."""
    if not os.path.isdir(root):  # noqa: PTH112 - never raises
        raise UsageError(f"{root} is not a folder; name the repository with --root")
    if missing := _missing(root):
        raise UsageError(f"{root} has no folder {missing}/")
    for name in (JOBS, OVERLAYS):
        if (root / name).is_symlink():
            raise UsageError(f"{root / name} is a symbolic link; replace it with the folder itself")
    return root.resolve()


def _missing(root: Path) -> str:
    return next((name for name in (JOBS, OVERLAYS) if not os.path.isdir(root / name)), "")  # noqa: PTH112 - never raises
