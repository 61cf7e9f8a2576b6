"""Values of a run of a sweep that replace those of its job."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Route


@dataclass(frozen=True, kw_only=True)
class RunValues:
    """The name, the parameters and the overridden fields of a run of a sweep."""

    name: str
    """Name of the run without its hash."""
    params: Mapping[str, str | None]
    """Values of the parameters of the sweep, sorted by name; None if the error of a value was already reported."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Values of fields of the job."""
    routes: Mapping[str, Route] = field(default_factory=dict)
    """Where the job sets these fields."""
