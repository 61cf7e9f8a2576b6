"""Putting single files of the user in place: whole or not at all, through no link."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from gen.diagnostics import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def replace_file(root: Path, file: str, raw: bytes) -> None:
    """Put new bytes in the place of a regular file below `root`, which keeps its mode."""
    refuse_links(root, file)
    _swap_in(root / file, raw, stat.S_IMODE((root / file).lstat().st_mode))


def create_file(root: Path, file: str, raw: bytes, *, executable: bool = False) -> None:
    """Put a new file below `root`, with the folders that it needs. FileExistsError when something is there."""
    refuse_links(root, file)
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(root / file):
        raise FileExistsError(file)
    _swap_in(root / file, raw, 0o755 if executable else 0o644)


def refuse_links(root: Path, file: str) -> None:
    """UsageError when the way from `root` to a file goes through a link, which could lead anywhere."""
    folder = (root / file).parent
    while folder != root:
        if folder.is_symlink():
            raise UsageError(f"{folder.relative_to(root)} is a link, and links are not followed; put a folder there")
        folder = folder.parent


def _swap_in(path: Path, raw: bytes, mode: int) -> None:
    staged = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(raw)
            os.fchmod(stream.fileno(), mode)
        staged.replace(path)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
