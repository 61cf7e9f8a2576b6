"""`rendered/` as it is against `rendered/` as it should be.

Whether a file is ours, and whether somebody changed it by hand, is written in its first line (see `gen.render.emit`).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gen.diagnostics import Findings, Location
from gen.render.emit import HEADER, digest_of, header, untouched
from gen.render.write.folders import Folders
from gen.render.write.immutable import immutable_change
from gen.repository.control_files import is_control_file, refuse_control_file
from gen.repository.layout import RENDERED, STAGING, RenderedPath, rendered_path
from gen.repository.safe_files import NotRegularError, TooLargeError, read_regular, shown_path, unusable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.render.manifest import File
    from gen.render.results import RunResult

_MOST = 1 << 24
"""Bytes of a rendered file: ten times what a cluster stores of an object."""

_DATA = re.compile(r"^(?:\{.*[{,\s])?[\"']?kind[\"']?\s*:\s*[\"']?PersistentVolume", re.MULTILINE)
"""An object that stands for data, wherever its file lies and whatever was done to it by hand."""


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


def compare(root: Path, rendering: RunResult, found: Findings, *, prune_storage: bool = False) -> Comparison:
    """Compare; files that are in the way, and data that a cluster could not follow, are findings.

    UsageError when a folder of `rendered/` is a link, or a file cannot be read.
    """
    changes: list[Change] = []
    folders = Folders(root)
    same = 0
    unknown = False
    for path, file in rendering.files.items():
        there = folders.check(path.rpartition("/")[0])
        old = _read(root, path) if there else None
        if old is not None and _equal(old, file):
            same += 1
        elif file.text is None:
            unknown = True
        elif not there:
            changes.append(Change(path, Status.MISSING, None, file.text))
        elif (change := _changed(root, file, file.text, old, found)) is not None:
            changes.append(change)
    for folder in _folders(root, rendering):
        if folders.check(folder.rpartition("/")[0]):
            present = (path for path in _files(root, folder) if path not in rendering.files)
            changes += _surplus(root, present, found, prune_storage=prune_storage)
    return Comparison(tuple(sorted(changes)), same, unknown)


def _equal(old: str, file: File) -> bool:
    if file.text is not None:
        return old == file.text
    first = header(file.source.file, file.digest)
    return old.startswith(first) and digest_of(old[len(first) :]) == file.digest


def _changed(root: Path, file: File, text: str, old: str | None, found: Findings) -> Change | None:
    if old is None and not os.path.lexists(f"{root}/{file.path}"):
        return Change(file.path, Status.MISSING, None, text)
    if old is None or (old and HEADER.match(old) is None):  # an empty file may be what a crash left, and holds nothing
        hint = "move it away or delete it; gen replaces only what it wrote itself"
        found.error("foreign-file", Location(file.path), f"this is not gen's, and {file.identity} belongs here", hint)
        return None
    edited = not untouched(old)
    if file.storage and (route := immutable_change(old, text)):
        back = f"take back what was edited in {file.path}, " if edited else ""
        hint = f"{back}declare it under another name, or delete {file.path} if it was never applied"
        message = f"`{route}` of {file.identity} changed, and a cluster cannot change it"
        found.error("immutable-storage", file.source, message, hint)
    return Change(file.path, Status.EDITED if edited else Status.STALE, old, text)


def _surplus(root: Path, paths: Iterator[str], found: Findings, *, prune_storage: bool) -> Iterator[Change]:
    """What is to become of files that should not be there."""
    for path in paths:
        text = _read(root, path)
        place = Location(shown_path(path))
        ours = path.isascii() and path.isprintable()  # as all that gen ever wrote
        if is_control_file(path.rpartition("/")[2]):
            refuse_control_file(place.file, found)
        elif not ours or text is None or HEADER.match(text) is None:
            found.warning("foreign-file", place, "this is not gen's, and is left alone", "move it out of rendered/")
        elif not prune_storage and (RenderedPath.parse(path).is_storage or _DATA.search(text)):
            hint = "it stays, so that no data is lost; `gen render --prune-storage` removes the file"
            found.warning("unused-storage", place, "no job uses this any more", hint)
        else:
            yield Change(path, Status.LEFTOVER if untouched(text) else Status.EDITED, text, None)


def _folders(root: Path, rendering: RunResult) -> list[str]:
    """The folders whose whole content is known, in order; and files among them."""
    if not rendering.whole:
        return sorted(rendering.folders)
    return [path for name in _listed(root, RENDERED) if (path := rendered_path(name)) != STAGING]


def _files(root: Path, path: str) -> Iterator[str]:
    """Everything at or below a path that is no folder; links are not followed."""
    full = f"{root}/{path}"
    if os.path.isdir(full) and not os.path.islink(full):  # noqa: PTH112, PTH114 - a tenth of the time of a Path
        for name in _listed(root, path):
            yield from _files(root, f"{path}/{name}")
    elif os.path.lexists(full):
        yield path


def _listed(root: Path, folder: str) -> list[str]:
    try:
        return sorted(os.listdir(f"{root}/{folder}"))  # noqa: PTH208 - names, not paths
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unusable(folder, error, "check its permissions") from error


def _read(root: Path, path: str) -> str | None:
    """The text of a regular file, with stand-ins for bytes that are not UTF-8; None for anything else."""
    try:
        return read_regular(f"{root}/{path}", _MOST).decode("utf-8", "surrogateescape")
    except (FileNotFoundError, NotRegularError, TooLargeError):
        return None
    except OSError as error:
        raise unusable(path, error, "make it readable, or remove it; `gen render` writes it anew") from error
