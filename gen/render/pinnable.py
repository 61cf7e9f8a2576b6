"""Images and refs that the runs of a job look up in its lock in all overlays, without rendering them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Findings
from gen.findings.pins import MUTABLE_REF
from gen.load import read
from gen.overlay.select import selects
from gen.render.expand import expand
from gen.render.parse.job import read_job
from gen.render.pipeline import plan_run
from gen.render.plan.lookups import Pins

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gen.overlay.overlay import Overlay
    from gen.pins.lock import Lock
    from gen.repository.layout import JobFile


def pinnable(root: Path, job: JobFile, overlays: Sequence[Overlay], lock: Lock, found: Findings) -> Pins | None:
    """None for a job with errors, which are reported, for one that no overlay selects, and for a finished one."""
    own = Findings()
    source = read(root, job.file, own)
    if source is None:
        found.extend(own.items)
        return None
    pins = Pins(lock=lock)
    selected = [one for one in overlays if selects(one, job.key, source.data)]
    for overlay in selected:
        written = read_job(source, job.namespace, overlay, own)
        for run in expand(written, overlay, own) if written is not None else ():
            plan = plan_run(run, overlay, pins)
            own.extend(run.found.items)
            pins.finished = pins.finished or (plan is not None and plan.state == "finished")
    errors = [item for item in own if item.is_error and item.code != MUTABLE_REF.name]
    found.extend(errors)
    return pins if selected and not errors and not pins.finished else None
