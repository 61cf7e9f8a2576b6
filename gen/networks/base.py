"""Base class of network profiles, and their effect on pods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct, field

from gen.kubernetes import Body
from gen.model.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Effect(Struct, frozen=True, kw_only=True):
    """Changes that a network makes to the pods of a job; empty for the default network."""

    host_network: bool = False
    spread: bool = False
    """Run at most one pod of a role per node, because the pods would use the same ports."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    node_labels: Mapping[str, str] = field(default_factory=dict)
    """Node labels that must match."""
    tolerations: tuple[Body, ...] = ()
    resources: Mapping[str, str] = field(default_factory=dict)
    """Extended resources of each training container."""
    capabilities: tuple[str, ...] = ()
    """Linux capabilities of each training container."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment of each training container, unless the job sets it."""


def combined(effects: Iterable[Effect]) -> Effect:
    """Merge effects."""
    total = Effect()
    for effect in effects:
        total = Effect(
            **{f: _sum(getattr(total, f), getattr(effect, f)) for f in Effect.__struct_fields__},
        )
    return total


def _sum(one: Any, other: Any) -> Any:
    return {**one, **other} if isinstance(one, dict) else one + other if isinstance(one, tuple) else one or other


class NetworkProfile(Profile, ABC):
    """Network profile: a way to connect pods."""

    excludes: ClassVar[frozenset[str]] = frozenset()
    """Profiles that cannot be combined with this one."""

    @abstractmethod
    def effect(self) -> Effect:
        """Changes to the pods of a job."""
