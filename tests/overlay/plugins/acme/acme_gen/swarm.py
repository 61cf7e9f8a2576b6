"""The kind `swarm`: one list of pods, with a phase as its status."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from gen.job.kinds.base import Job
from gen.job.kinds.role import Role
from gen.kubernetes.facts.base import ANY_ITEM, Count, Phase, Phases, PodSet, Resource
from gen.kubernetes.objects import Body, present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.job.plan import Plan

SWARM = Resource(
    group="acme.example.com",
    kind="Swarm",
    versions={"acme.example.com/v1": ("Never",)},
    pods=(
        PodSet(
            template=("spec", "bees", ANY_ITEM, "template"),
            counts=(Count(route=("spec", "bees", ANY_ITEM, "count")),),
        ),
    ),
    container="bee",
    is_run=True,
    suspend=("spec", "paused"),
    deadline=("spec", "maxSeconds"),
    status=Phases(
        succeeded=(Phase(field=("status", "phase"), values=("Done",)),),
        failed=(Phase(field=("status", "phase"), values=("Dead",)),),
    ),
)


class SwarmJob(Job):
    """Swarm of equal workers."""

    facts: ClassVar[Resource] = SWARM
    unsupported: ClassVar[Mapping[str, str]] = {"retries": "a Swarm never retries"}
    example: ClassVar[Mapping[str, object]] = {"image": "swarm:1", "command": "fly"}

    kind: Literal["swarm"]
    """Kind of job."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        return (Role(name="bee", replica_type="Bee", replicas=self.workers),)

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        return present(maxSeconds=plan.timeout, bees=[{"count": self.workers, "template": pods["bee"]}])
