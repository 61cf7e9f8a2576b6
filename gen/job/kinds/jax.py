"""JAXJob of the Kubeflow training operator."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from gen.job.kinds.kubeflow import EXAMPLE, UNBUFFERED, KubeflowJob
from gen.job.kinds.rendezvous import JAX, Rendezvous
from gen.job.kinds.role import Role
from gen.job.model import Model, default
from gen.job.pods import RoleFields
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.kubeflow import JAX_PORT, JAXJOB

_PORT: Final = 6666
"""That of `COORDINATOR_PORT` (`JAXJobDefaultPort` in `pkg/apis/kubeflow.org/v1/jax_types.go` of the operator)."""


class JAXRoles(Model):
    """Values for a single role."""

    worker: RoleFields | None = None
    """Training pods."""


class JAXJob(KubeflowJob):
    """Distributed JAX. `workers` is the number of pods; the first one is the coordinator."""

    facts: ClassVar[Resource] = JAXJOB
    read_ports: ClassVar[Mapping[str, int]] = dict([JAX_PORT])
    # training-operator `pkg/controller.v1/jax/envvar.go`: appended behind the user's environment
    reserved_env: ClassVar[frozenset[str]] = frozenset(
        {"COORDINATOR_ADDRESS", "COORDINATOR_PORT", "NUM_PROCESSES", "PROCESS_ID"}
    )
    fixed_env: ClassVar[Mapping[str, str]] = UNBUFFERED
    example: ClassVar[Mapping[str, object]] = {"image": "registry.example.com/team/jax:0.7", **EXAMPLE}

    kind: Literal["jax"]
    """Kind of job."""
    roles: JAXRoles = default(JAXRoles)
    """Values for single roles, which override those of the job."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        rendezvous = Rendezvous(
            families=(JAX,), pods=self.workers, address=f"{run}-worker-0", port=_PORT, rank=self.facts.pod_index[0]
        )
        return (
            Role(
                name="worker",
                replica_type="Worker",
                replicas=self.workers,
                fields=self.roles.worker,
                rendezvous=rendezvous,
            ),
        )
