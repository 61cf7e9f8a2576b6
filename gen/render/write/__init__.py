"""The write stage: compare `rendered/` with the result of a run, and update it. The only stage that writes.

Each file is either old or new at any moment. All new files go to a staging folder first, so that a full disk is noticed
before anything changes. Then new folders are renamed with all of their files, the other files are renamed over their
targets, and surplus files are removed. A killed run leaves at most the staging folder and some renamed files; the next
run finishes the work.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from gen.base import UsageError
from gen.base.repository.files import Folders, unusable
from gen.base.repository.layout import RENDERED, STAGING
from gen.render.write.compare import Change, Comparison, Status, compare

_MANY = 500
"""Number of files from which a second thread saves time."""
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def apply(root: Path, comparison: Comparison) -> None:
    """Apply every change. UsageError if a change fails, another run is writing, or a folder is a link.

    Executable bits, empty folders and the temporary files of a killed run are removed, too.
    """
    staging = root / STAGING
    if not (comparison.changes or comparison.executable or comparison.empty or os.path.lexists(staging)):
        return
    folders = Folders(root)
    with _reporting(RENDERED):
        folders.make(RENDERED)
    with _locked(root / RENDERED):
        with _reporting(STAGING):
            _clear(staging)
            staging.mkdir()
        try:
            _write(root, staging, [change for change in comparison.changes if change.new is not None], folders)
            _remove(root, [change for change in comparison.changes if change.new is None], folders)
            _repair(root, comparison)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("interrupted while writing; run `gen render` again to write the rest") from None
        finally:
            with suppress(OSError):
                _clear(staging)


def _write(root: Path, staging: Path, changes: list[Change], folders: Folders) -> None:
    path = STAGING
    added: dict[str, tuple[int, str]] = {}
    """New folders in folders that exist, each with its name in the staging folder and its first file."""
    targets: dict[str, str] = {}
    """The folder in the staging folder for each new folder; empty for a folder that exists."""
    made = {str(staging)}
    replaced: list[tuple[int, str]] = []
    staged: list[tuple[str, Change]] = []
    try:
        for number, change in enumerate(changes):
            path = change.path
            folder, _, name = path.rpartition("/")
            if folder not in targets:
                targets[folder] = ""
                if not folders.check(folder):
                    new = folders.highest_missing(folder)
                    first, _ = added.setdefault(new, (number, path))
                    targets[folder] = f"{staging}/{first}{folder.removeprefix(new)}"
                    _make(targets[folder], made)
            if target := targets[folder]:
                staged.append((f"{target}/{name}", change))
            else:
                replaced.append((number, path))
                staged.append((f"{staging}/{number}", change))
        _create_all(staged)
        for folder, (number, path) in sorted(added.items()):  # noqa: B007 - an error names the file
            os.rename(f"{staging}/{number}", f"{root}/{folder}")  # noqa: PTH104 - a tenth of the time of a Path
        for number, path in replaced:
            os.rename(f"{staging}/{number}", f"{root}/{path}")  # noqa: PTH104 - as above
    except OSError as error:
        raise _refused(path, error) from error


def _create_all(staged: list[tuple[str, Change]]) -> None:
    """Create the files, in two threads if they are many: a disk takes a second for a thousand jobs."""
    failed: list[BaseException] = []
    stop = Event()
    other = _started(_create_some, staged[len(staged) // 2 :], stop, failed) if len(staged) >= _MANY else None
    if other is None:
        _create_some(staged, stop, failed)
    else:
        try:
            _create_some(staged[: len(staged) // 2], stop, failed)
            other.join()
        finally:
            stop.set()  # after an interrupt, the other thread ends, too
            other.join()
    for error in failed:
        raise error


def _started(target: Callable[..., None], *given: object) -> Thread | None:
    """A thread; None if the system starts no more. An executor would need another 3 ms to import."""
    thread = Thread(target=target, args=given)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread


def _create_some(staged: list[tuple[str, Change]], stop: Event, failed: list[BaseException]) -> None:
    """Create the files one after the other, until `stop` is set. An error sets it, and is added to `failed`."""
    path = STAGING
    try:
        for target, change in staged:
            if stop.is_set():
                return
            path = change.path
            _create(target, (change.new or "").encode())
    except OSError as error:
        failed.append(_refused(path, error))
        stop.set()
    except BaseException as error:  # noqa: BLE001 - `_create_all` raises it
        failed.append(error)
        stop.set()


def _make(folder: str, made: set[str]) -> None:
    """Create a folder and its parents in the staging folder, unless `made` has them."""
    if folder not in made:
        _make(folder.rpartition("/")[0], made)
        os.mkdir(folder)  # noqa: PTH102 - a tenth of the time of a Path
        made.add(folder)


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
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError("another `gen render` is writing to rendered/; wait for it") from None


__all__ = ["Change", "Comparison", "Status", "apply", "compare"]
