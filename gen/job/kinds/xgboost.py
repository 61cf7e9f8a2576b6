"""XGBoostJob of the Kubeflow training operator."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import ClassVar, Literal

from gen.job.kinds.kubeflow import EXAMPLE, UNBUFFERED, KubeflowJob
from gen.job.kinds.role import Role
from gen.job.model import Model, default
from gen.job.pods import RoleFields
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.kubeflow import XGBOOST_PORT, XGBOOSTJOB


class XGBoostRoles(Model):
    """Values for single roles."""

    master: RoleFields | None = None
    """Pod with rank 0, which runs the tracker."""
    worker: RoleFields | None = None
    """All other pods."""


class XGBoostJob(KubeflowJob):
    """Distributed XGBoost and LightGBM. `workers` includes the master: 3 means one master and two workers."""

    facts: ClassVar[Resource] = XGBOOSTJOB
    read_ports: ClassVar[Mapping[str, int]] = dict([XGBOOST_PORT])
    # training-operator `pkg/controller.v1/xgboost/xgboost.go`: appended behind the user's environment
    reserved_env: ClassVar[frozenset[str]] = frozenset(
        {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "WORKER_PORT", "WORKER_ADDRS"}
    )
    fixed_env: ClassVar[Mapping[str, str]] = UNBUFFERED
    example: ClassVar[Mapping[str, object]] = {"image": "registry.example.com/team/xgboost:3.0", **EXAMPLE}

    kind: Literal["xgboost"]
    """Kind of job."""
    roles: XGBoostRoles = default(XGBoostRoles)
    """Values for single roles, which override those of the job."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        master = Role(name="master", replica_type="Master", replicas=1, fields=self.roles.master)
        workers = Role(name="worker", replica_type="Worker", replicas=self.workers - 1, fields=self.roles.worker)
        return (master, workers) if self.workers > 1 else (master,)
