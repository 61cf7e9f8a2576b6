"""A plain Kubernetes Job for `torch.distributed`, for clusters without a training operator.

Indexed completions give each pod its rank and a stable host name, and a headless Service gives it an address, as in the
Kubernetes documentation "Job with Pod-to-Pod Communication".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal

from gen.kinds.indexed import FailureRule, IndexedJob, field_variable
from gen.kinds.retries import counted_failures, counted_restarts
from gen.kinds.role import Role
from gen.kubernetes import COMPONENT, JOB_LABEL, RUN, RUN_LABEL, Body, present
from gen.model.base import Model
from gen.model.pods import RoleFields
from gen.resources.batch import CRONJOB, JOB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kinds.plan import Plan
    from gen.resources.base import Resource


_JOB_NAME: Final = "JOB_NAME"


class BatchRoles(Model):
    """Values for a single role."""

    worker: RoleFields | None = None
    """Training pods."""


class BatchJob(IndexedJob):
    """`torch.distributed` on a plain Kubernetes Job. `workers` is the number of pods, with ranks from 0."""

    facts: ClassVar[Resource] = JOB
    called: ClassVar[tuple[str, ...]] = ("k8sjob", "indexedjob")

    kind: Literal["batch"]
    """Kind of job."""
    roles: BatchRoles = BatchRoles()
    """Values for single roles, which override those of the job."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        return (
            Role(
                name="worker",
                replica_type="Worker",
                replicas=self.workers,
                fields=self.roles.worker,
                env=self._environment(run),
                ports=self.rendezvous_ports,
                subdomain=None if self._is_alone else run,
            ),
        )

    @property
    def _is_alone(self) -> bool:
        """Whether it is a trial of one pod, which needs no address: Katib makes no Service for a trial."""
        return self.search is not None and self.workers == 1

    def _environment(self, run: str) -> tuple[Body, ...]:
        """Each run of a schedule has a name of its own, which its pods know."""
        if self._is_alone:
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
        return present(
            completionMode="Indexed",
            completions=self.workers,
            parallelism=self.workers,
            backoffLimit=count(plan.retries or 0, self.workers),
            activeDeadlineSeconds=plan.timeout,
            podFailurePolicy=present(rules=self.failure_rules(rules) if never else None),
            template=pods["worker"],
        )

    def companions(self, plan: Plan) -> tuple[Body, ...]:
        if self._is_alone:
            return ()
        service = {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,  # rank 0 must be found before it is ready
            "selector": {JOB_LABEL: plan.job, RUN_LABEL: RUN} if plan.schedule is None else _any_run(plan),
            "ports": [{"name": "rendezvous", "port": self.master_port, "protocol": "TCP"}],
        }
        return ({"apiVersion": "v1", "kind": "Service", "metadata": {"name": plan.run}, "spec": service},)


def _any_run(plan: Plan) -> dict[str, str]:
    """The pods of all runs of a schedule: an edit must not take the address from those that are running."""
    return {JOB_LABEL: plan.job, COMPONENT: plan.pods[0].role.name}
