"""How findings and changes are shown: one file each, and the one list of them, read when there is something to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.report.github import github
from gen.report.json import as_json
from gen.report.junit import junit
from gen.report.sarif import sarif
from gen.report.text import text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.report.types import Report

    Reporter = Callable[[Report], str]

REPORTERS: Final[dict[str, Reporter]] = {
    "text": text,
    "json": as_json,
    "github": github,
    "sarif": sarif,
    "junit": junit,
}

__all__ = ["REPORTERS"]
