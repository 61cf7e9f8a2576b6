"""Kinds that GitOps rules select by the facts of `gen.resources`: runs, data, and kinds with a certain field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.resources import RUNS, Having, resource_of
from gen.resources.core import DATA

if TYPE_CHECKING:
    from gen.diagnostics import Route

GUARDED: Final = Having(lambda resource: resource.is_run or resource in DATA)
"""Runs and data."""


def having(field: str) -> Having:
    """The kinds of runs that have a field of `Resource`."""
    return Having(lambda resource: resource.is_run and getattr(resource, field) is not None)


def route_of(group: str, kind: str, field: str) -> Route:
    """The route of a field that the kind has, by the facts of `gen.resources`."""
    route: Route = getattr(resource_of(group, kind), field)
    return route


__all__ = ["DATA", "GUARDED", "RUNS", "having", "route_of"]
