"""GitOps engines: one file each, listed in `gen.repository.layout.ENGINES`.

`docs/gitops.md` describes the objects that are rendered for them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from gen.gitops.base import Engine, Site, Workload
from gen.repository import layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ENGINES: Final[dict[str, type[Engine]]] = {name: import_module(f"{__name__}.{name}").ENGINE for name in layout.ENGINES}
"""The class of each engine, from the module of its name."""

PROTECTION: Final[Mapping[str, str]] = {
    key: value for engine in ENGINES.values() for key, value in engine.protection.items()
}
"""Annotations that protect storage from every engine, also from one that no overlay uses yet."""

ENGINE_NAMESPACES: Final = frozenset(str(engine.model_fields["namespace"].default) for engine in ENGINES.values())
"""Namespaces that engines are installed in by default."""


def run_annotations(engines: Iterable[str], state: str, *, settled: bool) -> dict[str, str]:
    """Annotations of a run for all engines; each engine ignores those of the others.

    `settled` means that an active run never changes in Git under the same name.
    """
    return {key: value for name in engines for key, value in ENGINES[name].lifecycle(state, settled=settled).items()}


__all__ = ["ENGINES", "ENGINE_NAMESPACES", "PROTECTION", "Engine", "Site", "Workload", "run_annotations"]
