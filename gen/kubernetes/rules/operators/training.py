"""Training operator (`kubeflow.org/v1`), except MPIJob.

From `pkg/webhooks/<kind>/*_webhook.go`, `pkg/common/util/webhooks.go`, `pkg/controller.v1/common` and
`pkg/controller.v1/pytorch` of kubeflow/trainer 1.9, which contains the training operator.
"""

from __future__ import annotations

from typing import Final

from gen.base import Severity
from gen.kubernetes.facts import kubeflow
from gen.kubernetes.facts.base import PodSet, Resource
from gen.kubernetes.rules import Fault, Faults, ObjectView, not_one_of, operator_rule, placed
from gen.kubernetes.rules.operators.common import (
    derived_names,
    managed_by,
    name_fault,
    replicas,
    unknown_role,
    value_rule,
)
from gen.kubernetes.rules.value_checks import dns_1035_label, if_set, one_of

TRAINING: Final = {
    kind.kind: kind
    for kind in (kubeflow.TFJOB, kubeflow.PYTORCHJOB, kubeflow.XGBOOSTJOB, kubeflow.PADDLEJOB, kubeflow.JAXJOB)
}
_ALL = tuple(map(str, TRAINING.values()))
WEBHOOK = "The webhook of the training operator rejects the object."


def roles_of(view: ObjectView) -> PodSet:
    """The replica map of a kind, and its roles."""
    return _facts(view).pods[0]


def _facts(view: ObjectView) -> Resource:
    return kubeflow.MPIJOB if view.kind == kubeflow.MPIJOB.kind else TRAINING[view.kind]


@operator_rule(
    "training-name",
    *_ALL,
    reason=f"{WEBHOOK} The operator creates services with the name, and service names begin with a letter.",
    remedy="Begin the name with a letter, and use at most 63 lower-case letters, digits and `-`.",
)
def training_name(view: ObjectView) -> Faults:
    """The name is not a DNS-1035 label."""
    name = view.metadata.get("name", "")
    yield from placed(dns_1035_label(name) if name else None, ("metadata", "name"))


@operator_rule(
    "training-name-length",
    *_ALL,
    reason="Each pod has a service `<job>-<role>-<index>`. A longer name is accepted, but the service is not created.",
    remedy="Shorten the name to 54 characters for up to 10 workers.",
)
def training_name_length(view: ObjectView) -> Faults:
    """A name that the operator derives for a service is longer than 63 characters."""
    if dns_1035_label(view.metadata.get("name", "")) is None:
        yield from name_fault(derived_names(view))


