"""Gang scheduling by PodGroups of kubernetes-sigs/scheduler-plugins 0.34, and by labels of ACK.

The plugin runs in a scheduler of its own; a group needs no queue (`pkg/coscheduling`, `apis/scheduling/v1alpha1`). The
managed Pro clusters of ACK make a PodGroup for labels of pods, and all pods of a group need the same priority ("Use
Gang scheduling" of the ACK documentation).
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import ClassVar

from gen.job.names import ObjectName
from gen.job.queue import LimitedGang, Member, PodChanges, Run, pod_group
from gen.job.scalars import Duration
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.scheduling import POD_GROUP, POD_GROUP_LABEL, SCHEDULER
from gen.kubernetes.objects import Body, present


class Coscheduling(LimitedGang):
    """Coscheduling of scheduler-plugins. All pods of a run start together, or none."""

    short: ClassVar[str] = "scheduler"
    known_as: ClassVar[str] = "coscheduling"
    keys: ClassVar[tuple[str, ...]] = ("scheduling.x-k8s.io/",)
    companions: ClassVar[tuple[Resource, ...]] = (POD_GROUP,)

    scheduler: ObjectName = SCHEDULER
    """Scheduler with the plugin."""
    timeout: Duration | None = None
    """How long scheduled pods of a group wait for the others, such as `2m`. [default: that of the plugin]"""

    @property
    def scheduler_name(self) -> str:
        return self.scheduler

    @property
    def settings(self) -> Mapping[str, object]:
        return {"timeout": self.timeout}

    def of_run(self, run: Run) -> Mapping[str, object]:
        # for the sum that operators set, the plugin rejects pods before it looks at nodes, and tries them again when a
        # pod is created or after five minutes (`EventsToRegister` in `coscheduling.go`), not when a node becomes free
        return {**super().of_run(run), "minResources": {}}

    def joined(self, run: Run, member: Member) -> PodChanges:
        return PodChanges(scheduler=self.scheduler, labels={POD_GROUP_LABEL: run.name} if member.grouped else {})

    def group(self, run: Run) -> tuple[Body, ...]:
        spec = present(minMember=self.size(run), scheduleTimeoutSeconds=self.timeout)
        return (pod_group(POD_GROUP, run, spec),)


_GROUP = "pod-group.scheduling.sigs.k8s.io"


class Ack(LimitedGang):
    """Gang scheduling of ACK, by the default scheduler. All pods of a run start together, or none."""

    known_as: ClassVar[str] = "ack"
    keys: ClassVar[tuple[str, ...]] = (_GROUP,)

    def joined(self, run: Run, member: Member) -> PodChanges:
        if not member.grouped:
            return PodChanges()
        return PodChanges(labels={f"{_GROUP}/name": run.name, f"{_GROUP}/min-available": str(self.size(run))})
