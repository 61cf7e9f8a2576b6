"""Folders of `rendered/`. Links are refused, because they could point outside of the repository."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from msgspec import Struct, field

from gen.base.findings import UsageError


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