@operator_rule(
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


@operator_rule(
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
            yield unknown_role(route, role, pods.roles)


@operator_rule(
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


@operator_rule(
    "training-restart-policy",
    *_ALL,
    str(kubeflow.MPIJOB),
    reason="The definition allows any text, but the operators support only these values.",
    remedy="Use `OnFailure` or `Never`; MPIJob v2beta1 supports no others.",
)
def training_restart_policy(view: ObjectView) -> Faults:
    """The restart policy of a role is unknown to the operator."""
    allowed = _facts(view).versions.get(view.body["apiVersion"], kubeflow.RESTART_V1)
    field = roles_of(view).role_map
    for _, route, spec in replicas(view, field):
        policy = spec.get("restartPolicy", "")
        if policy and policy not in allowed:
            yield not_one_of(policy, allowed).at((*route, "restartPolicy"))


@operator_rule(
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


@operator_rule(
    "restart-policy-of-template",
    *_ALL,
    str(kubeflow.MPIJOB),
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


clean_pod_policy = value_rule(
    "clean-pod-policy",
    "The clean-up policy for pods is unknown to the operator.",
    *_ALL,
    str(kubeflow.MPIJOB),
    checks=dict.fromkeys(
        ("spec.runPolicy.cleanPodPolicy", "spec.cleanPodPolicy"), if_set(one_of(*kubeflow.CLEANUP_POLICIES))
    ),
    reason="The operators compare with `None` and `Running`, and treat any other text, such as `none`, as `All`.",
    remedy="Use `None`, `Running` or `All`.",
)


@operator_rule("tf-chief", str(kubeflow.TFJOB), reason=WEBHOOK, remedy="Keep either `Chief` or `Master`.")
def tf_chief(view: ObjectView) -> Faults:
    """A TFJob has both `Chief` and `Master`."""
    field = roles_of(view).role_map
    roles = view.spec.get(field) or {}
    if "Chief" in roles and "Master" in roles:
        yield Fault(("spec", field, "Master"), "`Chief` and `Master` are mutually exclusive")


@operator_rule(
    "tf-success-policy",
    str(kubeflow.TFJOB),
    reason="With any text but `AllWorkers` the first worker decides; with a chief the field is ignored.",
    remedy="Set it to `AllWorkers`, or remove it.",
)
def tf_success_policy(view: ObjectView) -> Faults:
    """The success policy is neither empty nor `AllWorkers`."""
    policy = view.spec.get("successPolicy", "")
    if policy not in {"", "AllWorkers"}:
        yield Fault(("spec", "successPolicy"), f"`{policy}` is not allowed; expected `AllWorkers`")


training_managed_by = managed_by(
    "training-managed-by",
    "the training operator",
    kubeflow.TRAINING_OPERATOR,
    *(kind for kind in _ALL if kind != str(kubeflow.JAXJOB)),
    fields=["spec.runPolicy.managedBy"],
    reason=WEBHOOK,
)
_REPLICAS = kubeflow.PYTORCHJOB.pods[0].role_map


@operator_rule(
    "single-master",
    str(kubeflow.PYTORCHJOB),
    str(kubeflow.XGBOOSTJOB),
    reason=f"{WEBHOOK} It runs before the default is set.",
    remedy="Set `replicas: 1` under `Master`.",
)
def single_master(view: ObjectView) -> Faults:
    """The master does not have an explicit `replicas: 1`, or an XGBoostJob has no master."""
    field = roles_of(view).role_map
    master = (view.spec.get(field) or {}).get("Master")
    if master is None:
        if view.kind == kubeflow.XGBOOSTJOB.kind and view.spec.get(field):
            yield Fault(("spec", field), "`Master` is missing")
    elif master.get("replicas") != 1:
        at = ("spec", field, "Master")
        yield Fault((*at, "replicas") if "replicas" in master else at, "a master requires an explicit `replicas: 1`")


@operator_rule(
    "pytorch-workers", str(kubeflow.PYTORCHJOB), reason=WEBHOOK, remedy="Remove `Worker`, or set at least 1 replica."
)
def pytorch_workers(view: ObjectView) -> Faults:
    """`Worker` has fewer than 1 replica."""
    worker = (view.spec.get(_REPLICAS) or {}).get("Worker") or {}
    if worker.get("replicas", 1) < 1:
        yield Fault(("spec", _REPLICAS, "Worker", "replicas"), f"{worker['replicas']} is less than 1")


@operator_rule(
    "pytorch-elastic",
    str(kubeflow.PYTORCHJOB),
    reason=WEBHOOK,
    remedy="Add `Worker`, and set the number of processes once, as `nprocPerNode`.",
)
def pytorch_elastic(view: ObjectView) -> Faults:
    """An elastic job has no workers, or sets the number of processes per node twice."""
    policy = view.spec.get("elasticPolicy")
    if policy is None:
        return
    at = ("spec", "elasticPolicy")
    if "Worker" not in (view.spec.get(_REPLICAS) or {}):
        yield Fault(at, "an elastic job requires a `Worker`")
    if "nProcPerNode" in policy and "nprocPerNode" in view.spec:
        yield Fault((*at, "nProcPerNode"), "`spec.nprocPerNode` is already set")


@operator_rule(
    "pytorch-elastic-nproc",
    str(kubeflow.PYTORCHJOB),
    reason="The field is deprecated, and the webhook warns about it.",
    remedy="Use `spec.nprocPerNode` instead.",
    severity=Severity.WARNING,
)
def pytorch_elastic_nproc(view: ObjectView) -> Faults:
    """The number of processes is set in `elasticPolicy`."""
    if "nProcPerNode" in (view.spec.get("elasticPolicy") or {}) and "nprocPerNode" not in view.spec:
        yield Fault(("spec", "elasticPolicy", "nProcPerNode"), "`elasticPolicy.nProcPerNode` is deprecated")


pytorch_rdzv_backend = value_rule(
    "pytorch-rdzv-backend",
    "The rendezvous backend is unknown to torchrun.",
    str(kubeflow.PYTORCHJOB),
    checks={"spec.elasticPolicy.rdzvBackend": one_of("c10d", "etcd", "etcd-v2")},
    reason="torchrun supports only these backends; the definition allows any text.",
    remedy="Use `c10d`, `etcd` or `etcd-v2`.",
)


@operator_rule(
    "pytorch-rendezvous",
    str(kubeflow.PYTORCHJOB),
    reason="Without a master and without `elasticPolicy`, the operator sets no address and no rank.",
    remedy="Add a `Master` or an `elasticPolicy`.",
    severity=Severity.WARNING,
)
def pytorch_rendezvous(view: ObjectView) -> Faults:
    """Several workers have neither a master nor an elastic policy, so they cannot find each other."""
    roles = view.spec.get(_REPLICAS) or {}
    workers = (roles.get("Worker") or {}).get("replicas", 1)
    if workers > 1 and "Master" not in roles and "elasticPolicy" not in view.spec:
        yield Fault(("spec", _REPLICAS), f"{workers} workers have neither a `Master` nor an `elasticPolicy`")
