"""Kueue: labels and annotations of queued jobs, cluster queues and local queues.

From `pkg/controller/jobframework/{validation,tas_validation}.go` and `pkg/webhooks/clusterqueue_webhook.go` of
kubernetes-sigs/kueue 0.19. Names of queues are also label values, so they have at most 63 characters.
"""

from __future__ import annotations

from gen.base import Route, Severity
from gen.kubernetes.facts import Having, resource_of
from gen.kubernetes.facts.scheduling import CLUSTER_QUEUE, LOCAL_QUEUE
from gen.kubernetes.objects import Body
from gen.kubernetes.quantity import server_amount
from gen.kubernetes.rules import Fault, Faults, ObjectView, operator_rule, placed
from gen.kubernetes.rules.value_checks import dns_label, dns_name

_QUEUED = Having("kinds that Kueue admits", lambda resource: resource.kueue is not None)
_PREFIX = "kueue.x-k8s.io/"
_WEBHOOK = "The Kueue webhook rejects the object."
_TOPOLOGY = tuple(f"{_PREFIX}podset-{name}-topology" for name in ("required", "preferred", "unconstrained"))
_SLICE, _SIZE = f"{_PREFIX}podset-slice-required-topology", f"{_PREFIX}podset-slice-size"
_MAX_LABEL_LENGTH = 63


@operator_rule(
    "kueue-queue-name", _QUEUED, reason=_WEBHOOK, remedy="Use the name of a local queue, with at most 63 characters."
)
def kueue_queue_name(view: ObjectView) -> Faults:
    """The queue label is not a DNS name of at most 63 characters."""
    labels = view.metadata.get("labels") or {}
    name = labels.get(f"{_PREFIX}queue-name")
    if name is not None:
        fault = dns_name(name)
        if fault is None and len(name) > _MAX_LABEL_LENGTH:
            fault = Fault((), f"longer than {_MAX_LABEL_LENGTH} characters")
        yield from placed(fault, ("metadata", "labels", f"{_PREFIX}queue-name"))


@operator_rule(
    "kueue-queue-annotation",
    _QUEUED,
    reason="Kueue starts the job without a queue, or never, depending on its configuration.",
    remedy="Move the annotation to `metadata.labels`.",
    severity=Severity.WARNING,
)
def kueue_queue_annotation(view: ObjectView) -> Faults:
    """The queue is set by an annotation."""
    if f"{_PREFIX}queue-name" in (view.metadata.get("annotations") or {}):
        at = ("metadata", "annotations", f"{_PREFIX}queue-name")
        yield Fault(at, "Kueue reads the label of this name, and ignores the annotation")


@operator_rule("kueue-max-exec-time", _QUEUED, reason=_WEBHOOK, remedy="Use a positive integer in quotes, in seconds.")
def kueue_max_exec_time(view: ObjectView) -> Faults:
    """The maximum execution time is not a positive number of seconds."""
    key = f"{_PREFIX}max-exec-time-seconds"
    value = (view.metadata.get("labels") or {}).get(key)
    if value is not None and not (value.isascii() and value.isdigit() and int(value) > 0):
        yield Fault(("metadata", "labels", key), f"`{value}` is not a positive integer")


def _is_elastic(view: ObjectView) -> bool:
    resource = resource_of(view.group, view.kind)
    return resource is not None and resource.elastic


@operator_rule(
    "kueue-elastic-job",
    _QUEUED,
    reason=_WEBHOOK,
    remedy="Remove the annotation: only batch Jobs, RayJobs, RayClusters and RayServices can be elastic.",
)
def kueue_elastic_job(view: ObjectView) -> Faults:
    """A kind that cannot change its size is marked as elastic."""
    key = f"{_PREFIX}elastic-job"
    if key in (view.metadata.get("annotations") or {}) and not _is_elastic(view):
        yield Fault(("metadata", "annotations", key), f"a {view.kind} cannot be elastic")


@operator_rule(
    "kueue-topology",
    _QUEUED,
    reason=_WEBHOOK,
    remedy="Keep one of the three topology annotations. For slices, set both the topology and the size.",
)
def kueue_topology(view: ObjectView) -> Faults:
    """A pod template requests several topologies, or slices without a topology or a size."""
    for route, template in view.templates:
        annotations, at = (template.get("metadata") or {}).get("annotations") or {}, (*route, "metadata", "annotations")
        given = [key for key in _TOPOLOGY if key in annotations]
        for key in given[1:]:
            yield Fault((*at, key), f"mutually exclusive with `{given[0]}`")
        for one, other in ((_SLICE, _SIZE), (_SIZE, _SLICE)):
            if one in annotations and other not in annotations:
                yield Fault((*at, one), f"requires `{other}`")
        size = annotations.get(_SIZE)
        if size is not None and not (size.isascii() and size.isdigit() and int(size) > 0):
            yield Fault((*at, _SIZE), f"`{size}` is not a positive integer")


