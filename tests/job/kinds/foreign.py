"""Two kinds that no program file knows: a class, its facts and its schema each.

`headed` has phases, a head and a list of groups of workers, like a RayJob. `replicated` has its templates in a list of
jobs and no deadline, like a JobSet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import yaml

from gen.job.kinds.base import Job
from gen.job.kinds.role import Role
from gen.kubernetes.facts.base import ANY_ITEM, Conditions, Count, Phase, Phases, PodSet, Queueing, Resource
from gen.kubernetes.objects import Body, present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.job.plan import Plan

HEADED_JOB = Resource(
    group="example.com",
    kind="HeadedJob",
    versions={"example.com/v1": ("Never",)},
    pods=(
        PodSet(template=("spec", "cluster", "head", "template")),
        PodSet(
            template=("spec", "cluster", "groups", ANY_ITEM, "template"),
            counts=(
                Count(route=("spec", "cluster", "groups", ANY_ITEM, "replicas")),
                Count(route=("spec", "cluster", "groups", ANY_ITEM, "hosts")),
            ),
        ),
    ),
    is_run=True,
    suspend=("spec", "suspend"),
    deadline=("spec", "limits", "seconds"),
    ttl=("spec", "deleteAfter"),
    status=Phases(
        succeeded=(Phase(field=("status", "phase"), values=("Complete",)),),
        failed=(
            Phase(field=("status", "phase"), values=("Failed", "Invalid")),
            Phase(field=("status", "program", "state"), values=("FAILED",)),
        ),
        suspended=(Phase(field=("status", "phase"), values=("Suspended",)),),
    ),
    kueue=Queueing(framework="example.com/headedjob"),
)

REPLICATED_JOB = Resource(
    group="example.com",
    kind="ReplicatedJob",
    versions={"example.com/v1": ("OnFailure", "Never")},
    pods=(
        PodSet(
            template=("spec", "jobs", ANY_ITEM, "template", "spec", "template"),
            counts=(
                Count(route=("spec", "jobs", ANY_ITEM, "replicas")),
                Count(route=("spec", "jobs", ANY_ITEM, "template", "spec", "parallelism")),
            ),
        ),
    ),
    container="node",
    is_run=True,
    suspend=("spec", "suspend"),
    ttl=("spec", "ttl"),
    status=Conditions(succeeded="Completed", failed="Broken", suspended="Suspended"),
    kueue=Queueing(framework="example.com/replicatedjob"),
)


class Headed(Job):
    """A head and a group of workers."""

    facts: ClassVar[Resource] = HEADED_JOB
    example: ClassVar[Mapping[str, object]] = {"image": "ray:1", "command": "python train.py"}

    kind: Literal["headed"]
    """Kind of job."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        assert run
        head = Role(name="head", replica_type="Head", replicas=1, trains=False)
        return head, Role(name="worker", replica_type="Worker", replicas=self.workers)

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        group = {"name": "worker", "replicas": self.workers, "hosts": 1, "template": pods["worker"]}
        return present(
            cluster={"head": {"template": pods["head"]}, "groups": [group]},
            limits=present(seconds=plan.timeout),
        )


class Replicated(Job):
    """Replicated jobs with one template each."""

    facts: ClassVar[Resource] = REPLICATED_JOB
    unsupported: ClassVar[Mapping[str, str]] = {"retries": "the operator never retries"}
    example: ClassVar[Mapping[str, object]] = {"image": "set:1", "command": "python train.py"}

    kind: Literal["replicated"]
    """Kind of job."""

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        assert run
        return (Role(name="node", replica_type="Node", replicas=self.workers),)

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        assert plan.timeout is None
        job = {"parallelism": self.workers, "template": pods["node"]}
        return {"jobs": [{"name": "node", "replicas": 1, "template": {"spec": job}}]}


FOREIGN: dict[str, type[Job]] = {"headed": Headed, "replicated": Replicated}


def definition(resource: Resource) -> str:
    """A custom resource definition that accepts any `spec`."""
    anything: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    plural = f"{resource.kind.lower()}s"
    return yaml.safe_dump(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{resource.group}"},
            "spec": {
                "group": resource.group,
                "scope": "Namespaced",
                "names": {"kind": resource.kind, "plural": plural},
                "versions": [version],
            },
        }
    )
