"""Decisions about the object that starts runs, and about the end of workflows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from gen.resources.base import Resource


class SchedulePlan(Struct, frozen=True, kw_only=True):
    """Times of the runs, and the object that starts them."""

    facts: Resource
    """Facts of that object."""
    cron: str
    time_zone: str
    concurrency: str
    deadline: int
    succeeded: int
    failed: int
    at_once: int
    """Runs that can overlap."""
    account: str = ""
    """ServiceAccount of the workflows that start the runs; empty if none are needed."""


class ExitPlan(Struct, frozen=True, kw_only=True):
    """The pod that sends a message at the end of a workflow."""

    image: str
    secret: str
    command: tuple[str, ...]
    args: tuple[str, ...]
