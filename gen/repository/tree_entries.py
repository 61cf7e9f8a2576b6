"""Entries of a folder tree with their types. Links are not followed."""

from __future__ import annotations

import os
import stat
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from gen.repository.safe_files import unusable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class EntryType(Enum):
    FILE = "regular file"
    EXECUTABLE = "executable file"
    EMPTY_FOLDER = "empty folder"
    """Git does not store it. In a checkout, it can be a submodule that was not fetched."""
    OTHER = "link, pipe, device or socket"


class TreeEntry(Struct, frozen=True):
    """A file, an empty folder, or an entry of another type."""

    path: str
    """Relative to the repository, with `/`."""
    type: EntryType


def tree_entries(root: Path, path: str) -> Iterator[TreeEntry]:
    """All files and empty folders at or below a path, sorted by folder. UsageError if a folder cannot be listed."""
    try:
        mode = os.lstat(f"{root}/{path}").st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    yield from _entries(root, path) if stat.S_ISDIR(mode) else (TreeEntry(path, _type(mode)),)


def _entries(root: Path, folder: str) -> Iterator[TreeEntry]:
    empty = True
    for entry in _listed(root, folder):
        empty = False
        path = f"{folder}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(root, path)
            continue
        try:
            yield TreeEntry(path, _type(entry.stat(follow_symlinks=False).st_mode))
        except FileNotFoundError:  # removed meanwhile
            continue
    if empty:
        yield TreeEntry(folder, EntryType.EMPTY_FOLDER)


def _listed(root: Path, folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(f"{root}/{folder}") as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise unusable(folder, error, "check its permissions") from error


def _type(mode: int) -> EntryType:
    if not stat.S_ISREG(mode):
        return EntryType.OTHER
    return EntryType.EXECUTABLE if mode & stat.S_IXUSR else EntryType.FILE  # as Git decides it
