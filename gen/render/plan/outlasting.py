"""Pods that go on after the end of their run. Quotas count them until the end of the run, when the next one starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.findings.jobs import INVALID_VALUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.render.job_run import ExpandedStep
    from gen.render.plan.context import Context


def check_repeated(context: Context) -> None:
    """Report pods that outlast a run of a schedule, or a trial of a search."""
    job = context.job
    if job.outlasting and (job.schedule is not None or job.search is not None):
        one, whole = ("run", "schedule") if job.schedule is not None else ("trial", "search")
        message = f"`{job.outlasting}` keeps pods after the end of a {one}, when the {whole} can start the next one"
        context.error(INVALID_VALUE, (job.outlasting,), message, _hint(job.outlasting), key=True)


def check_followed(steps: Sequence[ExpandedStep]) -> None:
    """Report pods that outlast a step which others need."""
    needed = {need: step.name for step in steps for need in step.order.needs}
    for step in steps:
        if step.run is not None and step.name in needed and (field := step.run.given.job.outlasting):
            message = f"`{field}` keeps pods after the end of the step, when `{needed[step.name]}` can start"
            step.found.error(INVALID_VALUE, step.run.given.place(field, key=True), message, _hint(field))


def _hint(field: str) -> str:
    return f"remove `{field}`: quotas would not count pods of both"
