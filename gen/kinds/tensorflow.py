"""TFJob of the Kubeflow training operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from gen.kinds.kubeflow import KubeflowJob, replica_specs
from gen.kinds.role import Role
from gen.kubernetes import Body, present
from gen.model.base import Model
from gen.model.job import ReplicatedRole, RoleFields
from gen.resources.kubeflow import TFJOB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kinds.plan import Plan
    from gen.resources.base import Resource


class TensorFlowRoles(Model):
    """Values of one role alone. A role that is not written down has no pods, but for the workers."""

    chief: RoleFields | None = None
    """The pod that coordinates and saves; the job ends with it. Once called master."""
    worker: ReplicatedRole | None = None
    """The pods that train; their number is the job's `workers` unless said here."""
    ps: ReplicatedRole | None = None
    """The parameter servers. They get none of the job's GPUs, CPU and memory."""
    evaluator: ReplicatedRole | None = None
    """The pods that evaluate checkpoints."""


class TensorFlowJob(KubeflowJob):
    """Distributed TensorFlow. `workers` counts the pods of the role worker."""

    facts: ClassVar[Resource] = TFJOB
    reserved_env: ClassVar[frozenset[str]] = frozenset({"TF_CONFIG"})
    example: ClassVar[Mapping[str, object]] = {
        "image": "tensorflow/tensorflow:2.20.0-gpu",
        "command": "python train.py",
        "workers": 2,
        "gpus": 1,
    }

    kind: Literal["tensorflow"]
    """Kind of job."""
    roles: TensorFlowRoles = TensorFlowRoles()
    """Values of one role alone, over the job's; a role that is written down has pods."""
    success_policy: Literal["AllWorkers"] | None = None
    """Without a chief: `AllWorkers` waits for every worker, and not for the first one alone."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:  # noqa: ARG002 - the operator names the pods
        roles = self.roles
        worker = roles.worker or ReplicatedRole(replicas=self.workers)
        every = (
            Role(name="chief", replica_type="Chief", replicas=int(roles.chief is not None), fields=roles.chief),
            Role(name="worker", replica_type="Worker", replicas=_count(worker, self.workers), fields=worker),
            Role(name="ps", replica_type="PS", replicas=_count(roles.ps), fields=roles.ps, trains=False),
            Role(
                name="evaluator",
                replica_type="Evaluator",
                replicas=_count(roles.evaluator),
                fields=roles.evaluator,
            ),
        )
        return tuple(role for role in every if role.replicas > 0)

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        return present(
            successPolicy=self.success_policy,
            runPolicy=self.run_policy(plan),
            tfReplicaSpecs=replica_specs(plan, pods),
        )


def _count(fields: ReplicatedRole | None, otherwise: int = 1) -> int:
    """A role that is written down has one pod unless it says how many."""
    if fields is None:
        return 0
    return otherwise if fields.replicas is None else fields.replicas
