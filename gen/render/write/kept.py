"""Files in `rendered/` that gen did not generate and that an overlay allows."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from gen.repository.layout import INERT_ENDINGS, below_rendered

if TYPE_CHECKING:
    from collections.abc import Iterable


def is_kept(path: str, patterns: Iterable[str]) -> bool:
    """Whether a file matches a pattern of `rendered.keep`, and no GitOps engine applies it."""
    below = below_rendered(path) or ""
    return below.endswith(INERT_ENDINGS) and any(fnmatchcase(below, pattern) for pattern in patterns)
