"""Jobs with their images and refs, for `gen pin`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Findings
from gen.edit.pinning import JobPins
from gen.findings.files import NOT_A_FILE
from gen.overlay.extensions import load_extensions
from gen.overlay.read import OverlayReader
from gen.pins.lock import Lock
from gen.pins.read import read_lock
from gen.render.pinnable import pinnable
from gen.repository.job_files import all_jobs, chosen_jobs
from gen.repository.safe_files import MAX_BYTES, read_regular

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gen.repository.layout import JobFile


def chosen(root: Path, patterns: Sequence[str], found: Findings, *, asking: bool, strict: bool) -> list[JobPins]:
    """The jobs that patterns name, or all. An invalid lock counts as empty, unless `strict` or a link."""
    load_extensions(root)
    overlays = OverlayReader(root, found).read()
    files = chosen_jobs(root, patterns, found) if patterns else all_jobs(root, found)
    jobs = []
    for job in files:
        own = Findings()
        lock = read_lock(root, job, own)
        kept = strict or asking or any(item.code == NOT_A_FILE.name for item in own)
        if lock is None and kept:
            found.extend(own.items)
            continue
        if asking and not (lock is not None and lock.updates):
            continue
        pins = pinnable(root, job, overlays, lock or Lock(file=job.lock), found)
        if pins is not None:
            jobs.append(JobPins(job=job, pins=pins, text=_text(root, job) if lock is not None else ""))
    return jobs


def _text(root: Path, job: JobFile) -> str:
    """The text of a valid lock; empty if there is none."""
    try:
        return read_regular(root / job.lock, MAX_BYTES).decode("utf-8")
    except FileNotFoundError:
        return ""
