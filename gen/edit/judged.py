"""Findings about the text of a job file, which may not be written yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Findings
from gen.overlay.select import selects
from gen.render.parse.job import parse_job
from gen.render.pipeline import render_job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.load import Source
    from gen.overlay.overlay import Overlay
    from gen.repository.layout import JobFile


def job_findings(source: Source, job: JobFile, overlays: Sequence[Overlay]) -> Findings:
    """Findings of rendering in the overlays that select the job; without any, those of the job's model."""
    found = Findings()
    selected = [overlay for overlay in overlays if selects(overlay, job.key, source.data)]
    for overlay in selected:
        render_job(source, job.namespace, overlay, found)
    if not selected:
        parse_job(source, job.namespace, None, found)
    return found
