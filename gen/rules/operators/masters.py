"""Masters, workers and how they find each other: PyTorchJob, and the master of XGBoostJob.

From `pkg/webhooks/{pytorch,xgboost}` and `pkg/controller.v1/pytorch` of kubeflow/trainer 1.9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Severity
from gen.rules.fault import Fault, not_one_of
from gen.rules.operators.training import KINDS, WEBHOOK
from gen.rules.rule import operators

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView


@operators(
    "single-master",
    "kubeflow.org/PyTorchJob",
    "kubeflow.org/XGBoostJob",
    reason=f"{WEBHOOK} The default is not filled in before it looks.",
    remedy="Write `replicas: 1` under `Master`.",
)
def single_master(view: ObjectView) -> Faults:
    """The master has `replicas: 1`, written out; an XGBoostJob always has one."""
    field = KINDS[view.kind].field
    master = (view.spec.get(field) or {}).get("Master")
    if master is None:
        if view.kind == "XGBoostJob" and view.spec.get(field):
            yield Fault(("spec", field), "needs a `Master`")
    elif master.get("replicas") != 1:
        at = ("spec", field, "Master")
        yield Fault((*at, "replicas") if "replicas" in master else at, "a master has `replicas: 1`, written out")


@operators(
    "pytorch-workers",
    "kubeflow.org/PyTorchJob",
    reason=WEBHOOK,
    remedy="Leave `Worker` out where there is none.",
)
def pytorch_workers(view: ObjectView) -> Faults:
    """`Worker` has at least one replica where it says how many."""
    worker = (view.spec.get("pytorchReplicaSpecs") or {}).get("Worker") or {}
    if worker.get("replicas", 1) < 1:
        yield Fault(("spec", "pytorchReplicaSpecs", "Worker", "replicas"), f"{worker['replicas']} is less than 1")


@operators(
    "pytorch-elastic",
    "kubeflow.org/PyTorchJob",
    reason=WEBHOOK,
    remedy="Add `Worker`, and say the number of processes once, as `nprocPerNode`.",
)
def pytorch_elastic(view: ObjectView) -> Faults:
    """An elastic job has workers, and one number of processes on each node."""
    policy = view.spec.get("elasticPolicy")
    if policy is None:
        return
    at = ("spec", "elasticPolicy")
    if "Worker" not in (view.spec.get("pytorchReplicaSpecs") or {}):
        yield Fault(at, "an elastic job needs a `Worker`")
    if "nProcPerNode" in policy and "nprocPerNode" in view.spec:
        yield Fault((*at, "nProcPerNode"), "`spec.nprocPerNode` says it already")


@operators(
    "pytorch-elastic-nproc",
    "kubeflow.org/PyTorchJob",
    reason="The field is deprecated; the webhook warns of it.",
    remedy="Write `spec.nprocPerNode` instead.",
    severity=Severity.WARNING,
)
def pytorch_elastic_nproc(view: ObjectView) -> Faults:
    """The number of processes is not given in `elasticPolicy`."""
    if "nProcPerNode" in (view.spec.get("elasticPolicy") or {}) and "nprocPerNode" not in view.spec:
        yield Fault(("spec", "elasticPolicy", "nProcPerNode"), "`elasticPolicy.nProcPerNode` is deprecated")


@operators(
    "pytorch-rdzv-backend",
    "kubeflow.org/PyTorchJob",
    reason="torchrun knows these backends; the definition takes any text.",
    remedy="Write `c10d`, `etcd` or `etcd-v2`.",
)
def pytorch_rdzv_backend(view: ObjectView) -> Faults:
    """The rendezvous backend is one that torchrun has."""
    backend = (view.spec.get("elasticPolicy") or {}).get("rdzvBackend", "c10d")
    if backend not in {"c10d", "etcd", "etcd-v2"}:
        yield not_one_of(backend, ("c10d", "etcd", "etcd-v2")).at(("spec", "elasticPolicy", "rdzvBackend"))


@operators(
    "pytorch-rendezvous",
    "kubeflow.org/PyTorchJob",
    reason="Without a master and without `elasticPolicy`, the operator sets no address and no rank.",
    remedy="Add a `Master`, or an `elasticPolicy`.",
    severity=Severity.WARNING,
)
def pytorch_rendezvous(view: ObjectView) -> Faults:
    """Several workers have a master or an elastic policy, by which they find each other."""
    roles = view.spec.get("pytorchReplicaSpecs") or {}
    workers = (roles.get("Worker") or {}).get("replicas", 1)
    if workers > 1 and "Master" not in roles and "elasticPolicy" not in view.spec:
        yield Fault(
            ("spec", "pytorchReplicaSpecs"), f"{workers} workers have neither a `Master` nor an `elasticPolicy`"
        )
