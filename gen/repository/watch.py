"""Changes of the files that people write: jobs and overlays. `rendered/` is not watched: no render starts another one.

watchfiles reports what inotify, FSEvents and their like do, in groups: an editor that writes a new file and renames it
over the old one, or Git that changes a hundred files, is one change.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from gen.repository.layout import JOBS, OVERLAYS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_QUIET_MS: Final = 30
"""Milliseconds without another change that end a group."""
_LONGEST_MS: Final = 500
"""Milliseconds of a group that does not end."""
_POLL_MS: Final = 100
"""Milliseconds after which the watched folders themselves are looked at: Git can replace them."""
_LOCK_SECONDS: Final = 10
"""Time that Git may take to change files. An older lock is one of a killed process."""


def changed_inputs(root: Path) -> Iterator[frozenset[str]]:
    """Paths of changed files, relative to the repository. The first group is empty, and everything after it is seen.

    Goes on until KeyboardInterrupt. While Git changes files, or one of the folders is missing, it waits.
    """
    from watchfiles import watch  # noqa: PLC0415 - takes a while, and most commands watch nothing

    while True:
        folders = _folders(root)
        if None in folders:
            time.sleep(_POLL_MS / 1000)
            continue
        groups = watch(
            root / JOBS,
            root / OVERLAYS,
            watch_filter=None,
            debounce=_LONGEST_MS,
            step=_QUIET_MS,
            rust_timeout=_POLL_MS,
            yield_on_timeout=True,
        )
        next(groups)  # only now it watches
        yield frozenset()
        for group in groups:
            if _folders(root) != folders:
                break
            if group:
                _wait_for_git(root)
                yield frozenset(_relative(root, path) for _, path in group)


def _folders(root: Path) -> list[tuple[int, int] | None]:
    return [_identity(root / name) for name in (JOBS, OVERLAYS)]


def _identity(folder: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        status = folder.stat()
        return status.st_dev, status.st_ino
    return None


def _relative(root: Path, path: str) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


def _wait_for_git(root: Path) -> None:
    """Wait while Git changes the work tree, so that a render does not write between."""
    lock = _index_lock(root)
    until = time.monotonic() + _LOCK_SECONDS
    while lock is not None and lock.exists() and time.monotonic() < until:
        time.sleep(_POLL_MS / 1000)


def _index_lock(root: Path) -> Path | None:
    """The file that exists while Git changes the index and the work tree; None without Git."""
    for folder in (root, *root.parents):
        git = folder / ".git"
        if git.is_dir():
            return git / "index.lock"
        with suppress(OSError, ValueError):  # a work tree or a submodule
            return folder / git.read_text("utf-8").partition("gitdir:")[2].strip() / "index.lock"
    return None
