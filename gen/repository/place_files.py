"""Writes files that users own: each atomically, all or none, and never through a symbolic link."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from gen.diagnostics import UsageError
from gen.repository.safe_files import linked_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


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
