"""How a plan is shown: one file each, and the one list of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.report.plan.json import as_json
from gen.report.plan.markdown import as_markdown
from gen.report.plan.text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.review.types import Review

FORMATS: Final[dict[str, Callable[[Review], str]]] = {"text": as_text, "markdown": as_markdown, "json": as_json}
