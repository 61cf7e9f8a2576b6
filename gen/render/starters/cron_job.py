"""A CronJob, which starts Jobs of Kubernetes at set times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from gen.base.placeholders import RUN
from gen.job.kinds import ALL_KINDS
from gen.job.plan import Plan
from gen.kubernetes.facts.base import Path, Resource
from gen.kubernetes.facts.builtin import CRONJOB
from gen.kubernetes.objects import JOB_LABEL, RUN_LABEL, Body, present
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.engines.base import Workload
from gen.render.parts.metadata import queue_labels
from gen.render.starters.schedule import ScheduleStarter


class CronJob(ScheduleStarter, frozen=True, kw_only=True):
    name: ClassVar[str] = CRONJOB.kind

    def suspend(self, facts: Resource) -> Path | None:
        return self.facts.suspend

    def scheduled(self, workload: Body, plan: Plan) -> Body:
        """The schedule of a workload. A queue admits each run, so the template has its labels."""
        facts, spec = self.facts, dict(workload["spec"])
        suspend = spec.pop("suspend", None)  # of the schedule, and not of its runs
        labels = dict(sorted({JOB_LABEL: plan.job, RUN_LABEL: RUN, **queue_labels(plan)}.items()))
        times = present(
            schedule=self.cron,
            timeZone=self.time_zone,
            concurrencyPolicy=self.concurrency,
            startingDeadlineSeconds=self.deadline,
            successfulJobsHistoryLimit=self.succeeded,
            failedJobsHistoryLimit=self.failed,
            suspend=suspend,
            jobTemplate={"metadata": {"labels": labels}, "spec": spec},
        )
        return {**workload, "apiVersion": facts.api_version(facts.served[0]), "kind": facts.kind, "spec": times}

    @classmethod
    def health(cls, overlay: Overlay, rendered: set[str]) -> Iterator[Workload]:
        if str(CRONJOB) in rendered or CRONJOB.key in cls.permitted(overlay):
            yield Workload(api_version=CRONJOB.api_version(CRONJOB.served[0]), resource=CRONJOB)

    @classmethod
    def permitted(cls, overlay: Overlay) -> Iterator[tuple[str, str]]:
        listed = [ALL_KINDS[kind].facts.scheduled_by for kind in overlay.fields.operators if kind in ALL_KINDS]
        yield from (schedule.key for schedule in listed if schedule is not None and not schedule.is_workflow)
