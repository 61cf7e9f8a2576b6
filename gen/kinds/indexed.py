"""Common parts of kinds that run indexed Kubernetes Jobs: ranks of the pods, and the failures that count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from gen.kinds.base import Job, Problem
from gen.kubernetes import Body, present
from gen.model.base import Model
from gen.model.names import LabelKey
from gen.model.scalars import Port, Positive
from gen.resources.batch import INDEX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.kinds.role import Target


class FailureRule(Model):
    """The effect of a failed pod on the job. The first rule that matches applies."""

    action: Literal["FailJob", "FailIndex", "Ignore", "Count"]
    """Fail the job immediately, fail one task of an array, ignore the failure of the pod, or count it towards
    `retries`."""
    exit_codes: Annotated[tuple[Positive, ...], Field(min_length=1, max_length=255)] | None = None
    """Exit codes of the training container that match the rule."""
    condition: LabelKey | None = None
    """Pod condition that matches the rule, such as `DisruptionTarget` for pods on a drained node."""


class IndexedJob(Job):
    """A job whose pods have the completion index of a Kubernetes Job as their rank."""

    # the Job controller adds it to every container of an indexed Job that does not set it
    reserved_env: ClassVar[frozenset[str]] = frozenset({"JOB_COMPLETION_INDEX"})
    example: ClassVar[Mapping[str, object]] = {
        "image": "pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime",
        "command": "torchrun --nnodes=$NNODES --node-rank=$NODE_RANK "
        "--master-addr=$MASTER_ADDR --master-port=$MASTER_PORT train.py",
        "workers": 2,
        "gpus": 1,
    }

    master_port: Port = 29500
    """Port of the pod with rank 0, as `MASTER_PORT`."""
    pod_failure_policy: Annotated[tuple[FailureRule, ...], Field(max_length=20)] | None = None
    """Failures that count. [default: all; for `batch`, all except pods on drained nodes] Requires `restart: Never`.
    Pods on other nodes that fail because one was drained do count: with several workers, set `retries`."""

    @property
    def rendezvous_ports(self) -> tuple[Body, ...]:
        return ({"name": "rendezvous", "containerPort": self.master_port, "protocol": "TCP"},)

    def rendezvous(self, address: str, pods: int, *, ranked: bool = True) -> tuple[Body, ...]:
        """Environment of `pods` pods that meet at the pod with this host name; `ranked` if they are one Job.

        RANK and WORLD_SIZE are for one process per pod; `torchrun` overrides them for the processes that it starts.
        """
        texts = {
            "MASTER_ADDR": address,
            "MASTER_PORT": str(self.master_port),
            "WORLD_SIZE": str(pods),
            "NNODES": str(pods),
        }
        return (
            *({"name": name, "value": value} for name, value in texts.items()),
            *(field_variable(name, INDEX) for name in ("NODE_RANK", "RANK") if ranked),
        )

    def failure_rules(self, rules: Iterable[FailureRule]) -> list[Body]:
        """Rules as Kubernetes writes them."""
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

    def problems(self, target: Target) -> Iterable[Problem]:  # noqa: ARG002 - these kinds have one version
        if self.restart == "OnFailure" and self.pod_failure_policy:
            yield Problem(
                ("podFailurePolicy",), "`podFailurePolicy` requires `restart: Never`", "remove one of the two"
            )
        for index, rule in enumerate(self.pod_failure_policy or ()):
            if (rule.exit_codes is None) == (rule.condition is None):
                route = ("podFailurePolicy", index)
                yield Problem(route, "a rule requires either `exitCodes` or `condition`", "set exactly one of the two")


def field_variable(name: str, field: str) -> Body:
    """A variable with a field of the pod as its value."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": field}}}
