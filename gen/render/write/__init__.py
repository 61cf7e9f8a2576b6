"""The write stage: compare `rendered/` with the result of a run, and update it. The only stage that writes.

Each file is either old or new at any moment. All new files go to a staging folder first, so that a full disk is noticed
before anything changes: those of a large run while it renders, by the processes that render them, so that their texts
leave memory. Then new folders are renamed with all of their files, the other files are renamed over their targets, and
surplus files are removed. With an error, the staging folder is removed instead. A killed run leaves at most the staging
folder and some renamed files; the next run finishes the work.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

from gen.base import UsageError
from gen.base.repository.files import Folders, unusable
from gen.base.repository.layout import RENDERED, STAGING
from gen.base.repository.stamps import Stamps
from gen.render.results import RunResult
from gen.render.write.compare import Change, Comparison, Status, by_folder, compare, folder_stamps, settle

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


class Staging:
    """The folder for new files, which has the tree of `rendered/`, and the lock on it.

    All processes of a run add files. The folder and the lock exist from `begin` to the end of the block.
    """

    def __init__(self, *, writes: bool = True) -> None:
        """A run that only compares never `writes`."""
        self.writes = writes
        self._folder = ""
        self._made: set[str] = set()
        self._block = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._block.close()
        self._folder = ""

    @property
    def begun(self) -> bool:
        return bool(self._folder)

    def begin(self, root: Path) -> None:
        """Create the folder, in place of that of a killed run. UsageError if another run is writing."""
        if self.begun:
            return
        folders = Folders(root)
        with _reporting(RENDERED):
            new = not folders.check(RENDERED)
            folders.make(RENDERED)
        if new:
            self._block.callback(_remove_if_empty, root / RENDERED)
        self._block.enter_context(_locked(root / RENDERED))
        staging = root / STAGING
        with _reporting(STAGING):
            _clear(staging)
            staging.mkdir()
        self._block.callback(_clear_if_possible, staging)
        self._folder = str(staging)
        self._made = {self._folder}

    def add(self, path: str, text: str) -> None:
        """Create the file for a path below `rendered/`. UsageError if that fails."""
        try:
            target = self.path(path)
            self._make(target.rpartition("/")[0])
            _create(target, text.encode())
        except OSError as error:
            raise _refused(path, error) from error

    def path(self, path: str) -> str:
        """The place in the folder of a path below `rendered/`."""
        return f"{self._folder}{path.removeprefix(RENDERED)}"

    def _make(self, folder: str) -> None:
        if folder not in self._made:
            self._make(folder.rpartition("/")[0])
            with suppress(FileExistsError):  # another process created it
                os.mkdir(folder)  # noqa: PTH102 - a tenth of the time of a Path
            self._made.add(folder)


def apply(
    root: Path,
    rendering: RunResult,
    comparison: Comparison,
    staging: Staging,
    stamps: Stamps | None = None,
    parallel: int = 1,
) -> None:
    """Apply every change. UsageError if a change fails, another run is writing, or a folder is a link.

    Executable bits, empty folders and the temporary files of a killed run are removed, too. New files get stamps.
    """
    if comparison.changes or comparison.executable or comparison.empty or comparison.staging:
        staging.begin(root)
        folders = Folders(root)
        written = [change for change in comparison.changes if not change.removes]
        try:
            for change in written:
                if not change.staged:
                    staging.add(change.path, change.new or "")
            before = stamps.next_tick() if stamps is not None else None
            _write(root, staging, [change.path for change in written], folders)
            _remove(root, [change for change in comparison.changes if change.removes], folders)
            _repair(root, comparison)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("interrupted while writing; run `gen render` again to write the rest") from None
        if stamps is not None and before is not None:
            _stamp(root, rendering, frozenset(change.path for change in written), stamps, before, parallel)


def _stamp(
    root: Path, rendering: RunResult, written: frozenset[str], stamps: Stamps, before: int, parallel: int
) -> None:
    """Remember the folders that have new files only. Others were not read after the last write, and the next run does.

    A file that another program changed since was written after `before`.
    """
    new = {
        folder: files for folder, files in by_folder(rendering).items() if all(file.path in written for file in files)
    }
    now = stamps.next_tick()
    for stamp in folder_stamps(root, new, stamps, parallel).values():
        stamps.add_written(stamp, before, now)


def _write(root: Path, staging: Staging, paths: Sequence[str], folders: Folders) -> None:
    """Rename new folders with all of their files, then the other files."""
    added: dict[str, str] = {}
    """New folders in folders that exist, each with its first file."""
    replaced: list[str] = []
    for path in paths:
        folder = path.rpartition("/")[0]
        if folders.check(folder):
            replaced.append(path)
        else:
            added.setdefault(folders.highest_missing(folder), path)
    for target in (*sorted(added), *replaced):
        try:
            os.rename(staging.path(target), f"{root}/{target}")  # noqa: PTH104 - a tenth of the time of a Path
        except OSError as error:
            raise _refused(added.get(target, target), error) from error


def _create(path: str, data: bytes) -> None:
    descriptor = os.open(path, _CREATE, 0o666)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)


def _remove(root: Path, changes: list[Change], folders: Folders) -> None:
    """Remove surplus files, and folders that become empty. Files that are already gone are ignored."""
    for change in changes:
        folder = change.path.rpartition("/")[0]
        if not folders.check(folder):
            continue
        with _reporting(change.path):
            (root / change.path).unlink(missing_ok=True)
        _remove_empty(root, folder)


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _remove_empty(root: Path, folder: str) -> None:
    """Remove a folder and its parents up to `rendered/`, as far as they are empty."""
    with suppress(OSError):  # not empty
        while folder != RENDERED:
            (root / folder).rmdir()
            folder = folder.rpartition("/")[0]


def _repair(root: Path, comparison: Comparison) -> None:
    """Remove executable bits of files, and folders without files. Files that are already gone are ignored."""
    for path in comparison.executable:
        with _reporting(path), suppress(FileNotFoundError):
            descriptor = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                os.fchmod(descriptor, stat.S_IMODE(os.fstat(descriptor).st_mode) & ~0o111)
            finally:
                os.close(descriptor)
    for folder in comparison.empty:
        _remove_empty(root, folder)


def _clear_if_possible(staging: Path) -> None:
    """Other processes of an interrupted run may add a last file meanwhile."""
    for _ in range(3):
        with suppress(OSError):
            _clear(staging)
            return


def _clear(staging: Path) -> None:
    """Remove the staging folder of a killed run, or a file in its place."""
    if staging.is_dir() and not staging.is_symlink():
        shutil.rmtree(staging)
    else:
        staging.unlink(missing_ok=True)


@contextmanager
def _reporting(path: str) -> Iterator[None]:
    """Turn an OSError into a UsageError with the path and a remedy."""
    try:
        yield
    except OSError as error:
        raise _refused(path, error) from error


def _refused(path: str, error: OSError) -> UsageError:
    remedy = "free some space or correct the permissions, and run `gen render` again to finish the work"
    return unusable(path, error, remedy)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a lock on `rendered/`, which ends with the process."""
    with _reporting(RENDERED):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with _reporting(RENDERED):
            _lock(descriptor)
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)  # processes that end later share the descriptor
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError("another `gen render` is writing to rendered/; wait for it") from None


__all__ = ["Change", "Comparison", "Staging", "Status", "apply", "compare", "settle"]
