"""Reads untrusted files: only regular files, without following symbolic links, up to a size limit."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from gen.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_BYTES = 1 << 20
"""Size limit of files that people write."""
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
        return _bounded(descriptor, max(status.st_size + 1, _CHUNK), limit, path)
    finally:
        os.close(descriptor)


def _bounded(descriptor: int, chunk: int, limit: int, path: str | Path) -> bytes:
    """Read to the end, even if the file grows meanwhile, but at most to the limit."""
    parts: list[bytes] = []
    room = limit + 1
    while room > 0 and (part := os.read(descriptor, min(room, chunk))):
        parts.append(part)
        room -= len(part)
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


def links_in(folder: Path) -> Iterator[str]:
    """Symbolic links in a folder at any depth, relative to it; an empty string if the folder itself is one."""
    if folder.is_symlink():
        yield ""
        return
    for top, folders, files in os.walk(folder):
        for name in (*folders, *files):
            if os.path.islink(path := os.path.join(top, name)):  # noqa: PTH114, PTH118 - `os.walk` returns texts
                yield os.path.relpath(path, folder)


def printable_path(path: str) -> str:
    """A path for messages: file names are bytes, which may not be UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def unusable(path: str | Path, error: OSError, remedy: str) -> UsageError:
    """The error to raise when a system call fails: path, reason and remedy."""
    return UsageError(f"{printable_path(str(path))}: {error.strerror or error}; {remedy}")
