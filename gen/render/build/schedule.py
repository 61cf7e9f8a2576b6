"""The object that starts the runs of a job at set times.

It keeps its name, and an edit changes it in place: the runs belong to it, so removing it would stop them, and an edit
concerns later runs only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import JOB_LABEL, RUN, RUN_LABEL, Body, present
from gen.render.build.metadata import queue_labels

if TYPE_CHECKING:
    from gen.kinds.plan import Plan
    from gen.kinds.schedule_plan import SchedulePlan


def scheduled(workload: Body, plan: Plan, schedule: SchedulePlan) -> Body:
    """The schedule of a workload. A queue admits each run, so the template has its labels."""
    facts, spec = schedule.facts, dict(workload["spec"])
    suspend = spec.pop("suspend", None)  # of the schedule, and not of its runs
    labels = dict(sorted({JOB_LABEL: plan.job, RUN_LABEL: RUN, **queue_labels(plan)}.items()))
    times = present(
        schedule=schedule.cron,
        timeZone=schedule.time_zone,
        concurrencyPolicy=schedule.concurrency,
        startingDeadlineSeconds=schedule.deadline,
        successfulJobsHistoryLimit=schedule.succeeded,
        failedJobsHistoryLimit=schedule.failed,
        suspend=suspend,
        jobTemplate={"metadata": {"labels": labels}, "spec": spec},
    )
    return {**workload, "apiVersion": facts.api_version(facts.served[0]), "kind": facts.kind, "spec": times}
