"""Queues and schedulers: Kueue 0.19 (`kueue.x-k8s.io/v1beta2`) and coscheduling of scheduler-plugins 0.34.

Which kinds Kueue can queue is a fact of those kinds (`Resource.kueue`).
"""

from __future__ import annotations

from typing import Final

from gen.base import at
from gen.kubernetes.facts.base import Resource, retired
from gen.kubernetes.objects import QUEUE, QUEUE_LABEL

_V1BETA2 = "kueue.x-k8s.io/v1beta2"
_RETIRED = {
    **retired(_V1BETA2, "kueue.x-k8s.io/v1beta1", removed=False),
    **retired(_V1BETA2, "kueue.x-k8s.io/v1alpha1", "kueue.x-k8s.io/v1alpha2"),
}


def _kueue(kind: str, max_name: int | None = None) -> Resource:
    return Resource(group="kueue.x-k8s.io", kind=kind, versions={_V1BETA2: ()}, retired=_RETIRED, max_name=max_name)


CLUSTER_QUEUE: Final = _kueue("ClusterQueue")
LOCAL_QUEUE: Final = _kueue("LocalQueue", max_name=63)  # jobs name it in a label
RESOURCE_FLAVOR: Final = _kueue("ResourceFlavor")
WORKLOAD: Final = _kueue("Workload")
ADMISSION_CHECK: Final = _kueue("AdmissionCheck")
WORKLOAD_PRIORITY_CLASS: Final = _kueue("WorkloadPriorityClass")
COHORT: Final = _kueue("Cohort")
TOPOLOGY: Final = _kueue("Topology")

VISIBILITY: Final = "visibility.kueue.x-k8s.io"
"""Group of the API with the order of waiting workloads, `apis/visibility`. Each LocalQueue has it below
`pendingworkloads`."""
RESERVED: Final = "QuotaReserved"
"""Condition of a Workload with reserved quota in a ClusterQueue; otherwise its message names the missing amounts."""


def queue_in(labels: object) -> str:
    """The queue in the labels of a run, as jobs name it; empty without one."""
    return str(at(labels, QUEUE) or at(labels, QUEUE_LABEL) or "")


SCHEDULER: Final = "scheduler-plugins-scheduler"
"""Name of the scheduler in its Helm chart."""
POD_GROUP_LABEL: Final = "scheduling.x-k8s.io/pod-group"
"""Label of a pod with the name of its PodGroup."""
POD_GROUP: Final = Resource(group="scheduling.x-k8s.io", kind="PodGroup", versions={"scheduling.x-k8s.io/v1alpha1": ()})
