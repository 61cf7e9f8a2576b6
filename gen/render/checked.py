"""The objects of a run after the patches of the overlay and after the checks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gen.diagnostics import DefinitionError
from gen.overlay.definitions import report_invalid_definition
from gen.render.build.stage import build
from gen.render.check import check_manifests
from gen.render.deciding_field import Decided, deciding_field
from gen.render.patch.stage import apply_patches

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.diagnostics import Findings
    from gen.kinds.plan import Plan
    from gen.overlay.overlay import Overlay
    from gen.parallel import Steps
    from gen.render.job_run import JobRun
    from gen.render.manifest import Built, Patched, Valid
    from gen.rules.problem import Problem


def checked_run(run: JobRun, plan: Plan, overlay: Overlay, found: Findings) -> Steps[tuple[Patched, Valid] | None]:
    job = run.given.job
    built = build(job, plan)
    yield
    return (yield from checked_objects(built, overlay, found, partial(deciding_field, run.given), proven=job.proven))


def checked_objects(
    built: Built,
    overlay: Overlay,
    found: Findings,
    deciding: Callable[[Problem], Decided | None],
    *,
    proven: bool = True,
) -> Steps[tuple[Patched, Valid] | None]:
    """The objects after the patches, and after the checks; None if there is an error."""
    try:
        patched = apply_patches(built, overlay, found)
        yield
        valid = None if found.failed() else check_manifests(patched, overlay.kinds, found, deciding, proven=proven)
    except DefinitionError as error:
        report_invalid_definition(error, overlay, found)
        return None
    return (patched, valid) if valid is not None else None
