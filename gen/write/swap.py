"""Putting files in place, so that at any moment each is either the old or the new one.

New texts go to a staging folder beside their targets and are renamed over them; then what is surplus is removed.
A run that is killed leaves at most the staging folder, and the next run finishes the work.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gen.diagnostics import UsageError
from gen.workspace import RENDERED
from gen.write.compare import STAGING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.write.compare import Comparison


def apply(root: Path, comparison: Comparison) -> None:
    """Make every change. UsageError when another run is at work, or a folder of `rendered/` is a link."""
    if not comparison.changes and not (root / STAGING).exists():
        return
    _own_folder(root, RENDERED, set())
    with _alone(root / RENDERED):
        staging = root / STAGING
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
        _write(root, staging, comparison)
        _remove(root, comparison)
        shutil.rmtree(staging)


def _write(root: Path, staging: Path, comparison: Comparison) -> None:
    safe: set[str] = set()
    staged = f"{staging}/file"
    for change in comparison.changes:
        if change.new is None:
            continue
        _own_folder(root, change.path.rsplit("/", 1)[0], safe)
        descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(change.new.encode())
        os.rename(staged, f"{root}/{change.path}")  # noqa: PTH104 - a tenth of the time of a Path, per file


def _remove(root: Path, comparison: Comparison) -> None:
    """Remove what is surplus, and the folders that are empty then."""
    for change in comparison.changes:
        if change.new is not None:
            continue
        (root / change.path).unlink(missing_ok=True)
        folder = (root / change.path).parent
        while folder != root / RENDERED and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent


def _own_folder(root: Path, folder: str, safe: set[str]) -> None:
    """Make a folder, refusing to go through a link: it could lead out of the repository."""
    if folder in safe:
        return
    if "/" in folder:
        _own_folder(root, folder.rsplit("/", 1)[0], safe)
    path = root / folder
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise UsageError(f"{folder} is not a folder of its own; remove it")
    path.mkdir(exist_ok=True)
    safe.add(folder)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a lock on `rendered/`, which vanishes with the process."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UsageError("another `gen render` is writing to rendered/; wait for it") from None
    try:
        yield
    finally:
        os.close(descriptor)
