"""PyTorchJob of the Kubeflow training operator."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import WithJsonSchema

from gen.kinds.kubeflow import KubeflowJob, replica_specs
from gen.kinds.role import Role
from gen.kubernetes import Body, present
from gen.model.base import Model
from gen.model.job import RoleFields
from gen.model.scalars import matching
from gen.resources.kubeflow import PYTORCHJOB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kinds.plan import Plan
    from gen.resources.base import Resource

ProcessesPerNode = Annotated[
    str,
    matching(re.compile(r"auto|cpu|gpu|[1-9][0-9]{0,3}"), 4, "an integer, `auto`, `cpu` or `gpu`"),
    WithJsonSchema({"title": "integer, auto, cpu or gpu", "type": ["string", "integer"]}),
]


class PyTorchRoles(Model):
    """Values for single roles."""

    master: RoleFields | None = None
    """Pod with rank 0."""
    worker: RoleFields | None = None
    """All other pods."""


class PyTorchJob(KubeflowJob):
    """Distributed PyTorch. `workers` includes the master: 3 means one master and two workers."""

    facts: ClassVar[Resource] = PYTORCHJOB
    # training-operator `pkg/controller.v1/pytorch/envvar.go`: appended behind the user's environment
    reserved_env: ClassVar[frozenset[str]] = frozenset(
        {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"}
        | {"PET_NODE_RANK", "PET_NNODES", "PET_NPROC_PER_NODE"}
    )
    example: ClassVar[Mapping[str, object]] = {
        "image": "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime",
        "command": "torchrun train.py",
        "workers": 2,
        "gpus": 1,
    }

    kind: Literal["pytorch"]
    """Kind of job."""
    roles: PyTorchRoles = PyTorchRoles()
    """Values for single roles, which override those of the job."""
    nproc_per_node: ProcessesPerNode | None = None
    """Number of processes that `torchrun` starts per pod, or `auto`, `cpu` or `gpu`."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:  # noqa: ARG002 - the operator names the pods
        master = Role(name="master", replica_type="Master", replicas=1, fields=self.roles.master)
        if self.workers == 1:
            return (master,)
        # the operator rejects a Worker without replicas, so one worker is only a master
        workers = Role(name="worker", replica_type="Worker", replicas=self.workers - 1, fields=self.roles.worker)
        return master, workers

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        return present(
            nprocPerNode=self.nproc_per_node,
            runPolicy=self.run_policy(plan),
            pytorchReplicaSpecs=replica_specs(plan, pods),
        )
