"""A user's repository: where it is, and what lies where in it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.diagnostics import UsageError

if TYPE_CHECKING:
    from pathlib import Path

JOBS = "jobs"
OVERLAYS = "overlays"
RENDERED = "rendered"

ENGINES = ("argocd", "flux")
"""Folders below `rendered/` that are no overlay's: what GitOps engines read to find the others."""

LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
"""A DNS label: names of namespaces and of overlays."""


@dataclass(frozen=True, slots=True, order=True)
class JobFile:
    """One job file: `jobs/<namespace>/<stem>.yaml`."""

    namespace: str
    stem: str

    @property
    def file(self) -> str:
        return f"{JOBS}/{self.namespace}/{self.stem}.yaml"

    @property
    def key(self) -> str:
        """What the patterns of overlays and of the command line are compared with."""
        return f"{self.namespace}/{self.stem}"


def find_root(start: Path) -> Path:
    """The nearest folder, from `start` upwards, with `jobs/` and `overlays/`. UsageError when there is none."""
    for folder in (start, *start.parents):
        if not _missing(folder):
            return checked_root(folder)
    raise UsageError(
        f"neither {start} nor a folder above it has {JOBS}/ and {OVERLAYS}/; name the repository with --root"
    )


def checked_root(root: Path) -> Path:
    """A folder that was named as the repository, without links on the way to it. UsageError when it is none."""
    if missing := _missing(root):
        raise UsageError(f"{root} has no folder {missing}/")
    for name in (JOBS, OVERLAYS):
        if (root / name).is_symlink():
            raise UsageError(f"{root / name} is a link, and links are not followed; put the folder itself there")
    return root.resolve()


def _missing(root: Path) -> str:
    return next((name for name in (JOBS, OVERLAYS) if not os.path.isdir(root / name)), "")  # noqa: PTH112 - never raises
