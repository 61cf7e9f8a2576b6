"""Comparison of `rendered/` with the result of a run.

The first line of a file shows whether gen wrote it, and whether it was edited by hand (see `gen.render.emit`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, Location, UsageError
from gen.base.codes.rendered import FOREIGN_FILE, IMMUTABLE_STORAGE
from gen.base.engines import is_control_file, refuse_control_file
from gen.base.parallel import map_parallel
from gen.base.repository import files, layout
from gen.base.repository.files import Folders
from gen.base.repository.stamps import Stamp, Stamps
from gen.base.repository.stamps import Status as FileStatus
from gen.kubernetes.facts.builtin import REQUEST
from gen.render.emit import HEADER, content_of, has_text_of, untouched
from gen.render.results import File, JobInOverlay, JobResult, RenderedJob, RunResult
from gen.render.write.volumes import claim_of, immutable_change, is_unused_data, size_remedy


def is_kept(path: str, patterns: Iterable[str]) -> bool:
    """Whether a file matches a pattern of `rendered.keep`, and no GitOps engine applies it."""
    below = layout.below_rendered(path) or ""
    return below.endswith(layout.INERT_ENDINGS) and any(fnmatchcase(below, pattern) for pattern in patterns)


class Status(StrEnum):
    MISSING = "missing"
    """Expected, but not on disk."""
    STALE = "stale"
    """Written by gen, from other inputs."""
    EDITED = "hand-edited"
    """Edited since gen wrote it."""
    LEFTOVER = "leftover"
    """Written by gen, from inputs that no longer exist."""


class Change(Struct, frozen=True, order=True):
    """One file that differs from the result of the run."""

    path: str
    status: Status
    old: str | None
    """None without a file, and if the staging folder has the new text."""
    new: str | None
    """None if the file is removed, or if the staging folder has its text."""
    staged: bool = False
    """Whether the staging folder has the new text."""
    converted: bool = False
    """Whether the line ends alone differ."""

    @property
    def removes(self) -> bool:
        return self.new is None and not self.staged


class Comparison(Struct, frozen=True):
    """Changes that `gen render` would make, and the number of unchanged files."""

    changes: tuple[Change, ...]
    same: int
    """Number of unchanged files."""
    unknown: frozenset[str] = frozenset()
    """Sources of files from the cache that differ on disk, so that their texts must be rendered."""
    executable: tuple[str, ...] = ()
    """Files with an executable bit. `apply` removes it."""
    empty: tuple[str, ...] = ()
    """Empty folders. `apply` removes them."""
    staging: bool = False
    """Whether the folder for temporary files exists. `apply` removes it."""


_FILES_PER_PROCESS = 1500
"""Starting a process takes as long as comparing about this many files."""
_FOLDERS_PER_PROCESS = 2000
"""Starting a process takes as long as looking at about this many folders."""


def _is_same(root: Path, files: Sequence[File], done: Callable[[int], None]) -> list[bool]:
    """Whether each file has the text of the run."""
    folders = Folders(root)
    old = (_read(root, one.path) if folders.check(one.path.rpartition("/")[0]) else None for one in files)
    same = [text is not None and has_text_of(file, text) for file, text in zip(files, old, strict=True)]
    done(len(same))
    return same


class NewFiles(Protocol):
    """The staging folder."""

    @property
    def begun(self) -> bool: ...
    def add(self, path: str, text: str, /) -> None: ...


def settle(root: Path, results: Sequence[JobResult], staging: NewFiles) -> list[JobResult]:
    """The results without the texts of files that are in `rendered/` as they are.

    The staging folder gets the others once it has begun, so that these need not stay in memory, either. Texts of runs
    that are behind the platform stay.
    """
    folders = Folders(root)

    def settled(file: File) -> File:
        if file.text is None:
            return file
        if _has(root, folders, file):
            return replace(file, text=None, stored="unchanged", characters=len(file.text))
        if not staging.begun or file.storage:  # whose old text `compare` needs, too
            return file
        staging.add(file.path, file.text)
        return replace(file, text=None, stored="staging", characters=len(file.text))

    def of_run(run: RenderedJob) -> RenderedJob:
        return replace(run, files=tuple(map(settled, run.files))) if run.behind is None else run

    def of_job(one: JobInOverlay) -> JobInOverlay:
        return replace(one, rendered=tuple(map(of_run, one.rendered)))

    return [replace(result, overlays=tuple(map(of_job, result.overlays))) for result in results]


def _has(root: Path, folders: Folders, file: File) -> bool:
    """Whether `rendered/` has a file with its text. `compare` reports what cannot be read."""
    try:
        return folders.check(file.path.rpartition("/")[0]) and _read(root, file.path) == file.text
    except (UsageError, OSError):
        return False


def compare(
    root: Path,
    rendering: RunResult,
    found: Findings,
    *,
    prune_storage: bool = False,
    parallel: int = 1,
    stamps: Stamps | None = None,
) -> Comparison:
    """Compare the files; report foreign files, and storage changes that a cluster would reject.

    Folders with a stamp are not read. UsageError if a folder of `rendered/` is a link, or a file cannot be read.
    """
    now = folder_stamps(root, by_folder(rendering), stamps, parallel) if stamps is not None else {}
    known = frozenset(folder for folder, stamp in now.items() if stamps is not None and stamps.knows(stamp))
    changes: list[Change] = []
    folders = Folders(root)
    unknown: set[str] = set()
    open_ = [file for file in rendering.files.values() if not file.stored and not _in(known, file)]
    same = map_parallel(partial(_is_same, root), open_, parallel, worth_it=_FILES_PER_PROCESS)
    differing = [file for file, is_same in zip(open_, same, strict=True) if not is_same]
    differing += [file for file in rendering.files.values() if file.stored == "staging"]
    for file in differing:
        path = file.path
        there = folders.check(path.rpartition("/")[0])
        staged = file.stored == "staging"
        if file.text is None and not staged:
            unknown.add(file.source.file)
        elif not there:
            changes.append(Change(path, Status.MISSING, None, file.text, staged))
        elif (change := _changed(root, file, _read(root, path), found)) is not None:
            changes.append(change)
    entries = [
        entry for folder in _folders(root, rendering, folders) for entry in files.tree_entries(root, folder, known)
    ]
    empty = tuple(entry.path for entry in entries if entry.type is files.EntryType.EMPTY_FOLDER)
    surplus = (entry.path for entry in entries if entry.type is not files.EntryType.EMPTY_FOLDER)
    surplus = (path for path in surplus if path not in rendering.files)
    changes += _surplus(root, surplus, rendering, found, prune_storage=prune_storage)
    if stamps is not None:
        changed = {one.path.rpartition("/")[0] for one in differing}
        for folder in now.keys() - known - changed:
            stamps.add(now[folder])
    return Comparison(
        changes=tuple(sorted(changes)),
        same=len(rendering.files) - len(differing),
        unknown=frozenset(unknown),
        executable=tuple(entry.path for entry in entries if entry.type is files.EntryType.EXECUTABLE),
        empty=empty,
        staging=os.path.lexists(root / layout.STAGING),
    )


def _in(folders: Container[str], file: File) -> bool:
    return bool(folders) and file.path.rpartition("/")[0] in folders


def by_folder(rendering: RunResult) -> dict[str, list[File]]:
    """The expected files of each folder."""
    found: dict[str, list[File]] = {}
    for file in rendering.files.values():
        found.setdefault(file.path.rpartition("/")[0], []).append(file)
    return found


def folder_stamps(
    root: Path, folders: Mapping[str, Sequence[File]], stamps: Stamps, parallel: int
) -> dict[str, Stamp | None]:
    """The stamps of folders with their expected files.

    Other processes look at the folders alone: what they touch of the files here would be copied.
    """
    paths = [*folders]
    found = map_parallel(partial(_statuses, root, stamps), paths, parallel, worth_it=_FOLDERS_PER_PROCESS)
    return {
        path: stamps.of_folder(status, {one.path.rpartition("/")[2]: content_of(one) for one in folders[path]})
        for path, status in zip(paths, found, strict=True)
    }


def _statuses(root: Path, stamps: Stamps, paths: Sequence[str], done: Callable[[int], None]) -> list[FileStatus | None]:
    folders = Folders(root)
    found = [stamps.folder_status(path) if _is_folder(folders, path) else None for path in paths]
    done(len(found))
    return found


def _is_folder(folders: Folders, path: str) -> bool:
    try:
        return folders.check(path)
    except UsageError:  # which `compare` reports
        return False


def _changed(root: Path, file: File, old: str | None, found: Findings) -> Change | None:
    staged = file.stored == "staging"
    if old is None and not os.path.lexists(f"{root}/{file.path}"):
        return Change(file.path, Status.MISSING, None, file.text, staged)
    if old is None or (old and HEADER.match(old) is None):  # a crash may leave an empty file
        hint = "move or delete it; gen replaces only its own files"
        found.error(
            FOREIGN_FILE, Location(file.path), f"not generated by gen, but in the place of {file.identity}", hint
        )
        return None
    edited = not untouched(old)
    if file.storage and file.text is not None and (change := immutable_change(old, file.text)) is not None:
        route, before, after = change
        back = f"revert the edit of {file.path}, " if edited else ""
        size = f"{size_remedy(before, after)}; or " if route == REQUEST and not edited else ""
        hint = f"{size}{back}declare the volume under another name, or delete {file.path} if it was never applied"
        values = f" from {before} to {after}" if route == REQUEST else ""
        message = f"`{'.'.join(route)}` of {file.identity} changed{values}, but it is immutable"
        found.error(IMMUTABLE_STORAGE, file.source, message, hint)
    status = Status.EDITED if edited else Status.STALE
    converted = "\r\n" in old and has_text_of(file, old.replace("\r\n", "\n"))
    return Change(file.path, status, None if staged else old, file.text, staged, converted)


def _surplus(
    root: Path, paths: Iterable[str], rendering: RunResult, found: Findings, *, prune_storage: bool
) -> Iterator[Change]:
    """Changes and findings for files that are not part of the result."""
    mounted = rendering.kept_claims
    for path in paths:
        text = _read(root, path)
        place = Location(files.printable_path(path))
        ours = path.isascii() and path.isprintable()  # gen writes no other names
        if is_control_file(path.rpartition("/")[2]):
            refuse_control_file(place.file, found)
        elif text is not None and is_kept(path, rendering.keep):
            continue
        elif not ours or text is None or HEADER.match(text) is None:
            found.error(FOREIGN_FILE, place, "not generated by gen; leaving it unchanged", "move it out of rendered/")
        elif mounted and claim_of(path, text) in mounted and is_unused_data(path, text, found, kept=True):
            continue
        elif prune_storage or not is_unused_data(path, text, found):
            yield Change(path, Status.LEFTOVER if untouched(text) else Status.EDITED, text, None)


def _folders(root: Path, rendering: RunResult, folders: Folders) -> list[str]:
    """Folders that must contain only files of the result, and files next to them, sorted."""
    if rendering.whole:
        names = _listed(root) if folders.check(layout.RENDERED) else []
        return [path for name in names if (path := layout.rendered_path(name)) != layout.STAGING]
    return sorted(folder for folder in rendering.folders if folders.check(folder.rpartition("/")[0]))


def _listed(root: Path) -> list[str]:
    try:
        return sorted(os.listdir(root / layout.RENDERED))  # noqa: PTH208 - names, not paths
    except OSError as error:
        raise files.unusable(layout.RENDERED, error, "check its permissions") from error


def _read(root: Path, path: str) -> str | None:
    """Text of a regular file, with surrogates for bytes that are not UTF-8; None for anything else."""
    try:
        return files.read_regular(f"{root}/{path}", files.MAX_RENDERED_BYTES).decode("utf-8", "surrogateescape")
    except (FileNotFoundError, files.NotRegularError, files.TooLargeError):
        return None
    except OSError as error:
        raise files.unusable(path, error, "make it readable, or remove it; `gen render` writes it again") from error
