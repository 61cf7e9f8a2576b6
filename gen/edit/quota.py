"""Whether edited jobs ask for more GPUs than their namespaces are granted, together with the jobs beside them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gen.diagnostics import Findings
from gen.load import read, source_of
from gen.overlay.select import selects
from gen.render.crosscheck import judge_quota
from gen.render.pipeline import render_job
from gen.repository.job_files import all_jobs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from gen.load import Source
    from gen.overlay.overlay import Overlay
    from gen.repository.layout import JobFile

Wanted = Counter[tuple[str, str]]
"""GPUs by overlay and namespace."""


def check_quota(root: Path, edited: Mapping[JobFile, bytes], overlays: Sequence[Overlay], found: Findings) -> None:
    """Report the quotas that the new texts of jobs exceed, unless they ask for no more than before."""
    namespaces = {job.namespace for job in edited}
    limited = [overlay for overlay in overlays if any(_is_limited(overlay, name) for name in namespaces)]
    if not limited:
        return
    beside = [job for job in all_jobs(root, Findings()) if job.namespace in namespaces and job not in edited]
    others = _wanted(((job, read(root, job.file, Findings())) for job in beside), limited)
    after = _wanted(((job, source_of(raw, job.file, Findings())) for job, raw in edited.items()), limited)
    before = _wanted(((job, read(root, job.file, Findings())) for job in edited), limited)
    for overlay in limited:
        for namespace in sorted(namespaces):
            key = overlay.name, namespace
            if after[key] > before[key]:
                judge_quota(overlay, namespace, others[key] + after[key], found)


def _is_limited(overlay: Overlay, namespace: str) -> bool:
    grant = overlay.grant(namespace)
    return grant is not None and grant.gpus is not None


def _wanted(sources: Iterable[tuple[JobFile, Source | None]], overlays: Sequence[Overlay]) -> Wanted:
    """What jobs ask for; nothing where one does not render, which is told elsewhere."""
    wanted: Wanted = Counter()
    for job, source in sources:
        for overlay in overlays:
            if source is not None and selects(overlay, job.key) and _is_limited(overlay, job.namespace):
                outcome = render_job(source, job.namespace, overlay, Findings())
                wanted[overlay.name, job.namespace] += outcome.gpus if outcome is not None else 0
    return wanted
