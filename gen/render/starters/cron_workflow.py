"""A CronWorkflow, which starts runs at set times for kinds that no CronJob can start, and pipelines.

The run was patched and checked as one of its kind. Each workflow has a name with its time, and creates the run under
this name, so `TRIAL` becomes the name of the workflow here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from msgspec.structs import replace

from gen.base.codes.grants import NO_PIPELINES
from gen.base.codes.jobs import INVALID_VALUE
from gen.base.placeholders import TRIAL
from gen.base.yaml.strict import Data
from gen.job.fields import Schedule
from gen.job.kinds.base import Job
from gen.job.plan import Plan, StepPlan
from gen.kubernetes.facts.argo import CRON_WORKFLOW, WORKFLOW
from gen.kubernetes.facts.base import Path, Resource
from gen.kubernetes.objects import present
from gen.render.emit import SCHEDULE
from gen.render.parts.context import Context
from gen.render.parts.metadata import describe_run, run_labels, run_metadata
from gen.render.results import Manifest
from gen.render.starters.schedule import ScheduleStarter
from gen.render.starters.workflow import ArgoStarter

_STEP: Final = "run"
"""Name of the only step."""


class CronWorkflow(ArgoStarter, ScheduleStarter, frozen=True, kw_only=True):
    name: ClassVar[str] = CRON_WORKFLOW.kind
    inner: ClassVar[bool] = True
    named_later: ClassVar[bool] = True
    argo_kind: ClassVar[Resource] = CRON_WORKFLOW
    run_digits: ClassVar[int] = 2
    """Digits of the time in the name of a workflow, beyond those of a hash (`workflow/cron/operator.go` of Argo)."""
    creator: ClassVar[str] = "Argo Workflows"
    phrase: ClassVar[str] = "a `schedule`"

    @classmethod
    def makes(cls, resource: Resource) -> bool:
        return resource.is_schedule and resource.is_workflow

    @classmethod
    def starts(cls, model: type[Job], data: Mapping[str, Data]) -> bool:
        facts = model.facts.scheduled_by
        return SCHEDULE in data and facts is not None and facts.is_workflow

    @classmethod
    def suffix(cls, suffix: str, room: int, *, aside: bool) -> tuple[str, int]:
        return suffix, room if aside else room + cls.run_digits

    @classmethod
    def _account(cls, context: Context) -> str:
        argo = context.overlay.argo
        if argo is not None:
            return argo.service_account
        message = f"overlay `{context.overlay.name}` has no `pipelines`, which start jobs of `kind: {context.job.kind}`"
        hint = "add `pipelines: {argo: {serviceAccount: …}}` to the overlay, or use `kind: batch`"
        context.error(NO_PIPELINES, (SCHEDULE,), message, hint, key=True)
        return ""

    @classmethod
    def _failed_runs(cls, context: Context, wanted: Schedule) -> int:
        """The failed workflows to keep. One that was replaced has failed, and keeps the objects of its steps, which go
        on: `terminateOutstandingWorkflows` in `workflow/cron/operator.go` of Argo Workflows ends only its own pods.
        """
        kept = wanted.history.failed
        if wanted.concurrency != "Replace":
            return kept
        if kept and "failed" in wanted.history.model_fields_set:
            message = "a job with `concurrency: Replace` cannot keep failed runs: a run that was replaced would go on"
            hint = "remove `failed`, or use `concurrency: Forbid`"
            context.error(INVALID_VALUE, (SCHEDULE, "history", "failed"), message, hint)
        return 0

    def suspend(self, facts: Resource) -> Path | None:
        return None

    def around(self, workload: Manifest, plan: Plan, facts: Resource) -> tuple[Manifest, ...]:
        """The schedule, and the run as its step. A pipeline is the workflow of the schedule, and its steps stay."""
        from gen.job.kinds.pipeline import workflow_spec

        step = StepPlan(name=_STEP, needs=(), when="succeeded", facts=facts, plan=replace(plan, run=TRIAL))
        spec = workload.body["spec"] if plan.steps else workflow_spec((step,), self.account, plan.on_exit)
        body = {
            "apiVersion": self.facts.api_version(self.facts.served[0]),
            "kind": self.facts.kind,
            "metadata": run_metadata(plan, plan.run, plan.kind),
            "spec": present(
                schedules=[self.cron],
                timezone=self.time_zone,
                concurrencyPolicy=self.concurrency,
                startingDeadlineSeconds=self.deadline,
                successfulJobsHistoryLimit=self.succeeded,
                failedJobsHistoryLimit=self.failed,
                suspend=True if plan.state == "suspended" else None,
                workflowMetadata={"labels": dict(sorted(run_labels(plan, plan.kind).items()))},
                workflowSpec=spec,
            ),
        }
        describe_run(body, plan)
        around = replace(workload, body=body, suspend=self.facts.suspend or (), queue=None)
        if plan.steps:
            return (around,)
        metadata = {**workload.body["metadata"], "name": TRIAL}
        return around, replace(workload, body={**workload.body, "metadata": metadata}, step=_STEP)

    @classmethod
    def started_kinds(cls) -> Iterator[Resource]:
        yield WORKFLOW
