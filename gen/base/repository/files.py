"""Reads and writes files of a repository.

Only regular files are read, without following symbolic links, up to a size limit. Files that users own are written
atomically, all or none, and never through a symbolic link.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path

from msgspec import Struct, field

from gen.base.findings import UsageError

MAX_BYTES = 1 << 20
"""Size limit of files that people write."""
MAX_RENDERED_BYTES = 16 << 20
"""Size limit of rendered files: ten times the limit of a cluster for an object."""
MAX_DEFINITION_BYTES = 64 << 20
"""Size limit of files with definitions, which tools write: more than that of any other file of an overlay."""
MAX_CACHE_BYTES = 1 << 28
"""Size limit of caches, which need several hundred bytes for each rendered file."""
_DIGEST_LENGTH = 64
_CHUNK = 4096
_IRREGULAR = frozenset({errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EOPNOTSUPP})
"""Errors of opening a symbolic link (Linux, FreeBSD) and a socket (Linux, macOS)."""


class NotRegularError(OSError):
    """Found a link, a folder, a pipe, a device or a socket instead of a file."""


class TooLargeError(OSError):
    """The file exceeds the size limit."""


def read_regular(path: str | Path, limit: int) -> bytes:
    """The bytes of a regular file with at most `limit` of them.

    NotRegularError, TooLargeError or another OSError otherwise. The checks use the opened file, so it cannot be
    exchanged between check and read; a pipe without a writer does not block.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in _IRREGULAR:
            raise NotRegularError(error.errno, "not a regular file", str(path)) from None
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotRegularError(errno.EINVAL, "not a regular file", str(path))
        if status.st_size > limit:
            raise _too_large(path, limit)
        return _bounded(descriptor, status.st_size, limit, path)
    finally:
        os.close(descriptor)


def _bounded(descriptor: int, size: int, limit: int, path: str | Path) -> bytes:
    """Read to the end, even if the file grows meanwhile, but at most to the limit."""
    parts: list[bytes] = []
    room = limit + 1
    while room > 0 and (part := os.read(descriptor, min(room, max(size + 1, _CHUNK)))):
        parts.append(part)
        room -= len(part)
        if room == limit + 1 - size:  # all of it, as a shorter part than requested shows
            break
    if room <= 0:
        raise _too_large(path, limit)
    return b"".join(parts)


def _too_large(path: str | Path, limit: int) -> TooLargeError:
    return TooLargeError(errno.EFBIG, f"larger than {limit} bytes", str(path))


def linked_folder(root: Path, file: str) -> str | None:
    """The first folder between `root` and `file` that is a symbolic link, or None."""
    at = file.find("/")
    while at > 0:
        if os.path.islink(f"{root}/{file[:at]}"):  # noqa: PTH114 - a tenth of the time of a Path, per file
            return file[:at]
        at = file.find("/", at + 1)
    return None


