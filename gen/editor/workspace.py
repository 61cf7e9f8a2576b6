"""The inputs of a repository as an editor has them: saved files, and the unsaved texts of open ones in their place.

They are in a private folder, so that the stages of a render read them as they read a repository. The folder is a copy
of `jobs/` and `overlays/`; an update looks at each file's status and copies those that changed.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from gen.base.repository.files import MAX_DEPTH
from gen.base.repository.layout import JOBS, OVERLAYS

_MAX_COPIED: Final = 1 << 24
"""Bytes of a file that are copied. Longer ones exceed every limit of gen, so that their size is all that counts."""
_MAX_NESTED: Final = MAX_DEPTH + 4
"""Nested folders that are copied: gen refuses an overlay with as many."""
_Status = tuple[int, int, int, int]


class Workspace:
    """The inputs of one repository. Paths are relative to it, with `/`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = tempfile.TemporaryDirectory(prefix="gen-lsp-", ignore_cleanup_errors=True)
        self.copy = Path(self._folder.name).resolve()
        """The folder with the copy, which only the user can read."""
        self.texts: dict[str, str] = {}
        """Texts of open files by path."""
        self._known: dict[str, _Status] = {}
        self._written: dict[str, str] = {}
        """Texts of open files as they are in the copy."""

    def close(self) -> None:
        self._folder.cleanup()

    def update(self) -> set[str]:
        """Bring the copy up to date. Returns the paths of files that changed, appeared or vanished."""
        changed = set()
        found: set[str] = set()
        for top in (JOBS, OVERLAYS):
            (self.copy / top).mkdir(exist_ok=True)
            for path, status in self._files(top):
                found.add(path)
                if path not in self.texts and self._known.get(path) != status:
                    self._known[path] = status
                    self._copy(path, status)
                    changed.add(path)
        for path in self.texts:
            found.add(path)
            self._known.pop(path, None)  # the saved file counts again when the editor closes it
            if self.write(path):
                changed.add(path)
        for path in self._written.keys() - self.texts.keys():
            del self._written[path]
        for path in [path for path in self._known if path not in found]:
            del self._known[path]
            changed.add(path)
        self._remove_others(found)
        return changed

    def write(self, path: str) -> bool:
        """Write the text of an open file into the copy. Returns whether it changed."""
        text = self.texts[path]
        if self._written.get(path) == text:
            return False
        self._place(path).write_bytes(text.encode("utf-8", "surrogateescape"))
        self._written[path] = text
        return True

    def _files(self, folder: str) -> Iterator[tuple[str, _Status]]:
        """Everything that is not a folder, below a folder that is not a link."""
        with suppress(OSError), os.scandir(self.root / folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}"
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        (self.copy / path).mkdir(exist_ok=True)
                        if path.count("/") < _MAX_NESTED:
                            yield from self._files(path)
                        continue
                    status = entry.stat(follow_symlinks=False)
                    yield path, (status.st_mode, status.st_mtime_ns, status.st_size, status.st_ino)

    def _copy(self, path: str, status: _Status) -> None:
        """Copy a file. What gen would refuse to read becomes a link without a target, which it refuses, too."""
        mode, _, size, _ = status
        target = self._place(path)
        if not stat.S_ISREG(mode):
            target.symlink_to("not-a-regular-file")
            return
        try:
            if size <= _MAX_COPIED:
                shutil.copyfile(self.root / path, target, follow_symlinks=False)
            else:
                target.touch()
                os.truncate(target, size)
        except OSError:
            target.touch(mode=0)  # unreadable, as the original is

    def _place(self, path: str) -> Path:
        """The path of a file in the copy, which does not exist yet."""
        target = self.copy / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)
        return target

    def _remove_others(self, found: set[str]) -> None:
        """Remove files and folders that the repository does not have any more."""
        kept = {str(parent) for path in found for parent in Path(path).parents}
        for top, folders, files in os.walk(self.copy, topdown=False):
            here = Path(top).relative_to(self.copy)
            for name in files:
                if (here / name).as_posix() not in found:
                    (Path(top) / name).unlink()
            for name in folders:
                path = (here / name).as_posix()
                if path not in kept and not (self.root / path).is_dir():
                    shutil.rmtree(Path(top) / name)
