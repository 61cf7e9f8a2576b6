"""PaddleJob of the Kubeflow training operator."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import ClassVar, Literal

from gen.job.kinds.kubeflow import EXAMPLE, UNBUFFERED, KubeflowJob
from gen.job.kinds.role import Role
from gen.job.model import Model, default
from gen.job.pods import ReplicatedRole, RoleFields
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.kubeflow import PADDLE_PORT, PADDLEJOB


class PaddleRoles(Model):
    """Values for single roles."""

    worker: RoleFields | None = None
    """The pods that train."""
    master: ReplicatedRole | None = None
    """Parameter servers, which the operator calls masters. Without them, the workers train collectively. They do not
    get the GPUs, CPU and memory of the job."""


class PaddleJob(KubeflowJob):
    """Distributed PaddlePaddle. `workers` is the number of pods that train."""

    facts: ClassVar[Resource] = PADDLEJOB
    read_ports: ClassVar[Mapping[str, int]] = dict([PADDLE_PORT])
    # training-operator `pkg/controller.v1/paddlepaddle/envvar.go`: appended behind the user's environment
    reserved_env: ClassVar[frozenset[str]] = frozenset(
        {"PADDLE_JOB_ID", "PADDLE_NNODES", "PADDLE_MASTER", "PADDLE_SERVER_NUM", "PADDLE_TRAINER_NUM", "POD_IP_DUMMY"}
    )
    fixed_env: ClassVar[Mapping[str, str]] = UNBUFFERED
    example: ClassVar[Mapping[str, object]] = {
        "image": "paddlepaddle/paddle:3.0.0-gpu-cuda12.6-cudnn9.5",
        **EXAMPLE,
        "command": "python -m paddle.distributed.launch code/project/train.py",
    }

    kind: Literal["paddle"]
    """Kind of job."""
    roles: PaddleRoles = default(PaddleRoles)
    """Values for single roles, which override those of the job."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        worker = Role(name="worker", replica_type="Worker", replicas=self.workers, fields=self.roles.worker)
        master = self.roles.master
        servers = 0 if master is None else 1 if master.replicas is None else master.replicas
        if servers == 0:
            return (worker,)
        return Role(name="master", replica_type="Master", replicas=servers, fields=master, trains=False), worker
