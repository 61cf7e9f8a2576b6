"""JAXJob of the Kubeflow training operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from gen.kinds.kubeflow import UNBUFFERED, KubeflowJob, replica_specs
from gen.kinds.role import Role
from gen.kubernetes import Body, present
from gen.model.base import Model, default
from gen.model.pods import RoleFields
from gen.model.validators import WhenGiven
from gen.resources.kubeflow import JAXJOB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kinds.plan import Plan
    from gen.resources.base import Resource


class JAXRoles(Model):
    """Values for a single role."""

    worker: WhenGiven[RoleFields] | None = None
    """Training pods."""


class JAXJob(KubeflowJob):
    """Distributed JAX. `workers` is the number of pods; the first one is the coordinator."""

    facts: ClassVar[Resource] = JAXJOB
    # training-operator `pkg/controller.v1/jax/envvar.go`: appended behind the user's environment
    reserved_env: ClassVar[frozenset[str]] = frozenset(
        {"COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID"}
    )
    fixed_env: ClassVar[Mapping[str, str]] = UNBUFFERED
    example: ClassVar[Mapping[str, object]] = {
        "image": "registry.example.com/team/jax:0.7",
        "command": "python train.py",
        "workers": 2,
        "gpus": 1,
    }

    kind: Literal["jax"]
    """Kind of job."""
    roles: JAXRoles = default(JAXRoles)
    """Values for single roles, which override those of the job."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:  # noqa: ARG002 - the operator names the pods
        return (Role(name="worker", replica_type="Worker", replicas=self.workers, fields=self.roles.worker),)

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        return present(runPolicy=self.run_policy(plan), jaxReplicaSpecs=replica_specs(plan, pods))
