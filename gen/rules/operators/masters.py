"""Masters, workers and their rendezvous: PyTorchJob, and the master of XGBoostJob.

From `pkg/webhooks/{pytorch,xgboost}` and `pkg/controller.v1/pytorch` of kubeflow/trainer 1.9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Severity
from gen.resources.kubeflow import PYTORCHJOB, XGBOOSTJOB
from gen.rules.fault import Fault, not_one_of
from gen.rules.operators.training import WEBHOOK, roles_of
from gen.rules.rule import operators

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_REPLICAS = PYTORCHJOB.pods[0].role_map


@operators(
    "single-master",
    str(PYTORCHJOB),
    str(XGBOOSTJOB),
    reason=f"{WEBHOOK} It runs before the default is set.",
    remedy="Set `replicas: 1` under `Master`.",
)
def single_master(view: ObjectView) -> Faults:
    """The master does not have an explicit `replicas: 1`, or an XGBoostJob has no master."""
    field = roles_of(view).role_map
    master = (view.spec.get(field) or {}).get("Master")
    if master is None:
        if view.kind == XGBOOSTJOB.kind and view.spec.get(field):
            yield Fault(("spec", field), "`Master` is missing")
    elif master.get("replicas") != 1:
        at = ("spec", field, "Master")
        yield Fault((*at, "replicas") if "replicas" in master else at, "a master requires an explicit `replicas: 1`")


@operators(
    "pytorch-workers",
    str(PYTORCHJOB),
    reason=WEBHOOK,
    remedy="Remove `Worker`, or set at least 1 replica.",
)
def pytorch_workers(view: ObjectView) -> Faults:
    """`Worker` has fewer than 1 replica."""
    worker = (view.spec.get(_REPLICAS) or {}).get("Worker") or {}
    if worker.get("replicas", 1) < 1:
        yield Fault(("spec", _REPLICAS, "Worker", "replicas"), f"{worker['replicas']} is less than 1")


@operators(
    "pytorch-elastic",
    str(PYTORCHJOB),
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


@operators(
    "pytorch-elastic-nproc",
    str(PYTORCHJOB),
    reason="The field is deprecated, and the webhook warns about it.",
    remedy="Use `spec.nprocPerNode` instead.",
    severity=Severity.WARNING,
)
def pytorch_elastic_nproc(view: ObjectView) -> Faults:
    """The number of processes is set in `elasticPolicy`."""
    if "nProcPerNode" in (view.spec.get("elasticPolicy") or {}) and "nprocPerNode" not in view.spec:
        yield Fault(("spec", "elasticPolicy", "nProcPerNode"), "`elasticPolicy.nProcPerNode` is deprecated")


@operators(
    "pytorch-rdzv-backend",
    str(PYTORCHJOB),
    reason="torchrun supports only these backends; the definition allows any text.",
    remedy="Use `c10d`, `etcd` or `etcd-v2`.",
)
def pytorch_rdzv_backend(view: ObjectView) -> Faults:
    """The rendezvous backend is unknown to torchrun."""
    backend = (view.spec.get("elasticPolicy") or {}).get("rdzvBackend", "c10d")
    if backend not in {"c10d", "etcd", "etcd-v2"}:
        yield not_one_of(backend, ("c10d", "etcd", "etcd-v2")).at(("spec", "elasticPolicy", "rdzvBackend"))


@operators(
    "pytorch-rendezvous",
    str(PYTORCHJOB),
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
