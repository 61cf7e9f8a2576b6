"""The object that starts the runs of a job at set times, for kinds that no CronJob can start: a CronWorkflow.

The run was patched and checked as one of its kind. Each workflow has a name with its time, and creates the run under
this name, so `TRIAL` becomes the name of the workflow here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from gen.kinds.pipeline import workflow_spec
from gen.kinds.plan import StepPlan
from gen.kubernetes import TRIAL, present
from gen.render.build.metadata import run_labels, run_metadata
from gen.render.build.stage import describe_run

if TYPE_CHECKING:
    from gen.kinds.plan import Plan
    from gen.kinds.schedule_plan import SchedulePlan
    from gen.render.manifest import Manifest
    from gen.resources.base import Resource

_STEP: Final = "run"
"""Name of the only step."""


def cron_workflow(manifest: Manifest, plan: Plan, schedule: SchedulePlan, facts: Resource) -> tuple[Manifest, ...]:
    """The schedule, and the run as its step. A pipeline is the workflow of the schedule, and its steps stay."""
    step = StepPlan(name=_STEP, needs=(), when="succeeded", facts=facts, plan=replace(plan, run=TRIAL))
    spec = manifest.body["spec"] if plan.steps else workflow_spec((step,), schedule.account, plan.on_exit)
    body = {
        "apiVersion": schedule.facts.api_version(schedule.facts.served[0]),
        "kind": schedule.facts.kind,
        "metadata": run_metadata(plan, plan.run, plan.kind),
        "spec": present(
            schedules=[schedule.cron],
            timezone=schedule.time_zone,
            concurrencyPolicy=schedule.concurrency,
            startingDeadlineSeconds=schedule.deadline,
            successfulJobsHistoryLimit=schedule.succeeded,
            failedJobsHistoryLimit=schedule.failed,
            suspend=True if plan.state == "suspended" else None,
            workflowMetadata={"labels": dict(sorted(run_labels(plan, plan.kind).items()))},
            workflowSpec=spec,
        ),
    }
    describe_run(body, plan)
    around = replace(manifest, body=body, suspend=schedule.facts.suspend or (), queue=None)
    if plan.steps:
        return (around,)
    metadata = {**manifest.body["metadata"], "name": TRIAL}
    return around, replace(manifest, body={**manifest.body, "metadata": metadata}, step=_STEP)
