"""Checks for several operators: replica maps, derived names, and pods of templates that the API server accepts.

From `ValidatePodCreate` and `ValidateObjectMeta` of `pkg/apis/core/validation/validation.go`, and
`workflow/validate/validate.go` of argoproj/argo-workflows 4.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from gen.base import Route, near, quoted
from gen.kubernetes.facts import resource_of
from gen.kubernetes.facts.argo import CLUSTER_WORKFLOW_TEMPLATE, CRON_WORKFLOW, WORKFLOW, WORKFLOW_TEMPLATE
from gen.kubernetes.facts.pods import longest_suffixes
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults, ObjectView, Rule, RuleSource, containers, operator_rule
from gen.kubernetes.rules.field_checks import FieldChecks
from gen.kubernetes.rules.server.containers import host_ports, taken_twice
from gen.kubernetes.rules.server.metadata import finalizers
from gen.kubernetes.rules.value_checks import dns_1035_label, one_of, qualified_name

MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"


def value_rule(name: str, summary: str, *kinds: str, checks: Mapping[str, Check], reason: str, remedy: str) -> Rule:
    """A rule that is a table: checks of values by the paths of their fields."""
    table = FieldChecks(checks)

    def find(view: ObjectView) -> Faults:
        yield from table.faults(view.body, ())

    find.__doc__ = summary
    return operator_rule(name, *kinds, reason=reason, remedy=remedy)(find)


def managed_by(name: str, operator: str, own: str, *kinds: str, fields: Iterable[str], reason: str) -> Rule:
    """The rule that `managedBy` names the operator itself or MultiKueue."""
    return value_rule(
        name,
        f"`managedBy` is neither {operator} nor MultiKueue.",
        *kinds,
        checks=dict.fromkeys(fields, one_of(own, MULTIKUEUE)),
        reason=reason,
        remedy=f"Set it to `{own}` or `{MULTIKUEUE}`, or remove it.",
    )


def unknown_role(route: Route, role: str, roles: Collection[str]) -> Fault:
    """The fault of a role that the kind does not have. Roles are case-sensitive."""
    meant = near(role, roles)
    message = f"the kind has no role `{role}`; expected {quoted(roles)}"
    return Fault(route, message, f"did you mean `{meant}`?" if meant else "")


def items(view: ObjectView, field: str) -> list[Body]:
    """The entries of a list below `spec`."""
    found: list[Body] = view.spec.get(field) or []
    return found


def length_fault(view: ObjectView) -> Faults:
    """The fault of `metadata.name` if it is longer than the operator allows."""
    resource = resource_of(view.group, view.kind)
    longest = resource.max_name if resource is not None else None
    if longest is not None and len(view.metadata.get("name", "")) > longest:
        yield Fault(("metadata", "name"), f"longer than {longest} characters")


@operator_rule(
    "workflow-name",
    *map(str, (WORKFLOW, WORKFLOW_TEMPLATE, CLUSTER_WORKFLOW_TEMPLATE, CRON_WORKFLOW)),
    reason="The controller rejects longer names: the name of a workflow is a label of its pods, and a time is "
    "appended to the name of a cron workflow.",
    remedy="Use at most 63 characters, for a CronWorkflow 52.",
)
def workflow_name(view: ObjectView) -> Faults:
    """The name is too long for the names and labels derived from it."""
    yield from length_fault(view)


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
