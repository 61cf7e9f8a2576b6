"""Registry of importers: one file or package each, and one line here. See `docs/extending.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.importers.base import Importer
from gen.model.registry import LazyRegistry

if TYPE_CHECKING:
    from collections.abc import MutableMapping

IMPORTERS: Final[MutableMapping[str, type[Importer]]] = LazyRegistry(
    {
        "arena": "gen.importers.arena.importer:ArenaImporter",
        "batchcompute": "gen.importers.batchcompute.importer:BatchComputeImporter",
        "kfp": "gen.importers.kfp.importer:KfpImporter",
        "manifests": "gen.importers.manifests.importer:ManifestsImporter",
        "slurm": "gen.importers.slurm.importer:SlurmImporter",
    }
)
"""Importer by the name of the other tool, imported when it is used."""

__all__ = ["IMPORTERS", "Importer"]
