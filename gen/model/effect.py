"""Effect of a network or an accelerator on the pods of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from gen.kubernetes import Body

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Effect(Struct, frozen=True, kw_only=True):
    """Changes that a profile makes to pods; empty for the default network."""

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
    scheduler: str | None = None
    """Scheduler of the pods, if the default one cannot place them."""


def without_devices(effect: Effect) -> Effect:
    """The part of an effect for pods that do not train, such as a launcher."""
    return replace(effect, resources={}, capabilities=(), env={})


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
