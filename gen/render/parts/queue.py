"""The queue of a run: whether its scheduler can take the kind, the pods and the state of the job.

The scheduler needs values of the object, changes to the pods, and more objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gen.base import set_value
from gen.base.codes.grants import UNSUPPORTED_QUEUE
from gen.base.codes.jobs import INVALID_VALUE, SUSPENDED_IN_QUEUE
from gen.job.plan import Plan, PodPlan, QueuePlan
from gen.job.queue import Member, Refusal, Run
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.objects import Body
from gen.overlay.profiles.queues import scheduler_of
from gen.render.parts.context import Context
from gen.render.parts.metadata import add_metadata


def plan_queue(context: Context, api_version: str) -> QueuePlan | None:
    """The queue of the job; None without one, or if it cannot be used, which is reported."""
    job, overlay = context.job, context.overlay
    if job.queue is None:
        return None
    declared = bool(overlay.fields.queues)
    profile = overlay.queue(job.queue, job.facts)
    if profile is None:
        if not declared:
            _refuse(context, Refusal("Kueue does not admit this kind", "remove `queue`"), "")
        return None  # a queue that the overlay does not declare is not granted either
    refusal = (profile.refusal if declared else profile.unable)(job.facts, api_version)
    if refusal is not None:
        _refuse(context, refusal, scheduler_of(profile))
        return None
    reason = (context.run.later or context.starter).queue_fault(profile, job.facts, api_version)
    if reason:
        _refuse(context, Refusal(reason, "use a queue with `kueue`, or remove `queue`"), scheduler_of(profile))
        return None
    if job.resizing and not profile.resizes:
        message = f"queue `{job.queue}` takes only runs of a fixed size, and `{job.resizing}` changes it"
        hint = f"remove one of the two; a queue with `kueue` and `elastic: true` allows `{job.resizing}`"
        context.error(INVALID_VALUE, (job.resizing,), message, hint)
    if job.state == "suspended" and profile.suspends and not context.starter.repeats:
        hint = "remove one of the two; Kueue suspends and resumes the job, and Git would revert that"
        context.error(SUSPENDED_IN_QUEUE, ("state",), "a job with a `queue` cannot be `suspended`", hint)
    return QueuePlan(name=job.queue, profile=profile, declared=declared)


def check_schedulers(context: Context, queue: QueuePlan | None, pods: Iterable[PodPlan]) -> None:
    """Report pods with an accelerator that needs another scheduler than that of the queue."""
    wanted = queue.profile.scheduler_name if queue is not None else None
    if queue is None or wanted is None:
        return
    others = {pod.effect.scheduler: pod for pod in pods if pod.effect.scheduler not in (None, wanted)}
    for other, pod in others.items():
        message = f"queue `{queue.name}` schedules pods with `{wanted}`, but those with GPUs need `{other}`"
        route = context.route_of(pod.role, "accelerator") if pod.accelerator else ("queue",)
        context.error(INVALID_VALUE, route, message, "use a queue of that scheduler, or another accelerator")


def _refuse(context: Context, refusal: Refusal, scheduler: str) -> None:
    with_scheduler = f" with `{scheduler}`" if scheduler else ""
    message = f"queue `{context.job.queue}`{with_scheduler} cannot take `kind: {context.job.kind}`: {refusal.reason}"
    context.error(UNSUPPORTED_QUEUE, ("queue",), message, refusal.remedy)


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
        facts=facts,
        api_version=plan.api_version,
        name=plan.object_name,
        priority=plan.priority,
        members=tuple(members),
        autoscaled=any(pod.role.largest is not None for pod in plan.pods),
    )


def queued_pods(queue: QueuePlan, run: Run) -> dict[str, Body]:
    """The pod template of each role with the changes for the scheduler."""
    return {member.role: _changed(queue, run, member) for member in run.members}


def _changed(queue: QueuePlan, run: Run, member: Member) -> Body:
    changes = queue.profile.changes(run, member)
    metadata = dict(member.template["metadata"])
    add_metadata(metadata, "labels", changes.labels)
    add_metadata(metadata, "annotations", changes.annotations)
    spec = member.template["spec"]
    if changes.scheduler is not None:
        spec = {**spec, "schedulerName": changes.scheduler}
    return {**member.template, "metadata": metadata, "spec": spec}


def put_into_queue(queue: QueuePlan, run: Run, workload: Body) -> None:
    """Set the values of the object that the scheduler needs."""
    for route, value in queue.profile.values(run).items():
        set_value(workload, route, value)
    workload["metadata"]["labels"] = dict(sorted(workload["metadata"]["labels"].items()))
