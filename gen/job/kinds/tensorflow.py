"""TFJob of the Kubeflow training operator."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from gen.job.kinds.base import Problem, unused_workers
from gen.job.kinds.kubeflow import EXAMPLE, KubeflowJob
from gen.job.kinds.role import Role, Target
from gen.job.model import Model, default
from gen.job.plan import Plan
from gen.job.pods import ReplicatedRole, RoleFields
from gen.kubernetes.facts.base import Pattern, Resource
from gen.kubernetes.facts.kubeflow import TENSORFLOW_PORT, TFJOB
from gen.kubernetes.objects import Body, present


class TensorFlowRoles(Model):
    """Values for single roles. A role that is not set has no pods, except for the workers."""

    chief: RoleFields | None = None
    """The pod that coordinates and saves checkpoints; the job ends with it. Its task type in `TF_CONFIG` is `chief`."""
    master: RoleFields | None = None
    """The same for older programs, which expect the task type `master`."""
    worker: ReplicatedRole | None = None
    """The pods that train. Without `replicas`, their number is `workers` of the job."""
    ps: ReplicatedRole | None = None
    """The parameter servers. They do not get the GPUs, CPU and memory of the job."""
    evaluator: ReplicatedRole | None = None
    """Pods that evaluate checkpoints."""


class TensorFlowJob(KubeflowJob):
    """Distributed TensorFlow. `workers` is the number of pods of the role `worker`."""

    facts: ClassVar[Resource] = TFJOB
    read_ports: ClassVar[Mapping[str, int]] = dict([TENSORFLOW_PORT])
    arena: ClassVar[str] = "tfjob"
    copied: ClassVar[Mapping[str, Pattern]] = {"successPolicy": ("spec", "successPolicy")}
    called: ClassVar[tuple[str, ...]] = ("tf", "keras")
    reserved_env: ClassVar[frozenset[str]] = frozenset({"TF_CONFIG"})
    example: ClassVar[Mapping[str, object]] = {"image": "tensorflow/tensorflow:2.20.0-gpu", **EXAMPLE}

    kind: Literal["tensorflow"]
    """Kind of job."""
    roles: TensorFlowRoles = default(TensorFlowRoles)
    """Values for single roles, which override those of the job. A role that is set has pods."""
    success_policy: Literal["AllWorkers"] | None = None
    """Without a chief, `AllWorkers` waits for all workers instead of only the first one."""

    @classmethod
    def modern(cls, body: Body) -> Body:
        """Without an empty policy, which is the default."""
        body = super().modern(body)
        return {**body, "spec": {key: one for key, one in body["spec"].items() if (key, one) != ("successPolicy", "")}}

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        roles = self.roles
        worker = roles.worker or ReplicatedRole(replicas=self.workers)
        every = (
            Role(name="chief", replica_type="Chief", replicas=int(roles.chief is not None), fields=roles.chief),
            Role(name="master", replica_type="Master", replicas=int(roles.master is not None), fields=roles.master),
            Role(name="worker", replica_type="Worker", replicas=_count(worker, self.workers), fields=worker),
            Role(name="ps", replica_type="PS", replicas=_count(roles.ps), fields=roles.ps, trains=False),
            Role(name="evaluator", replica_type="Evaluator", replicas=_count(roles.evaluator), fields=roles.evaluator),
        )
        return tuple(role for role in every if role.replicas > 0)

    def problems(self, target: Target) -> Iterable[Problem]:
        yield from super().problems(target)
        yield from unused_workers(self, {"worker": self.roles.worker or ReplicatedRole()}, "worker", "replicas")
        # training-operator `pkg/controller.v1/tensorflow/tfjob_controller.go`: with a chief, only the chief counts
        chief = next((name for name in ("chief", "master") if getattr(self.roles, name) is not None), None)
        if self.success_policy is not None and chief is not None:
            message = f"`successPolicy` has no effect together with `roles.{chief}`: the job ends with its {chief}"
            yield Problem(("successPolicy",), message, "remove one of the two", no_effect=True)
        if self.roles.chief is not None and self.roles.master is not None:
            message = "a job has either a `chief` or a `master`"
            yield Problem(("roles", "master"), message, "remove one of the two; programs test one of these names")

    def own_spec(self, plan: Plan) -> Body:
        return present(successPolicy=self.success_policy)


def _count(fields: ReplicatedRole | None, otherwise: int = 1) -> int:
    """A role that is set has one pod by default."""
    if fields is None:
        return 0
    return otherwise if fields.replicas is None else fields.replicas
