"""The steps of a pipeline that gets the names of its runs later: all runs would share an object of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.diagnostics import with_article
from gen.findings.jobs import INVALID_VALUE
from gen.render.plan.schedule import ONCE
from gen.render.record import KFP, SCHEDULE

if TYPE_CHECKING:
    from gen.kinds.plan import Plan
    from gen.render.job_run import ExpandedStep

_CREATORS: Final = {SCHEDULE: "Argo Workflows", KFP: "Kubeflow Pipelines"}
"""What creates the objects of steps, by the field of the pipeline that gives its runs their names later."""


def check_named_later(step: ExpandedStep, plan: Plan) -> None:
    """Report fields of a step that need an object of each run."""
    run = step.run
    if run is None or run.later not in _CREATORS:  # a pipeline with a `search` has its own finding
        return
    job, field = run.given.job, "files"
    if job.files:
        reason, hint = ONCE[field]
        with_what = "a `schedule`" if run.later == SCHEDULE else f"`{run.later}`"
        message = f"a step of a pipeline with {with_what} cannot have `{field}`: {reason}"
        step.found.error(INVALID_VALUE, run.given.place(field, key=True), message, hint)
    for body in job.companions(plan):
        kind = with_article(job.facts.kind)
        creator = _CREATORS[run.later]
        message = f"{kind} with several pods needs a {body['kind']}, and {creator} creates only one object for a step"
        hint = "remove `workers`, or use a kind with an operator, such as `kind: pytorch`"
        step.found.error(INVALID_VALUE, run.given.place("workers"), message, hint)
