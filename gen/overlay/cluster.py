"""Which cluster a manifest in a repository is for, told by the folder that it lies in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from gen.diagnostics import Findings
from gen.load.source import read
from gen.repository.layout import DEFINITIONS, overlay_file, overlay_of, overlays_path

if TYPE_CHECKING:
    from pathlib import Path

_MOST = 32
"""Overlays that may lie on each other."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What an overlay says of its cluster, as far as it can be read."""

    kubernetes: str | None
    definitions: tuple[Path, ...]
    """Folders of CustomResourceDefinitions, those of the overlay itself first."""


def cluster_of(root: Path, file: str) -> Cluster | None:
    """The cluster of a file below `rendered/<overlay>/` or `overlays/<overlay>/`; None for others."""
    path, start = os.path.abspath(file), f"{root}/"  # noqa: PTH100 - asked for every folder
    overlay = overlay_of(path.removeprefix(start)) if path.startswith(start) else None
    return None if overlay is None else cluster(root, overlay)


@cache
def cluster(root: Path, name: str) -> Cluster | None:
    """What an overlay and those that it extends say. Faults in them are for `gen render` to report."""
    folders = []
    kubernetes = None
    for _ in range(_MOST):
        source = read(root, overlay_file(name), Findings())
        if source is None or not isinstance(source.data, dict):
            break
        folders.append(root / overlays_path(name, DEFINITIONS))
        said = source.data.get("kubernetes")
        kubernetes = kubernetes or (said if isinstance(said, str) else None)
        base = source.data.get("extends")
        if not isinstance(base, str):
            break
        name = base
    if not folders:
        return None
    return Cluster(kubernetes, tuple(folder for folder in folders if folder.is_dir()))
