"""Output formats: one registry for findings, one for plans. The module of a format is imported when it is used."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.cluster.logs import LogPiece
    from gen.cluster.model import ClusterStatus
    from gen.cluster.top import Top
    from gen.inventory.listing import Listing
    from gen.report.live.view import View
    from gen.report.report import Report
    from gen.review.review import Review
    from gen.review.would_change import RenderedDiff


def _report(entry: str, result: Any) -> str:
    module, _, function = entry.partition(":")
    text: str = getattr(import_module(f"gen.report.{module}"), function)(result)
    return text


REPORTERS: Final[dict[str, Callable[[Report], str]]] = {
    "text": partial(_report, "text:text"),
    "full": partial(_report, "full:full"),
    "concise": partial(_report, "text:concise"),
    "json": partial(_report, "json:as_json"),
    "github": partial(_report, "github:github"),
    "sarif": partial(_report, "sarif:sarif"),
    "junit": partial(_report, "junit:junit"),
    "markdown": partial(_report, "findings_markdown:as_markdown"),
}
"""Formats of findings and file changes. On a terminal, `text` is `full`."""
WITH_FIXES: Final = frozenset({"sarif"})
"""Those with a form for the certain fix of each finding. Each takes a render, so that others get none."""

PLAN_REPORTERS: Final[dict[str, Callable[[Review], str]]] = {
    "text": partial(_report, "plan.text:as_text"),
    "markdown": partial(_report, "plan.markdown:as_markdown"),
    "json": partial(_report, "plan.json:as_json"),
    "html": partial(_report, "plan.html:as_html"),
}
"""Formats of `gen plan`. Each command has its own registry, so that a format serves the commands that it can show."""

DIFF_REPORTERS: Final[dict[str, Callable[[View[RenderedDiff]], str]]] = {
    "text": partial(_report, "diff.text:as_text"),
    "json": partial(_report, "diff.json:as_json"),
    "markdown": partial(_report, "diff.markdown:as_markdown"),
}
"""Formats of `gen diff`."""

LIST_REPORTERS: Final[dict[str, Callable[[Listing], str]]] = {
    "text": partial(_report, "listing.text:as_text"),
    "json": partial(_report, "listing.json:as_json"),
    "csv": partial(_report, "listing.csv:as_csv"),
    "markdown": partial(_report, "listing.markdown:as_markdown"),
}
"""Formats of `gen list`."""

STATUS_REPORTERS: Final[dict[str, Callable[[View[ClusterStatus]], str]]] = {
    "text": partial(_report, "live.status_text:as_text"),
    "json": partial(_report, "live.status_json:as_json"),
}
"""Formats of `gen status`."""

LOG_REPORTERS: Final[dict[str, Callable[[View[LogPiece]], str]]] = {
    "text": partial(_report, "live.logs_text:as_text"),
    "json": partial(_report, "live.logs_json:as_json"),
}
"""Formats of `gen logs`."""

TOP_REPORTERS: Final[dict[str, Callable[[View[Top]], str]]] = {
    "text": partial(_report, "live.top_text:as_text"),
    "json": partial(_report, "live.top_json:as_json"),
}
"""Formats of `gen top`."""
