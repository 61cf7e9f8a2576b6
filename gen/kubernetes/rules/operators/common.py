"""Checks for several operators: replica maps, derived names, and pods of templates that the API server accepts.

From `ValidatePodCreate` and `ValidateObjectMeta` of `pkg/apis/core/validation/validation.go`, and
`workflow/validate/validate.go` of argoproj/argo-workflows 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gen.base import Route
from gen.kubernetes.facts import resource_of
from gen.kubernetes.facts.argo import CLUSTER_WORKFLOW_TEMPLATE, CRON_WORKFLOW, WORKFLOW, WORKFLOW_TEMPLATE
from gen.kubernetes.facts.pods import longest_suffixes
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults, ObjectView, Rule, RuleSource, containers, operator_rule
from gen.kubernetes.rules.field_checks import FieldChecks
from gen.kubernetes.rules.server.containers import host_ports, taken_twice
from gen.kubernetes.rules.server.metadata import finalizers
from gen.kubernetes.rules.value_checks import dns_1035_label, qualified_name

_MAX_NAME_LENGTH = {
    resource.kind: resource.max_name or 0
    for resource in (WORKFLOW, WORKFLOW_TEMPLATE, CLUSTER_WORKFLOW_TEMPLATE, CRON_WORKFLOW)
}


@operator_rule(
    "workflow-name",
    *(f"{WORKFLOW.group}/{kind}" for kind in _MAX_NAME_LENGTH),
    reason="The controller rejects longer names: the name of a workflow is a label of its pods, and a time is "
    "appended to the name of a cron workflow.",
    remedy="Use at most 63 characters, for a CronWorkflow 52.",
)
def workflow_name(view: ObjectView) -> Faults:
    """The name is too long for the names and labels derived from it."""
    if len(view.metadata.get("name", "")) > _MAX_NAME_LENGTH[view.kind]:
        yield Fault(("metadata", "name"), f"longer than {_MAX_NAME_LENGTH[view.kind]} characters")


MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"


def replicas(view: ObjectView, field: str) -> Iterator[tuple[str, Route, Body]]:
    """Every role of a replica map, with its name and route."""
    for name, role in (view.spec.get(field) or {}).items():
        yield name, ("spec", field, name), role


def derived_names(view: ObjectView) -> Iterator[str]:
    """The longest of the names that the operator derives from the name of an object; none without a name."""
    resource, name = resource_of(view.group, view.kind), view.metadata.get("name", "")
    if name and resource is not None:
        yield from (f"{name}{suffix}" for suffix in longest_suffixes(resource, view.body))


def name_fault(names: Iterable[str], check: Check = dns_1035_label) -> Faults:
    """The fault of `metadata.name` if one of the names that an operator derives from it is invalid."""
    for name in names:
        fault = check(name)
        if fault is not None:
            yield Fault(("metadata", "name"), f"invalid derived name: {fault.message}")
            return


_FINALIZERS = FieldChecks({"finalizers.*": qualified_name})


def _pod_creation(view: ObjectView) -> Faults:
    """A pod template has a finalizer, image, node or host port that is invalid in a pod."""
    for route, pod in view.pods if view.kind != "Pod" else ():
        for here, container in containers(pod, route):
            image = container.get("image", "")
            if image != image.strip():
                yield Fault((*here, "image"), "the image has leading or trailing spaces")
    for route, template in view.templates if view.is_custom else ():
        metadata, pod, at = template.get("metadata") or {}, template["spec"], (*route, "spec")
        yield from _FINALIZERS.faults(metadata, (*route, "metadata"))
        yield from finalizers(metadata.get("finalizers") or [], (*route, "metadata", "finalizers"), any_word=False)
        if pod.get("schedulingGates") and pod.get("nodeName"):
            yield Fault((*at, "nodeName"), "`nodeName` is not allowed with `schedulingGates`")
        if pod.get("hostNetwork"):
            yield from taken_twice(list(host_ports(pod, (*at, "containers"), on_host=True)))


pod_creation = Rule(
    "pod-creation",
    _pod_creation.__doc__ or "",
    "The object is accepted, but the API server rejects the pods that the operator creates.",
    "Correct or remove the field.",
    _pod_creation,
    RuleSource.OPERATOR,
    of_pods=True,
)
