"""Put untrusted text into Markdown: code spans and code blocks with a fence longer than any inside them.

Inside them, Markdown, HTML, links and mentions have no effect.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gen.report.sanitize import sanitize

if TYPE_CHECKING:
    from collections.abc import Iterable


def code_span(text: str) -> str:
    """A code span that its content cannot end: on one line and never empty. Not for tables."""
    line = sanitize(text).strip() or "(empty)"
    fence = "`" * (_longest_fence(line) + 1)
    edge = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{edge}{line}{edge}{fence}"


def explained_code(code: str, page: str) -> str:
    """The code of a finding, as a link to its explanation unless that has no address."""
    return f"[{code_span(code)}]({page})" if page else code_span(code)


def table_cell(text: str) -> str:
    """A code span in a table, where an unescaped `|` ends the cell even inside a code span."""
    return code_span(text).replace("|", "\\|")


def diff_block(lines: Iterable[str]) -> str:
    """A code block of diff lines that its content cannot end."""
    text = "".join(f"{sanitize(line)}\n" for line in lines)
    fence = "`" * max(3, _longest_fence(text) + 1)
    return f"{fence}diff\n{text}{fence}\n"


def _longest_fence(text: str) -> int:
    return max((len(ticks) for ticks in re.findall("`+", text)), default=0)
