"""A plain Kubernetes Job for `torch.distributed`, for clusters without a training operator.

Indexed completions give each pod its rank and a stable host name, and a headless Service gives it an address, as in the
Kubernetes documentation "Job with Pod-to-Pod Communication".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from gen.kinds.base import Problem
from gen.kinds.indexed import FailureRule, IndexedJob, field_variable
from gen.kinds.retries import counted_failures, counted_restarts
from gen.kinds.role import Role
from gen.kinds.task_array import TaskArray, array_problems, counts_of_tasks, task_counts, tasks_at_once
from gen.kubernetes import COMPONENT, JOB_LABEL, RUN, RUN_LABEL, STEP_LABEL, TRIAL, Body, present, with_field
from gen.model.base import Model, OrMapping, default
from gen.model.pods import RoleFields
from gen.model.scalars import Duration, Truth
from gen.model.validators import WhenGiven
from gen.resources.batch import CRONJOB, JOB, POD_DEADLINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.kinds.plan import Plan
    from gen.kinds.role import Target
    from gen.resources.base import Resource


_JOB_NAME: Final = "JOB_NAME"


class BatchRoles(Model):
    """Values for a single role."""

    worker: WhenGiven[RoleFields] | None = None
    """Training pods."""


class BatchJob(IndexedJob):
    """`torch.distributed` on a plain Kubernetes Job. `workers` is the number of pods, with ranks from 0."""

    facts: ClassVar[Resource] = JOB
    called: ClassVar[tuple[str, ...]] = ("k8sjob", "indexedjob")

    kind: Literal["batch"]
    """Kind of job."""
    roles: BatchRoles = default(BatchRoles)
    """Values for single roles, which override those of the job."""

    array: OrMapping[Truth, TaskArray] = False
    """Run `workers` independent tasks instead of pods that train together. `JOB_COMPLETION_INDEX` is the index of a
    task and `TASK_COUNT` their number; `retries` counts for each task."""
    attempt_timeout: Duration | None = None
    """Maximum run time of one attempt: a pod that takes longer fails, and counts towards `retries`. `timeout` limits
    all attempts together. Requires `restart: Never`."""

    @classmethod
    def read_counts(cls, spec: Body) -> Mapping[str, Any]:
        return counts_of_tasks(spec)

    @property
    def tasks(self) -> TaskArray | None:
        """None for pods that train together."""
        if isinstance(self.array, TaskArray):
            return self.array
        return TaskArray() if self.array else None

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        if self.tasks is not None:
            return (
                Role(
                    name="worker",
                    replica_type="Worker",
                    replicas=tasks_at_once(self, self.tasks),
                    least=1,
                    fields=self.roles.worker,
                    env=({"name": "TASK_COUNT", "value": str(self.workers)},),
                    indices=(self.workers,),
                ),
            )
        return (
            Role(
                name="worker",
                replica_type="Worker",
                replicas=self.workers,
                fields=self.roles.worker,
                env=self._environment(run),
                ports=self.rendezvous_ports,
                subdomain=None if self._is_alone(run) else run,
            ),
        )

    def _is_alone(self, run: str) -> bool:
        """Whether it is one pod of an object that gets its name later, which needs no address: nothing makes a Service
        for a trial, and for a step of a pipeline with a schedule.
        """
        return TRIAL in run and self.workers == 1

    def _environment(self, run: str) -> tuple[Body, ...]:
        """Each run of a schedule has a name of its own, which its pods know."""
        if self._is_alone(run):
            return self.rendezvous("localhost", 1)
        if self.schedule is None:
            return self.rendezvous(f"{run}-0.{run}", self.workers)
        return (field_variable(_JOB_NAME, CRONJOB.pod_run), *self.rendezvous(f"$({_JOB_NAME})-0.{run}", self.workers))

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        never = plan.pods[0].role.restart == "Never"
        count = counted_failures if never else counted_restarts
        rules = self.pod_failure_policy
        if rules is None:  # drained nodes do not count
            rules = (FailureRule(action="Ignore", condition="DisruptionTarget"),)
        together = {
            "completions": self.workers,
            "parallelism": self.workers,
            "backoffLimit": count(plan.retries or 0, self.workers),
        }
        template = pods["worker"]
        if self.attempt_timeout is not None:
            template = with_field(template, POD_DEADLINE, self.attempt_timeout)
        return present(
            completionMode="Indexed",
            **(task_counts(self, self.tasks, plan.retries) if self.tasks is not None else together),
            activeDeadlineSeconds=plan.timeout,
            podFailurePolicy=present(rules=self.failure_rules(rules) if never else None),
            template=template,
        )

    def problems(self, target: Target) -> Iterable[Problem]:
        yield from super().problems(target)
        if self.tasks is not None:
            yield from array_problems(self, self.tasks)
        yield from self._attempt_problems()
        for index, rule in enumerate(self.pod_failure_policy or ()):
            if rule.action == "FailIndex" and self.tasks is None:
                message = "`FailIndex` ends one task, and only an array has tasks"
                yield Problem(("podFailurePolicy", index, "action"), message, "add `array: true`, or use `FailJob`")

    def _attempt_problems(self) -> Iterable[Problem]:
        if self.attempt_timeout is None:
            return
        if self.restart == "OnFailure":
            message = "`attemptTimeout` requires `restart: Never`, because a restarted container is in the same pod"
            yield Problem(("restart",), message, "remove `restart`")
        if self.timeout is not None and self.attempt_timeout >= self.timeout:
            message = "`attemptTimeout` has no effect: `timeout`, which limits all attempts, is not longer"
            yield Problem(("attemptTimeout",), message, "use a longer `timeout`, or remove it", no_effect=True)

    def companions(self, plan: Plan) -> tuple[Body, ...]:
        if self.tasks is not None or self._is_alone(plan.object_name):
            return ()
        service = {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,  # rank 0 must be found before it is ready
            "selector": _this_run(plan) if plan.schedule is None else _any_run(plan),
            "ports": [{"name": "rendezvous", "port": self.master_port, "protocol": "TCP"}],
        }
        return ({"apiVersion": "v1", "kind": "Service", "metadata": {"name": plan.run}, "spec": service},)


def _this_run(plan: Plan) -> dict[str, str]:
    labels = {JOB_LABEL: plan.job, RUN_LABEL: RUN}
    return {**labels, STEP_LABEL: plan.step} if plan.step else labels


def _any_run(plan: Plan) -> dict[str, str]:
    """The pods of all runs of a schedule: an edit must not take the address from those that are running."""
    return {JOB_LABEL: plan.job, COMPONENT: plan.pods[0].role.name}
