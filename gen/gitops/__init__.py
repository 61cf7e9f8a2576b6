"""GitOps engines: one file each, listed with their facts in `gen.resources.engines.ENGINES`.

`docs/gitops.md` describes the objects that are rendered for them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from gen.gitops.base import Engine, Site, Workload
from gen.resources import engines

ENGINES: Final[dict[str, type[Engine]]] = {name: import_module(f"{__name__}.{name}").ENGINE for name in engines.ENGINES}
"""The class of each engine, from the module of its name."""

ENGINE_NAMESPACES: Final = frozenset(str(engine.model_fields["namespace"].default) for engine in ENGINES.values())
"""Namespaces that engines are installed in by default."""

__all__ = ["ENGINES", "ENGINE_NAMESPACES", "Engine", "Site", "Workload"]
