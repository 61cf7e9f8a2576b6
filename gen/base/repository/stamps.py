"""Files whose content is known by their status, as in the index of Git, so that they need not be read: those of a
repository, and those of gen and of the packages that it uses.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Final

import orjson
from msgspec import Struct

from gen.base.repository.files import read_cache_file, save_cache_file

_DIGEST_BYTES: Final = 16
_RECORD_BYTES: Final = 2 * _DIGEST_BYTES
_MOST_CLOCKS: Final = 2000
"""Times that the clock is asked whether it went on: about 20 ms."""
_PLAIN: Final = 0o170000 | stat.S_IXUSR
"""The type and the bit that tell whether a file is regular and not executable, as Git decides it."""


class Status(Struct, frozen=True):
    """What the system knows of some files."""

    names: str
    digest: bytes
    """Of the path of the first file or of the folder, and of the name, type, size, times and inode of each."""
    changed: int
    """Latest `ctime` of the files, in nanoseconds."""
    written: int
    """Latest `mtime` of the files, in nanoseconds."""


class Stamp(Struct, frozen=True):
    """The status of some files together with their expected content."""

    digest: bytes
    status: Status


class Stamps:
    """Files whose content is known by their status.

    A stamp is a digest of the expected content of files, and of the type, size, times, inode and device of each. Only
    files that had this content get one. Every write, every other change of an inode and every new link to it set
    `ctime` to the clock of the file system. No program can set another `ctime`, so a branch, an archive that restores
    `mtime`, a symbolic or a hard link cannot bring a file with a stamp that another content had. Only root could, by
    the clock of the machine or the bytes of the disk. The stamps are in the cache of the user, never in a repository.

    A second write within one tick of the clock leaves the same status. So a file that changed since the run began is
    read again by the next run ("racily clean" in Git), and so is all if the file system has no clock to ask.
    """

    def __init__(self, root: Path, path: Path, key: str) -> None:
        """`path` is the file with the stamps of the last run. Stamps of another `key` are unknown."""
        self.root, self.path, self._key = root, path, bytes.fromhex(key)
        self.start = self.clock()
        """The time before anything was read; None if nothing can get a stamp."""
        self._device = root.stat().st_dev
        raw = b""
        with suppress(OSError, ValueError):
            raw = bytes(read_cache_file(path))
        records = (raw[at : at + _RECORD_BYTES] for at in range(0, len(raw), _RECORD_BYTES))
        self._known = {record[:_DIGEST_BYTES]: record[_DIGEST_BYTES:] for record in records}
        """Digests of statuses by those of stamps."""
        self.digest = self._digest(raw).hex()
        """Digest of the stamps in the file."""
        self._valid: dict[bytes, bytes] = {}

    def __len__(self) -> int:
        """Number of stamps that this run knows or adds."""
        return len(self._valid)

    def clock(self) -> int | None:
        """The time of the file system: that of a new file, which has no name and vanishes at once."""
        with suppress(OSError, AttributeError):  # only Linux has such files, and not all of its file systems
            descriptor = os.open(self.root, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
            try:
                return os.fstat(descriptor).st_ctime_ns
            finally:
                os.close(descriptor)
        return None

    def next_tick(self) -> int | None:
        """Wait until the clock of the file system goes on, which takes some milliseconds, and return its time.

        Files that exist by now are older then, unless the ticks of the file system are too rare to wait for one.
        """
        now = later = self.clock()
        for _ in range(_MOST_CLOCKS):
            if later is None or later != now:
                break
            later = self.clock()
        return later

    def of_files(self, paths: Sequence[str], content: str) -> Stamp | None:
        """The stamp of files, some of which may be missing; None if one is not a regular file."""
        return self._stamp(self._files_status(paths), content)

    def of_folder(self, status: Status | None, contents: Mapping[str, str]) -> Stamp | None:
        """The stamp of a folder that has these files and nothing else; None otherwise."""
        names = sorted(contents)
        if status is None or status.names != "\0".join(names):
            return None
        return self._stamp(status, "\0".join(contents[name] for name in names))

    def folder_status(self, folder: str) -> Status | None:
        """The status of the files of a folder that is not a link; None if it has anything else."""
        try:
            with os.scandir(f"{self.root}/{folder}") as entries:
                states = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        except OSError:
            return None
        return self._status(folder, sorted(states))

    def knows_all(self, files: Iterable[Sequence[str]], tree: str) -> bool:
        """Whether groups of files and all folders of a tree have the status of the last run, and no others exist."""
        expected = frozenset(self._known.values())
        found = 0
        for status in chain(map(self._files_status, files), self._tree_statuses(tree)):
            if status is None or status.digest not in expected:
                return False
            found += 1
        return found == len(expected)

    def _files_status(self, paths: Sequence[str]) -> Status | None:
        states = []
        for path in paths:
            with suppress(OSError):  # a file that is missing has no status
                states.append((path, os.lstat(f"{self.root}/{path}")))
        return self._status(paths[0], states)

    def _tree_statuses(self, tree: str) -> Iterator[Status | None]:
        """Those of all folders with files. None for a folder that is empty, a link or unreadable."""
        if os.path.islink(f"{self.root}/{tree}"):  # noqa: PTH114 - other paths are texts, too
            yield None
        waiting = [tree]
        while waiting:
            here = waiting.pop()
            states, folders = [], []
            try:
                with os.scandir(f"{self.root}/{here}") as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(f"{here}/{entry.name}")
                        else:
                            states.append((entry.name, entry.stat(follow_symlinks=False)))
            except OSError:
                yield None
            waiting += folders
            if states or not folders:
                yield self._status(here, sorted(states)) if states else None

    def _status(self, path: str, states: Sequence[tuple[str, os.stat_result]]) -> Status | None:
        parts = [path]
        changed = written = 0
        for name, one in states:
            mode, when, touched = one.st_mode, one.st_ctime_ns, one.st_mtime_ns
            if mode & _PLAIN != stat.S_IFREG or one.st_dev != self._device:
                return None
            parts.append(f"{name} {mode} {one.st_size} {touched} {when} {one.st_ino}")
            changed = max(changed, when)
            written = max(written, touched)
        digest = self._digest("\0".join(parts).encode("utf-8", "surrogateescape"))
        return Status("\0".join(name for name, _ in states), digest, changed, written)

    def _stamp(self, status: Status | None, content: str) -> Stamp | None:
        if status is None:
            return None
        return Stamp(self._digest(status.digest + content.encode("utf-8", "surrogateescape")), status)

    def _digest(self, raw: bytes) -> bytes:
        return hashlib.blake2b(raw, digest_size=_DIGEST_BYTES, key=self._key).digest()

    def knows(self, stamp: Stamp | None) -> bool:
        """Whether the files have the content, as they had in an earlier run."""
        if stamp is None or self._known.get(stamp.digest) != stamp.status.digest:
            return False
        self._valid[stamp.digest] = stamp.status.digest
        return True

    def add(self, stamp: Stamp | None) -> None:
        """Remember files that this run has read and that have the content, unless they may have changed since."""
        if stamp is not None and self.start is not None and stamp.status.changed < self.start:
            self._valid[stamp.digest] = stamp.status.digest

    def add_written(self, stamp: Stamp | None, before: int | None, now: int | None) -> None:
        """Remember files that this run wrote before a time and renamed until now, unless they changed since."""
        if stamp is None or before is None or now is None:
            return
        if stamp.status.written < before and stamp.status.changed < now:
            self._valid[stamp.digest] = stamp.status.digest

    def save(self) -> None:
        """Keep the stamps of this run for the next one. OSError if the cache cannot be written."""
        if self._valid != self._known:
            records = sorted(digest + status for digest, status in self._valid.items())
            save_cache_file(self.path, records)
            self.digest = self._digest(b"".join(records)).hex()


_DEPENDENCIES: Final = (
    "ahocorasick_rs",
    "jinja2",
    "jsonschema_rs",
    "kubernetes_validate",
    "msgspec",
    "orjson",
    "packaging",
    "pydantic",
    "pydantic_core",
    "re2",
    "tree_sitter",
    "tree_sitter_bash",
    "tzdata",
    "yaml",
)
"""Packages that can change the output or the findings between versions."""
_DISTRIBUTIONS: Final = frozenset({*_DEPENDENCIES, "gitops_gen", "google_re2", "pyyaml"})
_TOP: Final = Path(__file__).parents[2]


def tools_digest() -> str:
    """Digest of gen and its packages as they are installed now."""
    return hashlib.sha256(orjson.dumps([*_tools()])).hexdigest()


def portable_tools_digest() -> str:
    """Digest of gen and the packages beside it, the same on each machine."""
    files = sorted(_TOP.rglob("*.*"))
    own = [
        (str(path.relative_to(_TOP)), hashlib.sha256(path.read_bytes()).hexdigest())
        for path in files
        if "__pycache__" not in path.parts and path.is_file()
    ]
    return hashlib.sha256(orjson.dumps([sys.version, own, _versions(_origins())])).hexdigest()


def _tools() -> Iterator[object]:
    """Everything that can change the output for the same input: Python, and the files of gen and of packages.

    All files of an image can have the same time, so the versions of packages count, too.
    """
    yield sys.version
    yield from _stamps_below(str(_TOP))
    yield from map(_stamp, origins := _origins())
    yield from (name for name in _versions(origins) if name.partition("-")[0].lower() in _DISTRIBUTIONS)


def _origins() -> list[str]:
    """The first file of each package that is installed."""
    return [spec.origin for name in _DEPENDENCIES if (spec := find_spec(name)) and spec.origin]


def _versions(origins: Iterable[str]) -> list[str]:
    """Names and versions of all packages beside some."""
    folders = {Path(origin).parent.parent for origin in origins}
    return sorted({name for folder in folders for name in os.listdir(folder) if name.endswith(".dist-info")})  # noqa: PTH208 - names, not paths


def _stamps_below(folder: str) -> Iterator[tuple[str, int, int]]:
    """Stamps of the files below a folder. Takes half the time of `os.walk`."""
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        if not entry.is_dir(follow_symlinks=False):
            status = entry.stat(follow_symlinks=False)
            yield entry.path, status.st_mtime_ns, status.st_size
        elif entry.name != "__pycache__":
            yield from _stamps_below(entry.path)


def _stamp(path: str) -> tuple[str, int, int]:
    status = os.stat(path)  # noqa: PTH116 - a tenth of the time of a Path
    return path, status.st_mtime_ns, status.st_size
