"""Values of a run of a sweep that replace those of its job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Route


class RunValues(Struct, frozen=True, kw_only=True):
    """The name, the parameters and the overridden fields of a run of a sweep."""

    name: str
    """Name of the run without its hash."""
    params: Mapping[str, str | None]
    """Values of the parameters of the sweep, sorted by name; None if the error of a value was already reported."""
    fields: Mapping[str, str] = {}
    """Values of fields of the job."""
    routes: Mapping[str, Route] = {}
    """Where the job sets these fields."""
