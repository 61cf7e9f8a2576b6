"""How a plan is shown: one file each, and the one list of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.review.as_json import as_json
from gen.review.as_markdown import as_markdown
from gen.review.as_text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.review.types import Review

FORMATS: Final[dict[str, Callable[[Review], str]]] = {"text": as_text, "markdown": as_markdown, "json": as_json}
