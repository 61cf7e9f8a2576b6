"""Kueue: labels and annotations of jobs that it queues, and its cluster queues.

From `pkg/controller/jobframework/{validation,tas_validation}.go` and `pkg/webhooks/clusterqueue_webhook.go` of
kubernetes-sigs/kueue 0.19. Of names, what is asked of a label holds as well: at most 63 characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.rules.fault import Fault
from gen.rules.quantities import amount
from gen.rules.rule import operators
from gen.rules.value_checks import dns_label, dns_name

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_QUEUED = (
    "batch/Job",
    "jobset.x-k8s.io/JobSet",
    "trainer.kubeflow.org/TrainJob",
    *(f"kubeflow.org/{kind}" for kind in ("MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob")),
    "ray.io/RayJob",
    "ray.io/RayCluster",
)
_ELASTIC = {("batch", "Job"), ("ray.io", "RayJob"), ("ray.io", "RayCluster"), ("ray.io", "RayService")}
_PREFIX = "kueue.x-k8s.io/"
_WEBHOOK = "The webhook of Kueue refuses it."
_TOPOLOGY = tuple(f"{_PREFIX}podset-{name}-topology" for name in ("required", "preferred", "unconstrained"))
_SLICE, _SIZE = f"{_PREFIX}podset-slice-required-topology", f"{_PREFIX}podset-slice-size"
_MAX_LABEL_LENGTH = 63


@operators(
    "kueue-queue-name", *_QUEUED, reason=_WEBHOOK, remedy="Write the name of a local queue, at most 63 characters."
)
def kueue_queue_name(view: ObjectView) -> Faults:
    """The label with the queue is a DNS name of at most 63 characters."""
    labels = view.metadata.get("labels") or {}
    name = labels.get(f"{_PREFIX}queue-name")
    if name is not None:
        fault = dns_name(name)
        if fault is None and len(name) > _MAX_LABEL_LENGTH:
            fault = Fault((), f"longer than {_MAX_LABEL_LENGTH} characters")
        if fault is not None:
            yield fault.at(("metadata", "labels", f"{_PREFIX}queue-name"))
    if f"{_PREFIX}queue-name" in (view.metadata.get("annotations") or {}):
        at = ("metadata", "annotations", f"{_PREFIX}queue-name")
        yield Fault(at, "Kueue reads the label of this name, and no annotation")


@operators("kueue-max-exec-time", *_QUEUED, reason=_WEBHOOK, remedy="Write whole seconds, more than 0, in quotes.")
def kueue_max_exec_time(view: ObjectView) -> Faults:
    """The longest time of a job is a whole number of seconds."""
    key = f"{_PREFIX}max-exec-time-seconds"
    value = (view.metadata.get("labels") or {}).get(key)
    if value is not None and not (value.isascii() and value.isdigit() and int(value) > 0):
        yield Fault(("metadata", "labels", key), f"`{value}` is no whole number above 0")


@operators(
    "kueue-elastic-job",
    *_QUEUED,
    reason=_WEBHOOK,
    remedy="Leave the annotation out: elastic are batch Jobs, RayJobs, RayClusters and RayServices.",
)
def kueue_elastic_job(view: ObjectView) -> Faults:
    """Only kinds that can change their size are marked as elastic."""
    key = f"{_PREFIX}elastic-job"
    if key in (view.metadata.get("annotations") or {}) and (view.group, view.kind) not in _ELASTIC:
        yield Fault(("metadata", "annotations", key), f"a {view.kind} is not elastic")


@operators(
    "kueue-topology",
    *_QUEUED,
    reason=_WEBHOOK,
    remedy="Keep one of the three topology annotations; of slices, write both the topology and the size.",
)
def kueue_topology(view: ObjectView) -> Faults:
    """Pod templates ask for one topology, and for slices with their size."""
    for route, template in view.templates:
        annotations, at = (template.get("metadata") or {}).get("annotations") or {}, (*route, "metadata", "annotations")
        given = [key for key in _TOPOLOGY if key in annotations]
        for key in given[1:]:
            yield Fault((*at, key), f"`{given[0]}` excludes it")
        for one, other in ((_SLICE, _SIZE), (_SIZE, _SLICE)):
            if one in annotations and other not in annotations:
                yield Fault((*at, one), f"needs `{other}` beside it")
        size = annotations.get(_SIZE)
        if size is not None and not (size.isascii() and size.isdigit() and int(size) > 0):
            yield Fault((*at, _SIZE), f"`{size}` is no whole number above 0")


@operators(
    "kueue-pods",
    *_QUEUED,
    reason="The annotations are read in pod templates, and a queued job has at most 18 sets of pods.",
    remedy="Move the annotation into the pod template.",
)
def kueue_pods(view: ObjectView) -> Faults:
    """Topology stands in pod templates, and not at the job itself."""
    for key in view.metadata.get("annotations") or {}:
        if key in {*_TOPOLOGY, _SLICE, _SIZE}:
            yield Fault(("metadata", "annotations", key), "is only read in pod templates")


@operators(
    "cluster-queue-resources",
    "kueue.x-k8s.io/ClusterQueue",
    reason=_WEBHOOK,
    remedy="Say each resource and each flavor once, the resources of a flavor in the order of `coveredResources`.",
)
def cluster_queue_resources(view: ObjectView) -> Faults:
    """Resources and flavors are in one group each, and flavors say the covered resources in their order."""
    resources: set[str] = set()
    flavors: set[str] = set()
    for index, group in enumerate(view.spec.get("resourceGroups") or ()):
        at: Route = ("spec", "resourceGroups", index)
        covered = group.get("coveredResources") or []
        for number, name in enumerate(covered):
            if name in resources:
                yield Fault((*at, "coveredResources", number), f"`{name}` is covered already")
            resources.add(name)
        for number, flavor in enumerate(group.get("flavors") or ()):
            if flavor.get("name") in flavors:
                yield Fault((*at, "flavors", number, "name"), f"`{flavor.get('name')}` is in a group already")
            flavors.add(flavor.get("name", ""))
            if [resource.get("name") for resource in flavor.get("resources") or ()] != covered:
                yield Fault((*at, "flavors", number, "resources"), "are not the `coveredResources` in their order")


@operators(
    "cluster-queue-quotas",
    "kueue.x-k8s.io/ClusterQueue",
    reason=_WEBHOOK,
    remedy="Write quotas of 0 or more; borrowing and lending need a cohort, and no more is lent than there is.",
)
def cluster_queue_quotas(view: ObjectView) -> Faults:
    """Quotas are not negative, limits of borrowing and lending have a cohort, and lending is within the quota."""
    cohort = view.spec.get("cohortName") or view.spec.get("cohort")
    for index, group in enumerate(view.spec.get("resourceGroups") or ()):
        for number, flavor in enumerate(group.get("flavors") or ()):
            for position, resource in enumerate(flavor.get("resources") or ()):
                at = ("spec", "resourceGroups", index, "flavors", number, "resources", position)
                yield from _quota(resource, at, cohort)


def _quota(resource: Body, route: Route, cohort: Any) -> Faults:
    amounts = {field: amount(resource[field]) for field in _QUOTAS if field in resource}
    for field, value in amounts.items():
        if value is not None and value < 0:
            yield Fault((*route, field), f"`{resource[field]}` is negative")
        if field != "nominalQuota" and not cohort:
            yield Fault((*route, field), "needs a cohort")
    lent, own = amounts.get("lendingLimit"), amounts.get("nominalQuota")
    if lent is not None and own is not None and lent > own:
        yield Fault((*route, "lendingLimit"), f"`{resource['lendingLimit']}` is more than `nominalQuota`")


_QUOTAS = ("nominalQuota", "borrowingLimit", "lendingLimit")


@operators(
    "local-queue-name",
    "kueue.x-k8s.io/LocalQueue",
    reason="Jobs name their queue in a label, which has at most 63 characters.",
    remedy="Shorten the name to 63 characters.",
)
def local_queue_name(view: ObjectView) -> Faults:
    """The name of a local queue can be the value of a label."""
    name = view.metadata.get("name", "")
    if dns_name(name) is None and dns_label(name.replace(".", "-")) is not None:
        yield Fault(("metadata", "name"), f"longer than {_MAX_LABEL_LENGTH} characters")
