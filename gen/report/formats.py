"""Output formats by command, imported when they are used, and the report of findings and changes and the plan that
they take.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.report.terminal import View

if TYPE_CHECKING:
    from gen.base import Diagnostic
    from gen.base.repository.files import Edit
    from gen.live.logs import LogPiece
    from gen.live.model import ClusterStatus
    from gen.live.plan_facts import LiveFacts
    from gen.live.top import Top
    from gen.render.write.compare import Change
    from gen.review.job_list import Listing
    from gen.review.result import RenderedDiff, Review


CODES: Final = "findings"
"""Folder with a page for each code."""
DOCUMENTS: Final = {"job": "reference-job.html", "overlay": "reference-overlay.html"}
"""Pages of the documents that `gen explain` describes."""


class Documentation(Struct, frozen=True):
    """Addresses of pages in a published documentation, which `mkdocs build` makes from `docs/`."""

    site: str = ""
    """Address of its folder, without `/` at the end; empty if none is known."""

    def start(self) -> str:
        """The first page, as a file for sites on a disk, too. Empty without a site."""
        return f"{self.site}/index.html" if self.site else ""

    def finding(self, name: str) -> str:
        """The explanation of a code. Empty without a site, or for another name."""
        if not self.site:
            return ""
        from gen.kubernetes.rules.catalogue import CATALOGUE

        return f"{self.site}/{CODES}/{name}.html" if name in CATALOGUE else ""

    def document(self, name: str) -> str:
        """The reference of the fields of jobs or overlays. Empty without a site."""
        return f"{self.site}/{DOCUMENTS[name]}" if self.site and name in DOCUMENTS else ""


class Report(Struct, frozen=True):
    """The result of `render` or `check`."""

    findings: tuple[Diagnostic, ...]
    changes: tuple[Change, ...]
    summary: str
    done: bool = True
    """Whether the changes were written."""
    diff: bool = False
    """Whether formats for people include the texts that differ."""
    unchanged: frozenset[str] = frozenset()
    """Job files that did not change: formats for people only count their warnings."""
    root: Path | None = None
    """Folder that the places are relative to; None if its files may have changed since."""
    edits: tuple[Edit, ...] = ()
    """User files that fixes change. Formats for people include the differences."""
    documentation: Documentation = Documentation()
    """Where findings are explained."""
    fixes: Mapping[Diagnostic, Edit] = {}
    """The certain fix of each finding that has one, for formats that offer it."""

    @property
    def failed(self) -> bool:
        return any(one.is_error for one in self.findings) or (bool(self.changes) and not self.done)


class Planned(View[Any], frozen=True, kw_only=True):
    """A plan for a terminal, with facts from the clusters and the result of `gen check`, if they were asked for."""

    data: Review
    live: LiveFacts | None = None
    checked: Report | None = None


def _report(entry: str, result: object) -> str:
    module, _, function = entry.partition(":")
    text: str = getattr(import_module(f"gen.report.{module}"), function)(result)
    return text


def _data_report(entry: str, view: View[object]) -> str:
    """For formats that are the same in every terminal."""
    return _report(entry, view.data)


def _plan_report(entry: str, view: Planned) -> str:
    """For formats of plans that are the same in every terminal."""
    module, _, function = entry.partition(":")
    text: str = getattr(import_module(f"gen.report.{module}"), function)(view.data, view.live)
    return text


def _checked_plan(plan: Callable[[Planned], str], check: str, view: Planned, *, always: bool = True) -> str:
    """A plan after the report of its check, if it has one; or only after that of a check that failed."""
    shown = view.checked is not None and (always or view.checked.failed)
    return (f"{_report(check, view.checked)}\n" if shown else "") + plan(view)


def _plan_findings(entry: str, view: Planned) -> str:
    """The findings of a plan and of its check, in a format of findings."""
    checked = view.checked or Report((), (), "")
    new = (one for one in view.data.findings if one not in checked.findings)
    return _report(entry, replace(checked, findings=(*checked.findings, *new)))


REPORTERS: Final[dict[str, Callable[[Report], str]]] = {
    "text": partial(_report, "findings.text:text"),
    "full": partial(_report, "findings.full:full"),
    "concise": partial(_report, "findings.text:concise"),
    "json": partial(_report, "findings.json:as_json"),
    "github": partial(_report, "findings.github:github"),
    "sarif": partial(_report, "findings.sarif:sarif"),
    "junit": partial(_report, "findings.junit:junit"),
    "markdown": partial(_report, "findings.markdown:as_markdown"),
}
"""Formats of findings and file changes. On a terminal, `text` is `full`."""
WITH_FIXES: Final = frozenset({"sarif"})
"""Formats that include the certain fix of each finding. Each fix takes a render, so other formats get none."""

PLAN_REPORTERS: Final[dict[str, Callable[[Planned], str]]] = {
    "text": partial(_checked_plan, partial(_report, "plan.text:as_text"), "findings.text:text"),
    "markdown": partial(
        _checked_plan, partial(_plan_report, "plan.markdown:as_markdown"), "findings.markdown:as_markdown", always=False
    ),
    "json": partial(_report, "plan.json:as_json"),
    "html": partial(_plan_report, "plan.html:as_html"),
    "github": partial(_plan_findings, "findings.github:github"),
    "junit": partial(_plan_findings, "findings.junit:junit"),
}
"""Formats of `gen plan`. Each command has its own registry, with the formats that can show its result."""

DIFF_REPORTERS: Final[dict[str, Callable[[View[RenderedDiff]], str]]] = {
    "text": partial(_report, "diff:as_text"),
    "json": partial(_report, "diff:as_json"),
    "markdown": partial(_report, "diff:as_markdown"),
}
"""Formats of `gen diff`."""

LIST_REPORTERS: Final[dict[str, Callable[[View[Listing]], str]]] = {
    "text": partial(_report, "listing:as_text"),
    "json": partial(_data_report, "listing:as_json"),
    "csv": partial(_data_report, "listing:as_csv"),
    "markdown": partial(_data_report, "listing:as_markdown"),
}
"""Formats of `gen list`."""


def _of_clusters(command: str) -> dict[str, Callable[[View[Any]], str]]:
    """Formats of a command that reads clusters."""
    return {name: partial(_report, f"live.{command}:as_{name}") for name in ("text", "json")}


STATUS_REPORTERS: Final[dict[str, Callable[[View[ClusterStatus]], str]]] = _of_clusters("status")
LOG_REPORTERS: Final[dict[str, Callable[[View[LogPiece]], str]]] = _of_clusters("logs")
TOP_REPORTERS: Final[dict[str, Callable[[View[Top]], str]]] = _of_clusters("top")
