"""Coscheduling, a plugin of kubernetes-sigs/scheduler-plugins 0.34: a PodGroup, and a label of its pods.

The plugin runs in a scheduler of its own; a group needs no queue (`pkg/coscheduling`, `apis/scheduling/v1alpha1`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gen.kubernetes import Body, present
from gen.model.names import ObjectName
from gen.model.scalars import Duration
from gen.queues.base import LimitedGang, Member, PodChanges, Run, pod_group
from gen.resources.coscheduling import POD_GROUP, POD_GROUP_LABEL, SCHEDULER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.resources.base import Resource


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
    def settings(self) -> Mapping[str, Any]:
        return {"timeout": self.timeout}

    def of_run(self, run: Run) -> Mapping[str, Any]:
        # for the sum that operators set, the plugin rejects pods before it looks at nodes, and tries them again when a
        # pod is created or after five minutes (`EventsToRegister` in `coscheduling.go`), not when a node becomes free
        return {**super().of_run(run), "minResources": {}}

    def joined(self, run: Run, member: Member) -> PodChanges:
        return PodChanges(scheduler=self.scheduler, labels={POD_GROUP_LABEL: run.name} if member.grouped else {})

    def group(self, run: Run) -> tuple[Body, ...]:
        spec = present(minMember=self.size(run), scheduleTimeoutSeconds=self.timeout)
        return (pod_group(POD_GROUP, run, spec),)
