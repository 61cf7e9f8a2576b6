"""A job that only some of its overlays can render: the remedy is in the overlay, or in `clusters` of the job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.findings.grants import OF_OVERLAY, UNKNOWN_ACCELERATOR
from gen.findings.jobs import MISSING_FIELD
from gen.overlay.select import CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.diagnostics import Findings

_LACKING: Final = frozenset(code.name for code in (*OF_OVERLAY, UNKNOWN_ACCELERATOR, MISSING_FIELD))
"""Findings about what one overlay lacks."""
_MOST: Final = 5
"""Overlays in a hint."""


def name_other_overlays(found: Findings, names: Sequence[str], starts: Sequence[int]) -> None:
    """Add the overlays without errors to the hints of the others. `starts` has the first finding of each."""
    ends = (*starts[1:], len(found.items))
    parts = {name: range(start, end) for name, start, end in zip(names, starts, ends, strict=True)}
    failed = {name for name, part in parts.items() if any(found.items[index].is_error for index in part)}
    others = [name for name in names if name not in failed]
    if not failed or not 0 < len(others) <= _MOST:
        return
    for index in (index for name in failed for index in parts[name]):
        item = found.items[index]
        if item.is_error and item.code in _LACKING:
            hint = f"{item.hint}; or render the job only elsewhere: `{CLUSTERS}: [{', '.join(others)}]`"
            found.items[index] = replace(item, hint=hint)
