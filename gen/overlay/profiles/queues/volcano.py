"""Volcano: a PodGroup in a Volcano Queue, which Volcano schedules as a whole.

Pods join the PodGroup of their annotation; for others, Volcano makes one for each owner
(`pkg/controllers/podgroup/pg_controller.go`, `pkg/scheduler/api/job_info.go` of volcano-sh/volcano 1.15).
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import ClassVar

from gen.job.names import Label
from gen.job.queue import LimitedGang, Member, PodChanges, PriorityClassName, Run, pod_group
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.volcano import GROUP_NAME, POD_GROUP, QUEUE_LABEL, SCHEDULER
from gen.kubernetes.objects import MAX_NAME, Body, present


class Volcano(LimitedGang):
    """Queue of Volcano. All pods of a run start together, or none."""

    short: ClassVar[str] = "queue"
    known_as: ClassVar[str] = SCHEDULER
    keys: ClassVar[tuple[str, ...]] = (*("scheduling.volcano.sh/", GROUP_NAME, QUEUE_LABEL, "volcano.sh/task-spec"),)
    companions: ClassVar[tuple[Resource, ...]] = (POD_GROUP,)

    queue: Label
    """Name of the Queue of Volcano. It takes jobs if it is open and has no queues below it."""
    priority_class: PriorityClassName | None = None
    """PriorityClass of the groups. [default: `priority` of the job]"""

    @property
    def scheduler_name(self) -> str:
        return SCHEDULER

    @property
    def group_priority(self) -> str | None:
        return self.priority_class

    @property
    def queue_name(self) -> str | None:
        return self.queue

    @property
    def settings(self) -> Mapping[str, object]:
        return {"queue": self.queue, "priorityClass": self.priority_class}

    def of_run(self, run: Run) -> Mapping[str, object]:
        return present(queue=self.queue, priorityClass=self._priority(run))

    def _priority(self, run: Run) -> str | None:
        """PriorityClass of the group. Some operators take it from a label, which is shorter than names of objects."""
        if self.priority_class is not None or run.priority is None or len(run.priority) > MAX_NAME:
            return self.priority_class
        return run.priority

    def joined(self, run: Run, member: Member) -> PodChanges:
        return PodChanges(scheduler=SCHEDULER, annotations={GROUP_NAME: run.name} if member.grouped else {})

    def group(self, run: Run) -> tuple[Body, ...]:
        spec = present(minMember=self.size(run), queue=self.queue, priorityClassName=self._priority(run))
        return (pod_group(POD_GROUP, run, spec),)
