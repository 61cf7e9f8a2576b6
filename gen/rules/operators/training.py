"""Training operator (`kubeflow.org/v1`), except MPIJob.

From `pkg/webhooks/<kind>/*_webhook.go`, `pkg/common/util/webhooks.go` and `pkg/controller.v1/common` of
kubeflow/trainer 1.9, which contains the training operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.diagnostics import Severity
from gen.resources.kubeflow import (
    CLEANUP_POLICIES,
    JAXJOB,
    MPIJOB,
    PADDLEJOB,
    PYTORCHJOB,
    RESTART_V1,
    TFJOB,
    XGBOOSTJOB,
)
from gen.rules.fault import Fault, not_one_of
from gen.rules.name_checks import dns_1035_label
from gen.rules.operators.common import MULTIKUEUE, derived_names, name_fault, replicas
from gen.rules.rule import operators

if TYPE_CHECKING:
    from gen.resources.base import PodSet
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView


TRAINING: Final = {kind.kind: kind for kind in (TFJOB, PYTORCHJOB, XGBOOSTJOB, PADDLEJOB, JAXJOB)}
_ALL = tuple(map(str, TRAINING.values()))
_OPERATOR = "kubeflow.org/training-operator"
WEBHOOK = "The webhook of the training operator rejects the object."


def roles_of(view: ObjectView) -> PodSet:
    """The replica map of a kind, and its roles."""
    resource = MPIJOB if view.kind == MPIJOB.kind else TRAINING[view.kind]
    return resource.pods[0]


@operators(
    "training-name",
    *_ALL,
    reason=f"{WEBHOOK} The operator creates services with the name, and service names begin with a letter.",
    remedy="Begin the name with a letter, and use at most 63 lower-case letters, digits and `-`.",
)
def training_name(view: ObjectView) -> Faults:
    """The name is not a DNS-1035 label."""
    name = view.metadata.get("name", "")
    fault = dns_1035_label(name) if name else None
    if fault is not None:
        yield fault.at(("metadata", "name"))


@operators(
    "training-name-length",
    *_ALL,
    reason="Each pod has a service `<job>-<role>-<index>`. A longer name is accepted, but the service is not created.",
    remedy="Shorten the name to 54 characters for up to 10 workers.",
)
def training_name_length(view: ObjectView) -> Faults:
    """A name that the operator derives for a service is longer than 63 characters."""
    if dns_1035_label(view.metadata.get("name", "")) is None:
        yield from name_fault(derived_names(view))


@operators(
    "training-replicas",
    *_ALL,
    reason=f"{WEBHOOK} The definition allows a job without roles.",
    remedy="Add the replica specs of the kind, with at least one role.",
)
def training_replicas(view: ObjectView) -> Faults:
    """A training job has no roles."""
    field = roles_of(view).role_map
    if not view.spec.get(field):
        yield Fault(("spec",) if "spec" in view.body else (), f"`spec.{field}` has no roles")


@operators(
    "training-roles",
    *_ALL,
    reason=f"{WEBHOOK} It accepts a TFJob with an unknown role, but the pods belong to no role.",
    remedy="Use one of the roles of the kind, in exactly this spelling.",
)
def training_roles(view: ObjectView) -> Faults:
    """The replica map has a role that the kind does not have. Roles are case-sensitive."""
    pods = roles_of(view)
    for role, route, _ in replicas(view, pods.role_map):
        if role not in pods.roles:
            expected = ", ".join(f"`{one}`" for one in pods.roles)
            yield Fault(route, f"a {view.kind} has no role `{role}`; expected {expected}")


@operators(
    "training-containers",
    *_ALL,
    reason=WEBHOOK,
    remedy="Name the container that trains after the framework: the operator sets the variables of this container.",
)
def training_containers(view: ObjectView) -> Faults:
    """A role has no container with the name that the operator expects."""
    expected = TRAINING[view.kind].container
    for role, route, spec in replicas(view, roles_of(view).role_map):
        at = (*route, "template", "spec", "containers")
        found = ((spec.get("template") or {}).get("spec") or {}).get("containers") or []
        if not found:
            yield Fault(route, f"role `{role}` has no containers")
        elif all(container.get("name") != expected for container in found):
            yield Fault(at, f"no container is named `{expected}`")


@operators(
    "training-restart-policy",
    *_ALL,
    str(MPIJOB),
    reason="The definition allows any text, but the operators support only these values.",
    remedy="Use `OnFailure` or `Never`; MPIJob v2beta1 supports no others.",
)
def training_restart_policy(view: ObjectView) -> Faults:
    """The restart policy of a role is unknown to the operator."""
    resource = MPIJOB if view.kind == MPIJOB.kind else TRAINING[view.kind]
    allowed = resource.versions.get(view.body["apiVersion"], RESTART_V1)
    field = roles_of(view).role_map
    for _, route, spec in replicas(view, field):
        policy = spec.get("restartPolicy", "")
        if policy and policy not in allowed:
            yield not_one_of(policy, allowed).at((*route, "restartPolicy"))


@operators(
    "training-always",
    *_ALL,
    reason="A pod that is always restarted never succeeds, so the job never completes.",
    remedy="Use `OnFailure`.",
    severity=Severity.WARNING,
)
def training_always(view: ObjectView) -> Faults:
    """The pods of a role are restarted even after they succeed."""
    for _, route, spec in replicas(view, roles_of(view).role_map):
        if spec.get("restartPolicy") == "Always":
            yield Fault((*route, "restartPolicy"), "pods with `Always` never succeed")


@operators(
    "restart-policy-of-template",
    *_ALL,
    str(MPIJOB),
    reason="The operator replaces it by the role's `restartPolicy`, or by its own default.",
    remedy="Set `restartPolicy` of the role, next to `template`.",
    severity=Severity.WARNING,
)
def restart_policy_of_template(view: ObjectView) -> Faults:
    """A pod template has a restart policy that differs from that of its role."""
    field = roles_of(view).role_map
    for _, route, spec in replicas(view, field):
        inner = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy")
        if inner and inner != spec.get("restartPolicy"):
            at = (*route, "template", "spec", "restartPolicy")
            yield Fault(at, f"`{inner}` is ignored; the operator uses the role's `restartPolicy`")


@operators(
    "clean-pod-policy",
    *_ALL,
    str(MPIJOB),
    reason="The operators compare with `None` and `Running`, and treat any other text, such as `none`, as `All`.",
    remedy="Use `None`, `Running` or `All`.",
)
def clean_pod_policy(view: ObjectView) -> Faults:
    """The clean-up policy for pods is unknown to the operator."""
    for holder, route in ((view.spec.get("runPolicy") or {}, ("spec", "runPolicy")), (view.spec, ("spec",))):
        policy = holder.get("cleanPodPolicy")
        if policy and policy not in CLEANUP_POLICIES:
            yield not_one_of(policy, CLEANUP_POLICIES).at((*route, "cleanPodPolicy"))


@operators(
    "tf-chief",
    str(TFJOB),
    reason=WEBHOOK,
    remedy="Keep either `Chief` or `Master`.",
)
def tf_chief(view: ObjectView) -> Faults:
    """A TFJob has both `Chief` and `Master`."""
    field = roles_of(view).role_map
    roles = view.spec.get(field) or {}
    if "Chief" in roles and "Master" in roles:
        yield Fault(("spec", field, "Master"), "`Chief` and `Master` are mutually exclusive")


@operators(
    "tf-success-policy",
    str(TFJOB),
    reason="With any text but `AllWorkers` the first worker decides; with a chief the field is ignored.",
    remedy="Set it to `AllWorkers`, or remove it.",
)
def tf_success_policy(view: ObjectView) -> Faults:
    """The success policy is neither empty nor `AllWorkers`."""
    policy = view.spec.get("successPolicy", "")
    if policy not in {"", "AllWorkers"}:
        yield Fault(("spec", "successPolicy"), f"`{policy}` is not allowed; expected `AllWorkers`")


@operators(
    "training-managed-by",
    *(kind for kind in _ALL if kind != str(JAXJOB)),
    reason=WEBHOOK,
    remedy=f"Set it to `{_OPERATOR}` or `{MULTIKUEUE}`, or remove it.",
)
def training_managed_by(view: ObjectView) -> Faults:
    """`managedBy` is neither the operator nor MultiKueue."""
    manager = (view.spec.get("runPolicy") or {}).get("managedBy", _OPERATOR)
    if manager not in {_OPERATOR, MULTIKUEUE}:
        yield not_one_of(manager, (_OPERATOR, MULTIKUEUE)).at(("spec", "runPolicy", "managedBy"))
