"""The kinds that overlays declare, among those of gen. Most overlays declare none and do not import their models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.kinds import KINDS
from gen.resources import RESOURCES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.kinds import Job
    from gen.resources.base import Resource

_DECLARED: Final[dict[str, Resource]] = {}
"""Facts of the declared kinds that are registered."""
_NAMED: Final[set[str]] = set()
"""Names of declared kinds, also of those with a faulty declaration."""


def declare(name: str, model: type[Job]) -> None:
    """Register a kind until `forget_declared`. Its name and its Kubernetes kind must be free."""
    KINDS[name] = model
    RESOURCES[model.facts.key] = _DECLARED[name] = model.facts


def forget_declared() -> None:
    """Remove the declared kinds, which other overlays may declare differently."""
    for name, facts in _DECLARED.items():
        del KINDS[name], RESOURCES[facts.key]
    _DECLARED.clear()
    _NAMED.clear()


def name_declared(names: Iterable[str]) -> None:
    """Remember kinds before their declarations are validated, so that jobs are not blamed for faults of those."""
    _NAMED.update(names)


def is_named(name: str) -> bool:
    return name in _NAMED


def is_declared(name: str) -> bool:
    return name in _DECLARED
