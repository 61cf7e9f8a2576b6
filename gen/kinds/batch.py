"""A plain Kubernetes Job for `torch.distributed`, for clusters without a training operator.

Indexed completions give each pod its rank and a stable host name, and a headless Service gives it an address, as in the
Kubernetes documentation "Job with Pod-to-Pod Communication".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from gen.kinds.base import Job, Problem
from gen.kinds.role import Role
from gen.kubernetes import JOB_LABEL, RUN, RUN_LABEL, Body, present
from gen.model.base import Model
from gen.model.job import RoleFields
from gen.model.names import LabelKey
from gen.model.scalars import Port, Positive
from gen.resources.batch import JOB

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.kinds.plan import Plan
    from gen.resources.base import Resource

# the annotation is older than the label with the same name, which Kubernetes has since 1.28
_INDEX = {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}


class BatchRoles(Model):
    """Values for a single role."""

    worker: RoleFields | None = None
    """Training pods."""


class FailureRule(Model):
    """The effect of a failed pod on the job. The first rule that matches applies."""

    action: Literal["FailJob", "Ignore", "Count"]
    """Fail the job immediately, ignore the failure of the pod, or count it towards `retries`."""
    exit_codes: Annotated[tuple[Positive, ...], Field(min_length=1, max_length=255)] | None = None
    """Exit codes of the training container that match the rule."""
    condition: LabelKey | None = None
    """Pod condition that matches the rule, such as `DisruptionTarget` for pods on a drained node."""


class BatchJob(Job):
    """`torch.distributed` on a plain Kubernetes Job. `workers` is the number of pods, with ranks from 0."""

    facts: ClassVar[Resource] = JOB
    # the Job controller adds it to every container of an indexed Job that does not set it
    reserved_env: ClassVar[frozenset[str]] = frozenset({"JOB_COMPLETION_INDEX"})
    example: ClassVar[Mapping[str, object]] = {
        "image": "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime",
        "command": "torchrun --nnodes=$NNODES --node-rank=$NODE_RANK "
        "--master-addr=$MASTER_ADDR --master-port=$MASTER_PORT train.py",
        "workers": 2,
        "gpus": 1,
    }

    kind: Literal["batch"]
    """Kind of job."""
    roles: BatchRoles = BatchRoles()
    """Values for single roles, which override those of the job."""
    master_port: Port = 29500
    """Port of the pod with rank 0, as `MASTER_PORT`."""
    pod_failure_policy: Annotated[tuple[FailureRule, ...], Field(max_length=20)] | None = None
    """Failures that count. [default: all except drained nodes] Requires `restart: Never`."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        return (
            Role(
                name="worker",
                replica_type="Worker",
                replicas=self.workers,
                fields=self.roles.worker,
                env=self._rank_environment(run),
                ports=({"name": "rendezvous", "containerPort": self.master_port, "protocol": "TCP"},),
                subdomain=run,
                suffix=f"-{self.workers - 1}",
            ),
        )

    def _rank_environment(self, run: str) -> tuple[Body, ...]:
        """For one process per pod; `torchrun` overrides RANK and WORLD_SIZE for the processes that it starts."""
        texts = {
            "MASTER_ADDR": f"{run}-0.{run}",
            "MASTER_PORT": str(self.master_port),
            "WORLD_SIZE": str(self.workers),
            "NNODES": str(self.workers),
        }
        return (
            *({"name": name, "value": value} for name, value in texts.items()),
            *({"name": name, "valueFrom": _INDEX} for name in ("NODE_RANK", "RANK")),
        )

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        never = plan.pods[0].role.restart == "Never"
        return present(
            completionMode="Indexed",
            completions=self.workers,
            parallelism=self.workers,
            backoffLimit=plan.retries or 0,
            activeDeadlineSeconds=plan.timeout,
            podFailurePolicy=present(rules=self._failure_rules() if never else None),
            template=pods["worker"],
        )

    def _failure_rules(self) -> list[Body]:
        rules = self.pod_failure_policy
        if rules is None:
            rules = (FailureRule(action="Ignore", condition="DisruptionTarget"),)
        return [
            present(
                action=rule.action,
                onExitCodes={
                    "containerName": self.main_container(),
                    "operator": "In",
                    "values": sorted(set(rule.exit_codes)),
                }
                if rule.exit_codes
                else None,
                onPodConditions=[{"type": rule.condition, "status": "True"}] if rule.condition else None,
            )
            for rule in rules
        ]

    def companions(self, plan: Plan) -> tuple[Body, ...]:
        service = {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,  # rank 0 must be found before it is ready
            "selector": {JOB_LABEL: plan.name, RUN_LABEL: RUN},
            "ports": [{"name": "rendezvous", "port": self.master_port, "protocol": "TCP"}],
        }
        return ({"apiVersion": "v1", "kind": "Service", "metadata": {"name": plan.run}, "spec": service},)

    def problems(self, api_version: str) -> Iterable[Problem]:  # noqa: ARG002 - batch has one version
        if self.restart == "OnFailure" and self.pod_failure_policy:
            yield Problem(
                ("podFailurePolicy",), "`podFailurePolicy` requires `restart: Never`", "remove one of the two"
            )
        for index, rule in enumerate(self.pod_failure_policy or ()):
            if (rule.exit_codes is None) == (rule.condition is None):
                route = ("podFailurePolicy", index)
                yield Problem(route, "a rule requires either `exitCodes` or `condition`", "set exactly one of the two")
