"""Finds and reads the manifests that the command line names."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import BytesIO
from operator import itemgetter
from pathlib import Path
from typing import Final

from gen.base import UsageError
from gen.base.parallel import WARM_UP_ITEMS
from gen.base.repository.files import MAX_BYTES as MAX_WRITTEN
from gen.kubernetes.manifests.read import MAX_BYTES

STDIN = "-"
_ENDINGS = (".yaml", ".yml", ".json")
_PIECE = 1 << 16
_BYTES_OF_A_FILE: Final = 1 << 10
"""Bytes that a check reads in the time of opening a file."""


def named_files(names: Iterable[str]) -> Iterator[str]:
    """Files, the manifests in folders, and `STDIN`. UsageError for a path that does not exist."""
    for name in names:
        path = Path(name)
        if name == STDIN:
            yield name
        elif path.is_dir():
            yield from _below(name)
        elif path.exists():
            yield path.as_posix()
        else:
            raise UsageError(f"`{name}` does not exist; name a file, a folder, or `{STDIN}` for standard input")


def _below(folder: str) -> Iterator[str]:
    """Sorted manifests in a folder; the folder itself if it is unreadable, so that reading it reports the error."""
    open_ = [_listed(folder)]  # no recursion: there may be more nested folders than Python permits calls
    while open_:
        entry = next(open_[-1], None)
        if entry is None:
            open_.pop()
        elif isinstance(entry, str):
            yield entry
        elif entry.is_dir(follow_symlinks=False):
            open_.append(_listed(entry.path))
        elif entry.name.endswith(_ENDINGS) and _is_file(entry):
            yield entry.path.removeprefix("./")


def _listed(folder: str) -> Iterator[os.DirEntry[str] | str]:
    """The sorted entries of a folder; the folder itself if it is unreadable."""
    try:
        with os.scandir(folder) as found:
            return iter(sorted(found, key=lambda entry: entry.name))
    except OSError:
        return iter([folder])


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Also True for entries without a known type, such as a link to itself: reading them reports the error."""
    try:
        return entry.is_file()
    except OSError:
        return True


def read_bytes(file: str) -> bytes:
    """At most one byte more than the limit: a device may have no end. OSError if it cannot be read."""
    if file == STDIN:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed")
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with open(file, "rb", buffering=0) as stream:  # noqa: PTH123 - asked for every file
        size = os.fstat(stream.fileno()).st_size
        raw = stream.read(min(size, MAX_BYTES) + 1) or b""
        # other files than regular ones have no size, and are read in pieces
        while not size and len(raw) <= MAX_BYTES and (more := stream.read(_PIECE)):
            raw += more
    return raw


def heaviest_first(files: Iterable[str]) -> tuple[list[str], list[int]]:
    """Files with their weights, copies side by side. Small files are first: their schemas are loaded once for all
    processes.
    """
    sized = sorted(((_size(file), file) for file in files), key=itemgetter(0), reverse=True)
    first = len(sized) // 4
    sized = [*sized[first : first + WARM_UP_ITEMS], *sized[:first], *sized[first + WARM_UP_ITEMS :]]
    return [file for _, file in sized], [_BYTES_OF_A_FILE + size for size, _ in sized]


def _size(file: str) -> int:
    """0 without a file, or if it cannot be read."""
    with suppress(OSError, ValueError):
        return os.stat(file).st_size  # noqa: PTH116 - called for every file
    return 0


def unpacked(raw: bytes) -> bytes:
    """The YAML file of a `.tar.gz` or `.zip`; other files as they are. No file of an archive is written. ValueError if
    it has none that can be read.
    """
    import tarfile
    import zipfile
    import zlib

    try:
        if raw.startswith(b"\x1f\x8b"):
            return _of_tar(raw)
        return _of_zip(raw) if raw.startswith(b"PK\x03\x04") else raw
    except (OSError, EOFError, RuntimeError, zlib.error, tarfile.TarError, zipfile.BadZipFile) as error:
        raise ValueError(str(error)) from None


def _of_tar(raw: bytes) -> bytes:
    import gzip
    import tarfile

    with gzip.GzipFile(fileobj=BytesIO(raw)) as packed:
        whole = _limited(packed.read)
    with tarfile.open(fileobj=BytesIO(whole), mode="r:") as archive:
        content = next((archive.extractfile(one) for one in archive if one.isfile() and _is_yaml(one.name)), None)
        if content is None:
            raise ValueError(_NO_FILE)
        return content.read()


def _of_zip(raw: bytes) -> bytes:
    import zipfile

    with zipfile.ZipFile(BytesIO(raw)) as files:
        name = next((one for one in files.namelist() if _is_yaml(one)), None)
        if name is None:
            raise ValueError(_NO_FILE)
        with files.open(name) as member:
            return _limited(member.read)


_NO_FILE: Final = "it has no YAML file"


def _limited(read: Callable[[int], bytes]) -> bytes:
    whole = read(MAX_WRITTEN + 1)
    if len(whole) > MAX_WRITTEN:
        raise ValueError("its files are too large")
    return whole


def _is_yaml(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))
