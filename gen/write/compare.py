"""`rendered/` as it is against `rendered/` as it should be.

Whether a file is ours, and whether somebody changed it by hand, is written in its first line (see `gen.emit`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from gen.diagnostics import Findings, Location
from gen.emit import HEADER, digest_of, header, untouched
from gen.files import read_regular
from gen.workspace import RENDERED
from gen.write.immutable import immutable_change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.manifest import File
    from gen.outcome import Rendering

STAGING = f"{RENDERED}/.gen.tmp"
"""Where new files lie until they are swapped in. Only a killed run leaves it behind."""

_MOST = 1 << 24
"""Bytes of a rendered file: ten times what a cluster stores of an object."""

_GITOPS = ("argocd", "flux")
"""Folders below `rendered/` that are no overlay's."""


class Status(StrEnum):
    MISSING = "missing"
    """Should be there and is not."""
    STALE = "stale"
    """As gen wrote it, from other inputs."""
    EDITED = "hand-edited"
    """Not as gen wrote it."""
    LEFTOVER = "leftover"
    """Written by gen, from inputs that are gone."""


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """One file that is not as it should be."""

    path: str
    status: Status
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that `render` would do, and what it would leave."""

    changes: tuple[Change, ...]
    same: int
    """Files that are as they should be."""
    unknown: bool = False
    """Whether a file that is known by its digest alone is not as it should be: its text has to be rendered."""


def compare(root: Path, rendering: Rendering, found: Findings, *, prune_storage: bool = False) -> Comparison:
    """Compare; files that are in the way, and data that a cluster could not follow, are findings."""
    changes: list[Change] = []
    same = 0
    unknown = False
    for path, file in rendering.files.items():
        old = _read(root, path)
        if old is not None and _equal(old, file):
            same += 1
        elif file.text is None:
            unknown = True
        elif (change := _changed(root, file, file.text, old, found)) is not None:
            changes.append(change)
    changes += _surplus(root, rendering, found, prune_storage=prune_storage)
    return Comparison(tuple(sorted(changes)), same, unknown)


def _equal(old: str, file: File) -> bool:
    if file.text is not None:
        return old == file.text
    first = header(file.source.file, file.digest)
    return old.startswith(first) and digest_of(old[len(first) :]) == file.digest


def _changed(root: Path, file: File, text: str, old: str | None, found: Findings) -> Change | None:
    if old is None and not os.path.lexists(f"{root}/{file.path}"):
        return Change(file.path, Status.MISSING, None, text)
    if old is None or HEADER.match(old) is None:
        hint = "move it away or delete it; gen replaces only what it wrote itself"
        found.error("foreign-file", Location(file.path), f"this is not gen's, and {file.identity} belongs here", hint)
        return None
    edited = not untouched(old)
    if file.storage and not edited and (route := immutable_change(old, text)):
        hint = f"declare it under another name, or delete {file.path} if it was never applied"
        message = f"`{route}` of {file.identity} changed, and a cluster cannot change it"
        found.error("immutable-storage", file.source, message, hint)
    return Change(file.path, Status.EDITED if edited else Status.STALE, old, text)


def _surplus(root: Path, rendering: Rendering, found: Findings, *, prune_storage: bool) -> Iterator[Change]:
    """Files in the folders that were rendered which should not be there."""
    for path in _present(root, rendering):
        if path in rendering.files:
            continue
        text = _read(root, path)
        if text is None or HEADER.match(text) is None:
            found.warning(
                "foreign-file",
                Location(path),
                "this is not gen's, and is left alone",
                "move it out of rendered/",
            )
        elif path.split("/")[2] == "storage" and not prune_storage:
            hint = "it stays, so that no data is lost; `gen render --prune-storage` removes the file"
            found.warning("unused-storage", Location(path), "no job uses this any more", hint)
        else:
            yield Change(path, Status.LEFTOVER if untouched(text) else Status.EDITED, text, None)


def _present(root: Path, rendering: Rendering) -> Iterator[str]:
    for folder in sorted(_folders(root, rendering)):
        yield from _files(root, folder)


def _folders(root: Path, rendering: Rendering) -> Iterator[str]:
    """The folders whose whole content is known."""
    if not rendering.whole:
        yield from rendering.folders
        return
    with os.scandir(root / RENDERED) if (root / RENDERED).is_dir() else _Nothing() as entries:
        for entry in entries:
            if entry.name not in _GITOPS and entry.name != Path(STAGING).name:
                yield f"{RENDERED}/{entry.name}"


class _Nothing:
    """No entries, where there is no folder yet."""

    def __enter__(self) -> tuple[os.DirEntry[str], ...]:
        return ()

    def __exit__(self, *_: object) -> None:
        pass


def _files(root: Path, path: str) -> Iterator[str]:
    """Everything below a folder that is no folder itself; links are not followed."""
    full = root / path
    if full.is_symlink() or not full.is_dir():
        if os.path.lexists(full):
            yield path
        return
    with os.scandir(full) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            inner = f"{path}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from _files(root, inner)
            else:
                yield inner


def _read(root: Path, path: str) -> str | None:
    """The text of a regular file; None for anything else, and for bytes that gen would not have written."""
    try:
        return read_regular(f"{root}/{path}", _MOST).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
