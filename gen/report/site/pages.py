"""The pages of a repository: jobs, overlays, and one for each job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from gen.report.listing.columns import COLUMNS, jobs_total, month_totals
from gen.report.page import page
from gen.report.plan.cost_phrases import ASSUMPTIONS
from gen.report.sanitize import sanitize
from gen.report.site.overlay_view import overlay_view

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gen.inventory.listing import JobRow
    from gen.report.site.site import Site
    from gen.review.history import RunEvent

_STYLES: Final = ("page/base.css", "site/site.css")
_SCRIPTS: Final = ("page/base.js", "site/site.js")
_SHOWN: Final = (
    "overlay",
    "kind",
    "state",
    "workers",
    "GPUs",
    "queue",
    "timeout",
    "cost at most",
    "in a month",
    "changed",
)
"""Columns of `gen list`, after the namespace and the job."""
MAX_EVENTS: Final = 200
"""Events of one job."""


def site_pages(site: Site) -> dict[str, bytes]:
    """Files of the site by their paths."""
    overlays = tuple(overlay_view(one, site.listing.rows) for one in site.overlays)
    shared: dict[str, Any] = {
        "commit": site.commit[:10],
        "commit_url": site.links.commit(site.commit) if site.links is not None else "",
        "columns": _used_columns(site),
        "findings": site.listing.findings,
        "pages": {one.code: site.documentation.finding(one.code, one.place.file) for one in site.listing.findings},
        "totals": (jobs_total(site.listing), *month_totals(site.listing)),
        "assumptions": ASSUMPTIONS,
        "overlays": overlays,
    }
    pages = {
        "index.html": _page("index", shared, {"top": "", "rows": tuple(map(_row, site.listing.rows))}),
        "overlays.html": _page("overlays", shared, {"top": ""}),
        **dict(_jobs(site, shared)),
    }
    return {path: text.encode() for path, text in pages.items()}


def _page(name: str, shared: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    return page(f"site/{name}.html.j2", _STYLES, _SCRIPTS, {**shared, **own})


def _used_columns(site: Site) -> tuple[str, ...]:
    return tuple(name for name in _SHOWN if any(COLUMNS[name](row) for row in site.listing.rows))


def job_page(file: str) -> str:
    """The path of the page of a job file."""
    return f"{file.removesuffix('.yaml')}.html"


def _row(row: JobRow) -> dict[str, Any]:
    return {
        "namespace": row.namespace,
        "job": row.job,
        "state": row.state or "?",
        "href": quote(job_page(row.file)),
        "cells": {name: COLUMNS[name](row) for name in COLUMNS},
        "errors": row.errors,
    }


def _jobs(site: Site, shared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    by_file: dict[str, list[JobRow]] = {}
    for row in site.listing.rows:
        by_file.setdefault(row.file, []).append(row)
    for file, rows in by_file.items():
        events = site.history.get(file, ())
        own = {
            "top": "../../",
            "job": rows[0].job,
            "namespace": rows[0].namespace,
            "file": file,
            "file_url": site.links.file(file) if site.links is not None else "",
            "owners": rows[0].owners,
            "rows": tuple(map(_row, rows)),
            "events": tuple(_event(site, one) for one in events[:MAX_EVENTS]),
            "more": max(len(events) - MAX_EVENTS, 0),
            "lines": tuple(map(sanitize, site.texts.get(file, "").split("\n"))),
            "file_findings": tuple(one for one in site.listing.findings if one.place.file == file),
        }
        yield job_page(file), _page("job", shared, own)


def _event(site: Site, event: RunEvent) -> dict[str, str]:
    return {
        "date": event.date[:10],
        "what": event.what,
        "run": event.run,
        "kind": event.kind,
        "overlay": event.overlay,
        "author": event.author,
        "commit": event.commit[:10],
        "url": site.links.commit(event.commit) if site.links is not None else "",
    }
