"""MPIJob of the training operator (v1) and of the MPI operator (v2beta1). Neither has a webhook.

From `pkg/apis/kubeflow.org/v1/mpi_validation.go` of kubeflow/trainer 1.9, and
`pkg/apis/kubeflow/validation/validation.go` of kubeflow/mpi-operator 0.8. An invalid job only gets an event.
"""

from __future__ import annotations

from gen.kubernetes.facts.kubeflow import MPI_OPERATOR, MPIJOB, V2
from gen.kubernetes.rules import Fault, Faults, ObjectView, not_one_of, operator_rule
from gen.kubernetes.rules.operators.common import (
    MULTIKUEUE,
    derived_names,
    name_fault,
    replicas,
    unknown_role,
    value_rule,
)
from gen.kubernetes.rules.value_checks import if_set, one_of

_MPI = str(MPIJOB)
_FIELD = MPIJOB.pods[0].role_map
_CONTROLLER = "The operator ignores the job, and only records an event."
_NOT_NEGATIVE = ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit")


def _is_v2(view: ObjectView) -> bool:
    version: str = view.body["apiVersion"]
    return version == V2


@operator_rule("mpi-launcher", _MPI, reason=_CONTROLLER, remedy="Add a `Launcher` with `replicas: 1`.")
def mpi_launcher(view: ObjectView) -> Faults:
    """A job has no launcher, or more than one."""
    roles = view.spec.get(_FIELD) or {}
    if "Launcher" not in roles and "launcher" not in map(str.lower, roles):  # which `mpi-roles` reports
        yield Fault(("spec", _FIELD) if _FIELD in view.spec else (), "`Launcher` is missing")
    elif "Launcher" in roles and roles["Launcher"].get("replicas", 1) != 1:
        yield Fault(("spec", _FIELD, "Launcher", "replicas"), f"{roles['Launcher']['replicas']} launchers; expected 1")


@operator_rule("mpi-roles", _MPI, reason=_CONTROLLER, remedy="Use `Launcher` and `Worker`, in exactly this spelling.")
def mpi_roles(view: ObjectView) -> Faults:
    """A role is not `Launcher` or `Worker`, or has no containers."""
    for role, route, spec in replicas(view, _FIELD):
        if role not in MPIJOB.pods[0].roles:
            yield unknown_role(route, role, MPIJOB.pods[0].roles)
        elif not ((spec.get("template") or {}).get("spec") or {}).get("containers"):
            yield Fault(route, f"role `{role}` has no containers")


@operator_rule(
    "mpi-workers",
    _MPI,
    reason=f"{_CONTROLLER} In v2beta1, the default is 0, which is rejected.",
    remedy="Set the number of workers to at least 1, or remove `Worker`.",
)
def mpi_workers(view: ObjectView) -> Faults:
    """In v2beta1, `Worker` has no `replicas`, or fewer than 1."""
    worker = (view.spec.get(_FIELD) or {}).get("Worker")
    if worker is not None and _is_v2(view) and worker.get("replicas", 0) < 1:
        at = ("spec", _FIELD, "Worker")
        yield Fault((*at, "replicas") if "replicas" in worker else at, "`replicas` must be at least 1")


@operator_rule(
    "mpi-name",
    _MPI,
    reason="Pods are named `<job>-launcher` and `<job>-worker-<index>`, and their names are host names.",
    remedy="Shorten the name to 54 characters for up to 10 workers, and begin it with a letter.",
)
def mpi_name(view: ObjectView) -> Faults:
    """A name that the operator derives for pods is not a DNS-1035 label of at most 63 characters."""
    yield from name_fault(derived_names(view))


@operator_rule("mpi-numbers", _MPI, reason=_CONTROLLER, remedy="Use 0 or more.")
def mpi_numbers(view: ObjectView) -> Faults:
    """A number of slots, a limit or a time is negative."""
    if view.spec.get("slotsPerWorker", 0) < 0:
        yield Fault(("spec", "slotsPerWorker"), f"{view.spec['slotsPerWorker']} is negative")
    policy = view.spec.get("runPolicy") or {}
    for field in _NOT_NEGATIVE:
        if policy.get(field, 0) < 0:
            yield Fault(("spec", "runPolicy", field), f"{policy[field]} is negative")


mpi_words = value_rule(
    "mpi-words",
    "The MPI implementation or the launcher's creation policy is unknown to the operator.",
    _MPI,
    checks={
        "spec.mpiImplementation": if_set(one_of("OpenMPI", "Intel", "MPICH")),
        "spec.launcherCreationPolicy": if_set(one_of("AtStartup", "WaitForWorkersReady")),
    },
    reason="The operator rejects an unknown implementation, and treats any other creation policy as "
    "`WaitForWorkersReady`.",
    remedy="Use one of the values that the finding lists.",
)


@operator_rule(
    "mpi-managed-by", _MPI, reason=_CONTROLLER, remedy=f"Set it to `{MPI_OPERATOR}` or `{MULTIKUEUE}`, or remove it."
)
def mpi_managed_by(view: ObjectView) -> Faults:
    """In v2beta1, `managedBy` is neither the operator nor MultiKueue."""
    manager = (view.spec.get("runPolicy") or {}).get("managedBy", MPI_OPERATOR)
    if _is_v2(view) and manager not in {MPI_OPERATOR, MULTIKUEUE}:
        yield not_one_of(manager, (MPI_OPERATOR, MULTIKUEUE)).at(("spec", "runPolicy", "managedBy"))
