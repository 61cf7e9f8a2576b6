"""The steps of a pipeline with a schedule: objects beside a run would be those of all of its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import with_article
from gen.findings.jobs import INVALID_VALUE
from gen.render.plan.schedule import ONCE

if TYPE_CHECKING:
    from gen.kinds.plan import Plan
    from gen.render.job_run import ExpandedStep


def check_scheduled(step: ExpandedStep, plan: Plan) -> None:
    """Report fields of a step that need an object of each run."""
    run = step.run
    if run is None or not run.later:
        return
    job, field = run.given.job, "files"
    if job.files:
        reason, hint = ONCE[field]
        message = f"a step of a pipeline with a `schedule` cannot have `{field}`: {reason}"
        step.found.error(INVALID_VALUE, run.given.place(field, key=True), message, hint)
    for body in job.companions(plan):
        kind = with_article(job.facts.kind)
        message = (
            f"{kind} with several pods needs a {body['kind']}, and Argo Workflows creates only one object for a step"
        )
        hint = "remove `workers`, or use a kind with an operator, such as `kind: pytorch`"
        step.found.error(INVALID_VALUE, run.given.place("workers"), message, hint)
