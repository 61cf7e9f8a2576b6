"""Decisions about a pipeline for Kubeflow Pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.resources.base import Resource


class DefinitionPlan(Struct, frozen=True, kw_only=True):
    """The pipeline, and what its steps run."""

    facts: Resource
    """Facts of the object with the steps."""
    image: str
    """Image of the containers that create the objects of steps and wait for them."""
    command: tuple[str, ...]
    params: Mapping[str, str]
    """Defaults of the open parameters, which people can change when they start a run."""
