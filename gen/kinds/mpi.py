"""MPIJob of the MPI operator (v2beta1) or the training operator (v1). A cluster can serve only one version."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from gen.kinds.base import Problem
from gen.kinds.kubeflow import KubeflowJob, replica_specs
from gen.kinds.role import Role
from gen.kubernetes import Body, present
from gen.model.base import Model
from gen.model.job import RoleFields
from gen.model.names import MountPath
from gen.model.scalars import Positive
from gen.resources.kubeflow import MPIJOB, V1, V2

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.kinds.plan import Plan
    from gen.resources.base import Resource


class MPIRoles(Model):
    """Values for single roles."""

    launcher: RoleFields | None = None
    """The pod that runs the command. It does not get the GPUs, CPU and memory of the job."""
    worker: RoleFields | None = None
    """The pods that train. They wait for the launcher and need no command."""


class MPIJob(KubeflowJob):
    """Horovod and other MPI programs. `workers` is the number of pods that train, without the launcher."""

    facts: ClassVar[Resource] = MPIJOB
    # mpi-operator `pkg/controller/mpi_job_controller.go`: appended behind the user's environment
    reserved_env: ClassVar[frozenset[str]] = frozenset(
        {"K_MPI_JOB_ROLE", "OMPI_MCA_orte_default_hostfile", "OMPI_MCA_orte_keep_fqdn_hostnames"}
        | {"OMPI_MCA_plm_rsh_args", "I_MPI_HYDRA_HOST_FILE", "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS"}
        | {"HYDRA_HOST_FILE", "HYDRA_LAUNCH_EXTRA_ARGS"}
    )
    example: ClassVar[Mapping[str, object]] = {
        "image": "horovod/horovod:0.28.1",
        "command": "mpirun -np 2 python train.py",
        "workers": 2,
        "gpus": 1,
    }

    kind: Literal["mpi"]
    """Kind of job."""
    roles: MPIRoles = MPIRoles()
    """Values for single roles, which override those of the job."""
    slots_per_worker: Positive | None = None
    """MPI slots of each worker. [default: its number of GPUs, or 1]"""
    implementation: Literal["OpenMPI", "Intel", "MPICH"] | None = None
    """MPI implementation of the image. [default: OpenMPI] Only with `kubeflow.org/v2beta1`."""
    ssh_auth_mount_path: MountPath | None = None
    """Mount path of the SSH keys, for images that do not run as root. Only with `kubeflow.org/v2beta1`."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:  # noqa: ARG002 - the operator names the pods
        launcher = Role(
            name="launcher",
            replica_type="Launcher",
            replicas=1,
            fields=self.roles.launcher,
            trains=False,
            suffix="-launcher",
        )
        # the operator runs sshd (v2beta1) or sleep (v1) in a worker, and restarts a failed worker itself
        worker = Role(
            name="worker",
            replica_type="Worker",
            replicas=self.workers,
            fields=self.roles.worker,
            runs=False,
            restart="Never",
        )
        return launcher, worker

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        worker = next(pod.role for pod in plan.pods if not pod.role.runs)
        return present(
            slotsPerWorker=self.slots_per_worker or max(worker.gpus, 1),
            mpiImplementation=self.implementation,
            sshAuthMountPath=self.ssh_auth_mount_path,
            runPolicy=self.run_policy(plan),
            mpiReplicaSpecs=replica_specs(plan, pods),
        )

    def problems(self, api_version: str) -> Iterable[Problem]:
        if api_version == V1:
            for field, value in (
                ("implementation", self.implementation),
                ("sshAuthMountPath", self.ssh_auth_mount_path),
            ):
                if value is not None:
                    yield Problem(
                        (field,),
                        f"`{field}` does not exist in {V1}",
                        f"remove it, or use {V2} in the overlay's `operators.mpi`",
                    )
