"""Files of other tools as jobs, and the proof that these render the same objects.

`IMPORTERS` is the registry: one file or package for each tool, with an `Importer`. See `docs/extending.md`.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Final

from gen.base import LazyRegistry
from gen.importers.base import Importer

IMPORTERS: Final[MutableMapping[str, type[Importer]]] = LazyRegistry(
    {
        "arena": "gen.importers.arena.importer:ArenaImporter",
        "batchcompute": "gen.importers.batchcompute:BatchComputeImporter",
        "kfp": "gen.importers.kfp.importer:KfpImporter",
        "manifests": "gen.importers.manifests.importer:ManifestsImporter",
        "slurm": "gen.importers.slurm.importer:SlurmImporter",
    }
)
"""Importer by the name of the other tool, imported when it is used."""

__all__ = ["IMPORTERS", "Importer"]
