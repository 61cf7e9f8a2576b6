"""Quotas for jobs that `gen set` edits, together with the other jobs of their namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Findings
from gen.load import read, source_of
from gen.overlay.select import selects
from gen.render.committed.read import CommittedRuns
from gen.render.pipeline import render_job
from gen.render.quota import check_quotas, quotas, requested_by
from gen.repository.job_files import all_jobs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from gen.load import Source
    from gen.overlay.overlay import Overlay
    from gen.render.results import RenderedJob
    from gen.repository.layout import JobFile


def check_quota(root: Path, edited: Mapping[JobFile, bytes], overlays: Sequence[Overlay], found: Findings) -> None:
    """Report the quotas that are exceeded after the edit, unless it does not increase the request."""
    namespaces = {job.namespace for job in edited}
    limited = [overlay for overlay in overlays if any(quotas(overlay, name) for name in namespaces)]
    if not limited:
        return
    committed = CommittedRuns.of(root)
    others = [job for job in all_jobs(root, Findings()) if job.namespace in namespaces and job not in edited]
    unchanged = requested_by(_rendered(((job, read(root, job.file, Findings())) for job in others), limited, committed))
    before = requested_by(_rendered(((job, read(root, job.file, Findings())) for job in edited), limited, committed))
    sources = ((job, source_of(raw, job.file, Findings())) for job, raw in edited.items())
    after = requested_by(_rendered(sources, limited, committed))
    check_quotas(
        {key: unchanged[key] + amount for key, amount in after.items() if amount > before[key]}, limited, found
    )


def _rendered(
    sources: Iterable[tuple[JobFile, Source | None]], overlays: Sequence[Overlay], committed: CommittedRuns
) -> Iterator[RenderedJob]:
    """Jobs that can be rendered, in the overlays that limit their namespace. `gen render` reports the others."""
    for job, source in sources:
        for overlay in overlays:
            limited = bool(quotas(overlay, job.namespace))
            if source is not None and limited and selects(overlay, job.key, source.data):
                yield from render_job(source, job.namespace, overlay, Findings(), committed).rendered
