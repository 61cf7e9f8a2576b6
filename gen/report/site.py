"""The pages of a repository: the list of jobs, the overlays with their offers and quotas, and a page for each job."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Diagnostic
from gen.overlay.costs import money
from gen.overlay.overlay import Overlay
from gen.render.parts.quota import quotas
from gen.report.formats import Documentation
from gen.report.listing import COLUMNS, jobs_total, month_totals
from gen.report.plan.phrases import ASSUMPTIONS
from gen.report.templates import Phrase, page
from gen.review.history import RunEvent
from gen.review.job_list import JobRow, Listing
from gen.review.sources import Links


class Site(Struct, frozen=True, kw_only=True):
    """A repository at a commit."""

    listing: Listing
    overlays: tuple[Overlay, ...]
    texts: Mapping[str, str]
    """Of job files, without lines with secrets."""
    history: Mapping[str, tuple[RunEvent, ...]]
    """By job file."""
    links: Links | None
    commit: str
    documentation: Documentation = Documentation()
    """Where findings are explained."""


Table = tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]]
"""Title, headings and rows."""


class OverlayView(Struct, frozen=True, kw_only=True):
    """An overlay with its tables."""

    name: str
    facts: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]


def overlay_view(overlay: Overlay, rows: Sequence[JobRow]) -> OverlayView:
    """`rows` are those of all overlays."""
    fields = overlay.fields
    facts = {
        "Cluster": overlay.cluster_name or "",
        "Kubernetes": overlay.kubernetes,
        "Engines": ", ".join(overlay.engines) if fields.gitops else "",
        "Currency": fields.currency or "",
        "Labels": ", ".join(f"{name}={value}" for name, value in fields.labels.items()),
    }
    own = [row for row in rows if row.overlay == overlay.name]
    tables = (table for table in _tables(overlay, own) if table[2])
    return OverlayView(
        name=overlay.name, facts=tuple((name, value) for name, value in facts.items() if value), tables=tuple(tables)
    )


def _tables(overlay: Overlay, rows: Sequence[JobRow]) -> Iterator[Table]:
    fields, currency = overlay.fields, overlay.fields.currency or ""
    yield (
        "Namespaces",
        ("Namespace", "Active jobs", "GPUs", "Limits", "Cost in a month, at most", "Budget"),
        tuple(_namespaces(overlay, rows)),
    )
    yield (
        "Accelerators",
        ("Name", "Profile", "Devices of a node", "Price of an hour"),
        tuple(
            (name, ", ".join(one.given), str(one.per_node or ""), _price(one.price, currency))
            for name, one in fields.accelerators.items()
        ),
    )
    yield (
        "Storage",
        ("Volume", "Profile", "Size", "Access"),
        tuple(
            (name, ", ".join(one.given), str(one.size or ""), "read-only" if one.read_only else "")
            for name, one in fields.volumes.items()
        ),
    )
    yield "Stores", ("Store", "Service"), _named(fields.stores)
    yield "Networks", ("Network", "Profiles"), _named(fields.networks)
    yield "Queues", ("Queue", "Scheduler"), _named(fields.queues)


def _named(entries: object) -> tuple[tuple[str, ...], ...]:
    known = entries.items() if isinstance(entries, dict) else ()
    return tuple((name, ", ".join(one.given)) for name, one in known)


def _price(price: object, currency: str) -> str:
    return "" if price is None else f"{price} {currency}"


def _namespaces(overlay: Overlay, rows: Sequence[JobRow]) -> Iterator[tuple[str, ...]]:
    active = [row for row in rows if row.state == "active"]
    currency = overlay.fields.currency or ""
    for name in sorted({*(row.namespace for row in rows), *(key for key in overlay.fields.namespaces if key != "*")}):
        grant = overlay.grant(name)
        budget = grant.budget if grant is not None else None
        month = sum(row.month for row in rows if row.namespace == name)
        yield (
            name,
            str(sum(row.namespace == name for row in active)),
            str(sum(row.gpus or 0 for row in active if row.namespace == name)),
            ", ".join(f"{limit} {' '.join(quota[-1:])}" for quota, limit in quotas(overlay, name).items()),
            f"{money(month)} {currency}" if overlay.prices is not None else "",
            _price(budget, currency),
        )


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


class Page(Struct, frozen=True, kw_only=True):
    """A page before its template is filled in."""

    template: str
    values: Mapping[str, object]

    @property
    def digest(self) -> str:
        """Of everything that the page shows."""
        return hashlib.sha256(repr((self.template, self.values)).encode("utf-8", "surrogateescape")).hexdigest()

    def content(self) -> bytes:
        return page(f"site/{self.template}.html.j2", _STYLES, _SCRIPTS, self.values).encode()


def site_pages(site: Site) -> dict[str, Page]:
    """The pages by their paths. Those of all jobs show the commit of the site, that of a job its last change."""
    shown = tuple(map(_row, site.listing.rows))
    columns = tuple(Phrase(name) for name in _SHOWN if any(COLUMNS[name](row) for row in site.listing.rows))
    shared: dict[str, object] = {"top": "", "label": "Commit", **_commit(site, site.commit)}
    index = {
        "columns": columns,
        "findings": site.listing.findings,
        "pages": _explanations(site, site.listing.findings),
        "totals": (jobs_total(site.listing), *month_totals(site.listing)),
        "assumptions": ASSUMPTIONS,
        "rows": shown,
    }
    overlays = tuple(overlay_view(one, site.listing.rows) for one in site.overlays)
    return {
        "index.html": Page(template="index", values={**shared, **index}),
        "overlays.html": Page(template="overlays", values={**shared, "overlays": overlays}),
        **dict(_jobs(site, shown, columns)),
    }


def _commit(site: Site, commit: str) -> dict[str, str]:
    """A commit with its address."""
    return {"commit": commit[:10], "commit_url": site.links.commit(commit) if site.links is not None else ""}


def _explanations(site: Site, findings: Iterable[Diagnostic]) -> dict[str, str]:
    return {one.code: site.documentation.finding(one.code) for one in findings}


def job_page(file: str) -> str:
    """The path of the page of a job file."""
    return f"{file.removesuffix('.yaml')}.html"


def _row(row: JobRow) -> dict[str, object]:
    return {
        "namespace": row.namespace,
        "job": row.job,
        "state": row.state or "?",
        "href": quote(job_page(row.file)),
        "cells": {name: COLUMNS[name](row) for name in COLUMNS},
        "errors": row.errors,
    }


def _jobs(site: Site, shown: Sequence[dict[str, object]], columns: tuple[str, ...]) -> Iterator[tuple[str, Page]]:
    by_file: dict[str, list[tuple[JobRow, dict[str, object]]]] = {}
    for row, view in zip(site.listing.rows, shown, strict=True):
        by_file.setdefault(row.file, []).append((row, view))
    findings: dict[str, list[Diagnostic]] = {}
    for one in site.listing.findings:
        findings.setdefault(one.place.file, []).append(one)
    for file, rows in by_file.items():
        events, first = site.history.get(file, ()), rows[0][0]
        last = first.changed.commit if first.changed is not None else site.commit
        own = findings.get(file, ())
        yield (
            job_page(file),
            Page(
                template="job",
                values={
                    "top": "../../",
                    "label": "Last change in commit" if first.changed is not None else "Commit",
                    **_commit(site, last),
                    "columns": columns,
                    "job": first.job,
                    "namespace": first.namespace,
                    "file": file,
                    "file_url": replace(site.links, head=last).file(file) if site.links is not None else "",
                    "owners": first.owners,
                    "rows": tuple(view for _, view in rows),
                    "events": tuple(_event(site, one) for one in events[:MAX_EVENTS]),
                    "more": max(len(events) - MAX_EVENTS, 0),
                    "text": site.texts.get(file, ""),
                    "file_findings": tuple(own),
                    "pages": _explanations(site, own),
                },
            ),
        )


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