@operator_rule(
    "kueue-pods",
    _QUEUED,
    reason="Kueue reads these annotations only in pod templates, and a queued job has at most 18 pod sets.",
    remedy="Move the annotation into the pod template.",
)
def kueue_pods(view: ObjectView) -> Faults:
    """A topology annotation is on the job instead of its pod template."""
    for key in view.metadata.get("annotations") or {}:
        if key in {*_TOPOLOGY, _SLICE, _SIZE}:
            yield Fault(("metadata", "annotations", key), "ignored here; Kueue reads it in pod templates only")


@operator_rule(
    "cluster-queue-resources",
    str(CLUSTER_QUEUE),
    reason=_WEBHOOK,
    remedy="List each resource and each flavor once, and the resources of a flavor in the order of `coveredResources`.",
)
def cluster_queue_resources(view: ObjectView) -> Faults:
    """A cluster queue lists a resource or flavor twice, or the resources of a flavor differ from `coveredResources`."""
    resources: set[str] = set()
    flavors: set[str] = set()
    for index, group in enumerate(view.spec.get("resourceGroups") or ()):
        at: Route = ("spec", "resourceGroups", index)
        covered = group.get("coveredResources") or []
        for number, name in enumerate(covered):
            if name in resources:
                yield Fault((*at, "coveredResources", number), f"`{name}` is already covered by another group")
            resources.add(name)
        for number, flavor in enumerate(group.get("flavors") or ()):
            if flavor.get("name") in flavors:
                yield Fault((*at, "flavors", number, "name"), f"`{flavor.get('name')}` is already in another group")
            flavors.add(flavor.get("name", ""))
            if [resource.get("name") for resource in flavor.get("resources") or ()] != covered:
                yield Fault(
                    (*at, "flavors", number, "resources"), "different from `coveredResources`, or in another order"
                )


@operator_rule(
    "cluster-queue-quotas",
    str(CLUSTER_QUEUE),
    reason=_WEBHOOK,
    remedy="Use quotas of 0 or more, set a cohort for borrowing and lending, and lend at most the nominal quota.",
)
def cluster_queue_quotas(view: ObjectView) -> Faults:
    """A quota is negative, a borrowing or lending limit has no cohort, or the lending limit is above the quota."""
    cohort = view.spec.get("cohortName") or view.spec.get("cohort")
    for index, group in enumerate(view.spec.get("resourceGroups") or ()):
        for number, flavor in enumerate(group.get("flavors") or ()):
            for position, resource in enumerate(flavor.get("resources") or ()):
                at = ("spec", "resourceGroups", index, "flavors", number, "resources", position)
                yield from _quota(resource, at, cohort)


def _quota(resource: Body, route: Route, cohort: object) -> Faults:
    amounts = {field: server_amount(resource[field]) for field in _QUOTAS if field in resource}
    for field, value in amounts.items():
        if value is not None and value < 0:
            yield Fault((*route, field), f"`{resource[field]}` is negative")
        if field != "nominalQuota" and not cohort:
            yield Fault((*route, field), "requires a cohort")
    lent, own = amounts.get("lendingLimit"), amounts.get("nominalQuota")
    if lent is not None and own is not None and lent > own:
        yield Fault((*route, "lendingLimit"), f"`{resource['lendingLimit']}` is more than `nominalQuota`")


_QUOTAS = ("nominalQuota", "borrowingLimit", "lendingLimit")


@operator_rule(
    "local-queue-name",
    str(LOCAL_QUEUE),
    reason="Jobs name their queue in a label value, which has at most 63 characters.",
    remedy="Shorten the name to 63 characters.",
)
def local_queue_name(view: ObjectView) -> Faults:
    """The name of a local queue is too long for a label value."""
    name = view.metadata.get("name", "")
    if dns_name(name) is None and dns_label(name.replace(".", "-")) is not None:
        yield Fault(("metadata", "name"), f"longer than {_MAX_LABEL_LENGTH} characters")
