"""Which jobs an overlay renders."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.overlay.overlay import Overlay


def selects(overlay: Overlay, key: str) -> bool:
    """Whether the overlay renders the job file `<namespace>/<stem>`."""
    select = overlay.fields.select
    included = any(fnmatchcase(key, pattern) for pattern in select.include)
    return included and not any(fnmatchcase(key, pattern) for pattern in select.exclude)
