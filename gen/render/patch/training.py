"""The name `$training` in patches of pods, for the training container of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gen.kubernetes import Body

TRAINING = "$training"
"""No container can have this name."""


def with_training_container(patch: Body, name: str | None) -> Body:
    """The patch of a pod template, with the name of the training container for `$training`."""
    spec = patch.get("spec")
    containers = spec.get("containers") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(containers, list):
        return patch
    named: list[Any] = [
        {**entry, "name": name} if isinstance(entry, dict) and entry.get("name") == TRAINING else entry
        for entry in containers
    ]
    return {**patch, "spec": {**spec, "containers": named}}
