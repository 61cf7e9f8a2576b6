"""Registries that plugins extend, and the plugin that provides each of their entries."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

from gen.accelerators import ACCELERATORS, AcceleratorProfile
from gen.importers import IMPORTERS, Importer
from gen.kinds import KINDS
from gen.kinds.base import Job
from gen.networks import NETWORKS, NetworkProfile
from gen.queues import QUEUES, QueueProfile
from gen.resources import RESOURCES
from gen.storage import STORAGE, StorageProfile

if TYPE_CHECKING:
    from collections.abc import MutableMapping

KIND_GROUP: Final = "gitops_gen.kinds"
STORAGE_GROUP: Final = "gitops_gen.storage"
NETWORK_GROUP: Final = "gitops_gen.networks"
ACCELERATOR_GROUP: Final = "gitops_gen.accelerators"
QUEUE_GROUP: Final = "gitops_gen.queues"
IMPORTER_GROUP: Final = "gitops_gen.importers"
REPORT_GROUP: Final = "gitops_gen.reports"
"""Its entry points name functions from a `gen.report.report.Report` to a text: formats of `--output`."""
SCHEMA_GROUP: Final = "gitops_gen.schemas"
"""Its entry points name packages with `<group>_<version>_<kind>.json`, the closed schemas of rendered objects."""

REPORTS: Final[dict[str, Any]] = {}
"""Output formats of plugins by name. gen's own are in `gen.report.formats`."""

REGISTRIES: Final[dict[str, tuple[MutableMapping[str, Any], type]]] = {
    KIND_GROUP: (KINDS, Job),
    STORAGE_GROUP: (STORAGE, StorageProfile),
    NETWORK_GROUP: (NETWORKS, NetworkProfile),
    ACCELERATOR_GROUP: (ACCELERATORS, AcceleratorProfile),
    QUEUE_GROUP: (QUEUES, QueueProfile),
    IMPORTER_GROUP: (IMPORTERS, Importer),
    REPORT_GROUP: (REPORTS, FunctionType),
}
"""Registry by entry point group, with the base class of its entries, or the type of functions."""

PROVIDERS: Final[dict[tuple[str, str], str]] = {}
"""Distribution by group and name. Entries of gen itself are absent."""


def register(group: str, name: str, entry: object, distribution: str) -> None:
    """Add an entry. TypeError if it is of another type, ValueError if another package has the name."""
    registry, base = REGISTRIES[group]
    if not (isinstance(entry, base) if base is FunctionType else isinstance(entry, type) and issubclass(entry, base)):
        raise TypeError(f"`{name}` of `{group}` is not a `{base.__name__}`")
    if name in registry and PROVIDERS.get((group, name)) != distribution:
        owner = PROVIDERS.get((group, name), "gen")
        raise ValueError(f"`{name}` of `{group}` is already provided by `{owner}`")
    registry[name] = entry
    PROVIDERS[group, name] = distribution
    if isinstance(entry, type) and issubclass(entry, Job):
        RESOURCES.setdefault(entry.facts.key, entry.facts)


def provider_of(group: str, name: str) -> str | None:
    """The distribution that provides an entry; None for gen itself, and for unknown names."""
    return PROVIDERS.get((group, name))
