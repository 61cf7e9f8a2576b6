"""Reading files that strangers may have put there: regular files alone, through no link, and never without end."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from gen.diagnostics import UsageError

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1 << 20
"""Of a file that a person writes."""
_CHUNK = 4096
_IRREGULAR = frozenset({errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EOPNOTSUPP})
"""What opening a link (Linux, FreeBSD) and a socket (Linux, macOS) fails with."""


class NotRegularError(OSError):
    """A link, a folder, a pipe, a device or a socket stands where a file should be."""


class TooLargeError(OSError):
    """The file has more bytes than were asked for."""


def read_regular(path: str | Path, limit: int) -> bytes:
    """The bytes of a regular file with at most `limit` of them.

    NotRegularError, TooLargeError or another OSError otherwise. What the path leads to is decided by the file that
    was opened, so nothing can be put in its place in between; a pipe without a writer does not block.
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
    """Read to the end, however far the file has grown meanwhile, but no further than the limit."""
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
    """The first folder on the way from `root` to `file` that is a link; None when there is none."""
    at = file.find("/")
    while at > 0:
        if os.path.islink(f"{root}/{file[:at]}"):  # noqa: PTH114 - a tenth of the time of a Path, per file
            return file[:at]
        at = file.find("/", at + 1)
    return None


def shown_path(path: str) -> str:
    """A path for messages: names on a disk are bytes, which need not be UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def unusable(path: str | Path, error: OSError, remedy: str) -> UsageError:
    """What to raise where the system refuses something: about what, why, and what to do."""
    return UsageError(f"{shown_path(str(path))}: {error.strerror or error}; {remedy}")
