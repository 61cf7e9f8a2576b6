"""Volumes of pods, and their mounts in the training container."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.kubernetes import Body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Route


class MountPlan(Struct, frozen=True, kw_only=True):
    """A mount in the training container."""

    volume: str
    path: str
    sub_path: str | None = None
    read_only: bool = False
    route: Route = ()
    """The field of the job that requests it."""


class VolumePlan(Struct, frozen=True, kw_only=True):
    """A volume of the pod, under the name that mounts use."""

    name: str
    source: Body
    annotations: Mapping[str, str] = {}
    """Annotations that its pods need."""
    labels: Mapping[str, str] = {}
    """Labels that its pods need."""
