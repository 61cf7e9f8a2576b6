"""Checks of edited job files before they are written: findings at places of the current file, and quotas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from gen.base import Diagnostic, Findings, Location, Route, dotted
from gen.base.line_changes import Lines, changed_lines
from gen.base.repository.job_files import all_jobs
from gen.base.repository.layout import JobFile
from gen.base.yaml.source import Source, read, source_of
from gen.job.scalars import clipped
from gen.overlay.overlay import Overlay, selects
from gen.render.committed import CommittedRuns
from gen.render.model import parse_job
from gen.render.parts.quota import Quota, asking_field, check_quotas, quotas, requested_by, shares_of
from gen.render.pipeline import render_job
from gen.render.results import File, RenderedJob


def check_quota(root: Path, edited: Mapping[JobFile, bytes], overlays: Sequence[Overlay], found: Findings) -> None:
    """Report the quotas that are exceeded after the edit, unless it does not increase the request."""
    namespaces = {job.namespace for job in edited}
    limited = [overlay for overlay in overlays if any(quotas(overlay, name) for name in namespaces)]
    if not limited:
        return
    committed = CommittedRuns.of(root)
    others = [job for job in all_jobs(root, Findings()) if job.namespace in namespaces and job not in edited]
    rest = [*_rendered(((job, read(root, job.file, Findings())) for job in others), limited, committed)]
    unchanged = requested_by(rest)
    before = requested_by(_rendered(((job, read(root, job.file, Findings())) for job in edited), limited, committed))
    sources = ((job, source_of(raw, job.file, Findings())) for job, raw in edited.items())
    new = [*_rendered(sources, limited, committed)]
    after = requested_by(new)
    files = {job.file for job in edited}

    def place(file: File, quota: Quota) -> Location | None:
        path = file.source.file
        return asking_field(read(root, path, Findings()), path, quota) if path in files else None

    more = {key: unchanged[key] + amount for key, amount in after.items() if amount > before[key]}
    check_quotas(more, limited, found, shares_of((*rest, *new), place))


def _rendered(
    sources: Iterable[tuple[JobFile, Source | None]], overlays: Sequence[Overlay], committed: CommittedRuns
) -> Iterator[RenderedJob]:
    """Jobs that can be rendered, in the overlays that limit their namespace. `gen render` reports the others."""
    for job, source in sources:
        for overlay in overlays:
            limited = bool(quotas(overlay, job.namespace))
            if source is not None and limited and selects(overlay, job.key, source.data):
                yield from render_job(source, job.namespace, overlay, Findings(), committed).rendered


def in_old_file(items: Sequence[Diagnostic], old: Source, new: Source, routes: Sequence[Route]) -> Iterator[Diagnostic]:
    """The findings at their places in the file that exists; `routes` are the fields that were set.

    A finding about such a field names it, because the file shows another value or none. Fixes are for the text that
    is not written, so they are left out.
    """
    if not items:
        return
    of_route = [(route, _set_places(route, old, new)) for route in routes]
    before = old.text.splitlines()
    changes = changed_lines(before, new.text.splitlines())
    for item in items:
        if item.place.file != old.file:
            yield item
            continue
        route = next((route for route, places in of_route if item.place in places), None)
        if route is None:
            line = min(_old_line(item.place.line - 1, changes), max(len(before) - 1, 0)) + 1
            yield replace(item, place=replace(item.place, line=line), fixes=())
        else:
            field = f"`{dotted(route, clipped)}`: "
            message = f"after setting {field}{item.message.removeprefix(field)}"
            yield replace(item, place=old.place(route), message=message, fixes=())


def _set_places(route: Route, old: Source, new: Source) -> list[Location]:
    """Places of the field in the new text, and of the mappings that were added around it."""
    existing = old.find(route).steps
    found = [new.find(route[:length]) for length in range(min(existing + 1, len(route)), len(route) + 1)]
    return [place for one in found for place in (one.key, one.value)]


def _old_line(line: int, changes: Iterable[Lines]) -> int:
    """The line of the old text that is equal, or where the new line would be inserted; from 0."""
    added = 0
    for start, end, first, last in changes:
        if line < first:
            break
        if line < last:
            return min(start + line - first, max(end - 1, 0))
        added = last - end
    return line - added


def job_findings(source: Source, job: JobFile, overlays: Sequence[Overlay]) -> Findings:
    """Findings of rendering in the overlays that select the job; without any, those of the job's model."""
    found = Findings()
    selected = [overlay for overlay in overlays if selects(overlay, job.key, source.data)]
    for overlay in selected:
        render_job(source, job.namespace, overlay, found)
    if not selected:
        parse_job(source, job.namespace, found)
    return found
