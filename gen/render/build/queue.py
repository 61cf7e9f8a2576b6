"""What the queue of a run needs: values of the object, changes to the pods, and more objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import set_value
from gen.queues.base import Member, Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kinds.plan import Plan, QueuePlan
    from gen.kubernetes import Body
    from gen.resources.base import Resource


def queue_run(plan: Plan, facts: Resource, pods: Mapping[str, Body]) -> Run:
    """The run as its scheduler sees it; `pods` has the template of each role."""
    members = (
        Member(
            role=pod.role.name,
            least=pod.role.replicas if pod.role.least is None else pod.role.least,
            grouped=pod.role.grouped,
            template=pods[pod.role.name],
        )
        for pod in plan.pods
    )
    return Run(
        facts=facts, api_version=plan.api_version, name=plan.object_name, priority=plan.priority, members=tuple(members)
    )


def queued_pods(queue: QueuePlan, run: Run) -> dict[str, Body]:
    """The pod template of each role with the changes for the scheduler."""
    return {member.role: _changed(queue, run, member) for member in run.members}


def _changed(queue: QueuePlan, run: Run, member: Member) -> Body:
    changes = queue.profile.changes(run, member)
    metadata = dict(member.template["metadata"])
    for field, added in (("labels", changes.labels), ("annotations", changes.annotations)):
        if added:
            metadata[field] = dict(sorted({**metadata.get(field, {}), **added}.items()))
    spec = member.template["spec"]
    if changes.scheduler is not None:
        spec = {**spec, "schedulerName": changes.scheduler}
    return {**member.template, "metadata": metadata, "spec": spec}


def put_into_queue(queue: QueuePlan, run: Run, workload: Body) -> None:
    """Set the values of the object that the scheduler needs."""
    for route, value in queue.profile.values(run).items():
        set_value(workload, route, value)
    workload["metadata"]["labels"] = dict(sorted(workload["metadata"]["labels"].items()))
