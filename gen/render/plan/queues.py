"""The queue of a run: whether its scheduler can take the kind, the pods and the state of the job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.findings.grants import UNSUPPORTED_QUEUE
from gen.findings.jobs import INVALID_VALUE, SUSPENDED_IN_QUEUE
from gen.kinds.plan import QueuePlan
from gen.queues import scheduler_of
from gen.queues.base import Gang, Refusal
from gen.render.record import SCHEDULE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.kinds.plan import PodPlan
    from gen.queues import QueueProfile
    from gen.render.plan.context import Context
    from gen.resources.base import Resource


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
    if (job.schedule is not None or context.run.later) and not profile.suspends:
        reason = f"it groups the pods of one run, and a `{context.run.later or SCHEDULE}` has many runs"
        _refuse(context, Refusal(reason, "use a queue with `kueue`, or remove `queue`"), scheduler_of(profile))
        return None
    if job.search is not None and not _makes_groups(profile, job.facts, api_version):
        reason = "it groups the pods of one run, and a `search` has many trials"
        _refuse(context, Refusal(reason, "use a queue with `kueue`, or remove `queue`"), scheduler_of(profile))
        return None
    if job.state == "suspended" and profile.suspends and job.schedule is None:
        hint = "remove one of the two; Kueue suspends and resumes the job, and Git would revert that"
        context.error(SUSPENDED_IN_QUEUE, ("state",), "a job with a `queue` cannot be `suspended`", hint)
    return QueuePlan(name=job.queue, profile=profile, declared=declared)


def _makes_groups(profile: QueueProfile, facts: Resource, api_version: str) -> bool:
    """Whether each object gets a group of its own without gen."""
    return profile.suspends or (isinstance(profile, Gang) and profile.made_by_operator(facts, api_version) is not None)


def check_schedulers(context: Context, queue: QueuePlan | None, pods: Iterable[PodPlan]) -> None:
    """Report pods whose accelerator needs another scheduler than that of the queue."""
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