def walk(
    top: str | Path, onerror: Callable[[OSError], None] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """`os.walk` without recursion: Git stores more nested folders than Python permits nested calls.

    Links are among the files. The caller may sort and shorten the list of folders.
    """
    waiting = [os.fspath(top)]
    while waiting:
        here = waiting.pop()
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
        except OSError as error:
            if onerror is not None:
                onerror(error)
            continue
        yield here, folders, files
        waiting += (f"{here}/{name}" for name in reversed(folders))


MAX_DEPTH = 16
"""Nested folders that a folder of an overlay may have."""


def links_in(folder: Path) -> Iterator[str]:
    """Symbolic links in a folder at any depth, relative to it; an empty string if the folder itself is one."""
    if folder.is_symlink():
        yield ""
        return
    for top, _, files in walk(folder):
        for name in files:
            if os.path.islink(path := os.path.join(top, name)):  # noqa: PTH114, PTH118 - `walk` returns texts
                yield os.path.relpath(path, folder)


def is_too_deep(folder: Path) -> bool:
    """Whether a folder has more nested folders than `MAX_DEPTH`."""
    start = os.fspath(folder).count(os.sep)
    return any(top.count(os.sep) - start > MAX_DEPTH for top, _, _ in walk(folder))


def printable_path(path: str) -> str:
    """A path for messages: file names are bytes, which may not be UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def unusable(path: str | Path, error: OSError, remedy: str) -> UsageError:
    """The error to raise when a system call fails: path, reason and remedy."""
    return UsageError(f"{printable_path(str(path))}: {error.strerror or error}; {remedy}")


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


def tree_entries(root: Path, path: str, known: Container[str] = ()) -> Iterator[TreeEntry]:
    """All files and empty folders at or below a path, sorted by folder, without those in folders that are `known`.

    UsageError if a folder cannot be listed.
    """
    try:
        mode = os.lstat(f"{root}/{path}").st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    yield from _entries(root, path, known) if stat.S_ISDIR(mode) else (TreeEntry(path, _type(mode)),)


def _entries(root: Path, folder: str, known: Container[str]) -> Iterator[TreeEntry]:
    """No recursion: see `walk`."""
    open_ = [(folder, _listed(root, folder))]
    while open_:
        here, entries = open_[-1]
        entry = next(entries, None)
        if entry is None:
            open_.pop()
        elif isinstance(entry, TreeEntry):
            yield entry
        elif entry.is_dir(follow_symlinks=False):
            path = f"{here}/{entry.name}"
            if path not in known:
                open_.append((path, _listed(root, path)))
        else:
            with suppress(FileNotFoundError):  # removed meanwhile
                yield TreeEntry(f"{here}/{entry.name}", _type(entry.stat(follow_symlinks=False).st_mode))


def _listed(root: Path, folder: str) -> Iterator[os.DirEntry[str] | TreeEntry]:
    """The entries of a folder; the folder itself if it is empty."""
    try:
        with os.scandir(f"{root}/{folder}") as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise unusable(folder, error, "check its permissions") from error
    return iter(found) if found else iter([TreeEntry(folder, EntryType.EMPTY_FOLDER)])


def _type(mode: int) -> EntryType:
    if not stat.S_ISREG(mode):
        return EntryType.OTHER
    return EntryType.EXECUTABLE if mode & stat.S_IXUSR else EntryType.FILE  # as Git decides it


class Edit(Struct, frozen=True, kw_only=True):
    """An edit of a user file."""

    path: str
    old: str
    new: str


def replace_files(root: Path, texts: Mapping[str, bytes]) -> None:
    """Replace the content of regular files below `root`, which keep their modes. UsageError if that fails."""
    for file in texts:
        refuse_links(root, file)
    _place(root, texts, new=False)


def create_files(root: Path, texts: Mapping[str, bytes]) -> None:
    """Create files below `root`, with their folders; scripts are executable. UsageError if that fails."""
    for file in texts:
        refuse_links(root, file)
        if os.path.lexists(root / file):
            raise UsageError(f"{file} exists already")
    _place(root, texts, new=True)


def refuse_links(root: Path, file: str) -> None:
    """UsageError if a folder between `root` and a file is a symbolic link, which could lead anywhere."""
    if folder := linked_folder(root, file):
        raise UsageError(f"{folder} is a symbolic link; replace it with a folder")


def _place(root: Path, texts: Mapping[str, bytes], *, new: bool) -> None:
    """Write all files next to their targets first, so that a lack of space or permission changes nothing."""
    staged: dict[str, Path] = {}
    try:
        for file, raw in texts.items():
            path = root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            staged[file] = path.with_name(f".{path.name}.{os.getpid()}.tmp")
            _write(staged[file], raw, None if new else stat.S_IMODE(path.lstat().st_mode))
        for file, path in staged.items():
            path.replace(root / file)
    except OSError as error:
        raise UsageError(f"{error.filename or root} cannot be written: {error.strerror}; nothing was changed") from None
    finally:
        for path in staged.values():
            path.unlink(missing_ok=True)


def _write(path: Path, raw: bytes, mode: int | None) -> None:
    usual = 0o777 if raw.startswith(b"#!") else 0o666
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, usual)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(raw)
        if mode is not None:
            os.fchmod(stream.fileno(), mode)


class Folders(Struct, frozen=True):
    """Checks each folder of a repository once. Paths are relative to the repository and use `/`."""

    root: Path
    _present: dict[str, bool] = field(default_factory=dict)

    def check(self, folder: str) -> bool:
        """Whether a folder exists. UsageError if it, or a parent, is not a folder."""
        known = self._present.get(folder)
        if known is not None:
            return known
        parent = folder.rpartition("/")[0]
        present = (not parent or self.check(parent)) and self._is_folder(folder)
        self._present[folder] = present
        return present

    def highest_missing(self, folder: str) -> str:
        """The folder to create for one that does not exist: it or a parent, in a folder that exists."""
        parent = folder.rpartition("/")[0]
        return folder if not parent or self.check(parent) else self.highest_missing(parent)

    def make(self, folder: str) -> None:
        """Create a folder and its parents, unless they exist."""
        if self.check(folder):
            return
        if "/" in folder:
            self.make(folder.rpartition("/")[0])
        try:
            os.mkdir(f"{self.root}/{folder}")  # noqa: PTH102 - a tenth of the time of a Path
        except FileExistsError:  # another process created it, or a file in its place
            del self._present[folder]
            self.check(folder)
        else:
            self._present[folder] = True

    def _is_folder(self, folder: str) -> bool:
        try:
            mode = os.lstat(f"{self.root}/{folder}").st_mode
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(mode):
            raise UsageError(f"{folder} is not a regular folder; remove it")
        return True


def save_cache_file(path: Path, parts: Iterable[bytes]) -> None:
    """Replace a file in the user's cache folder, with its digest. OSError if that fails; the old one stays then."""
    temporary = path.with_suffix(f".{os.getpid()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    try:
        with temporary.open("wb") as file:
            for part in parts:
                digest.update(part)
                file.write(part)
            file.write(digest.hexdigest().encode())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_cache_file(path: Path) -> memoryview:
    """What `save_cache_file` wrote, not copied because it can be large.

    ValueError if the file is damaged, OSError if it cannot be read.
    """
    raw = memoryview(read_regular(path, MAX_CACHE_BYTES))
    content = raw[:-_DIGEST_LENGTH]
    if hashlib.sha256(content).hexdigest().encode() != raw[-_DIGEST_LENGTH:]:
        raise ValueError(f"{path} is damaged")
    return content


def is_special(path: Path) -> bool:
    """Whether it is a pipe, a socket or a device."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode))
