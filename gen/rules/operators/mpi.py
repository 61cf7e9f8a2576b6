"""MPIJob, of the training operator (v1) and of the MPI operator (v2beta1). Neither has a webhook.

From `pkg/apis/kubeflow.org/v1/mpi_validation.go` of kubeflow/trainer 1.9, and
`pkg/apis/kubeflow/validation/validation.go` of kubeflow/mpi-operator 0.8: a job that fails there only gets an event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault, not_one_of
from gen.rules.operators.common import MULTIKUEUE, last, name_fault, replicas
from gen.rules.rule import operators

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_MPI = "kubeflow.org/MPIJob"
_FIELD = "mpiReplicaSpecs"
_CONTROLLER = "The operator does nothing with the job but say so in an event."
_OPERATOR = "kubeflow.org/mpi-operator"
_NOT_NEGATIVE = ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit")


def _is_v2(view: ObjectView) -> bool:
    version: str = view.body["apiVersion"]
    return version == "kubeflow.org/v2beta1"


@operators("mpi-launcher", _MPI, reason=_CONTROLLER, remedy="Write a `Launcher` with `replicas: 1`.")
def mpi_launcher(view: ObjectView) -> Faults:
    """A job has one launcher."""
    roles = view.spec.get(_FIELD) or {}
    if "Launcher" not in roles:
        yield Fault(("spec", _FIELD) if _FIELD in view.spec else (), "an MPIJob has a `Launcher`")
    elif roles["Launcher"].get("replicas", 1) != 1:
        yield Fault(
            ("spec", _FIELD, "Launcher", "replicas"), f"{roles['Launcher']['replicas']} launchers; there is one"
        )


@operators("mpi-roles", _MPI, reason=_CONTROLLER, remedy="Use `Launcher` and `Worker`, in exactly this spelling.")
def mpi_roles(view: ObjectView) -> Faults:
    """Roles are `Launcher` and `Worker`, with containers."""
    for role, route, spec in replicas(view, _FIELD):
        if role not in {"Launcher", "Worker"}:
            yield Fault(route, f"an MPIJob has no role `{role}`; expected `Launcher`, `Worker`")
        elif not ((spec.get("template") or {}).get("spec") or {}).get("containers"):
            yield Fault(route, f"the role `{role}` has no containers")


@operators(
    "mpi-workers",
    _MPI,
    reason=f"{_CONTROLLER} Of v2beta1, the default is 0, which is refused.",
    remedy="Write how many workers there are, at least 1, or leave `Worker` out.",
)
def mpi_workers(view: ObjectView) -> Faults:
    """Of v2beta1, `Worker` says how many there are, and there is one at least."""
    worker = (view.spec.get(_FIELD) or {}).get("Worker")
    if worker is not None and _is_v2(view) and worker.get("replicas", 0) < 1:
        at = ("spec", _FIELD, "Worker")
        yield Fault((*at, "replicas") if "replicas" in worker else at, "needs `replicas`, at least 1")


@operators(
    "mpi-name",
    _MPI,
    reason="Pods are called `<job>-launcher` and `<job>-worker-<index>`, and their names are those of hosts.",
    remedy="Shorten the name to 54 characters with up to 10 workers, and begin it with a letter.",
)
def mpi_name(view: ObjectView) -> Faults:
    """The names of pods that the operator makes of the name are DNS-1035 labels of at most 63 characters."""
    name = view.metadata.get("name", "")
    worker = (view.spec.get(_FIELD) or {}).get("Worker") or {}
    yield from name_fault(view, f"{name}-launcher", f"{name}-worker-{last(worker.get('replicas', 1))}")


@operators("mpi-numbers", _MPI, reason=_CONTROLLER, remedy="Write 0 or more.")
def mpi_numbers(view: ObjectView) -> Faults:
    """Slots, limits and times are not negative."""
    if view.spec.get("slotsPerWorker", 0) < 0:
        yield Fault(("spec", "slotsPerWorker"), f"{view.spec['slotsPerWorker']} is negative")
    policy = view.spec.get("runPolicy") or {}
    for field in _NOT_NEGATIVE:
        if policy.get(field, 0) < 0:
            yield Fault(("spec", "runPolicy", field), f"{policy[field]} is negative")


@operators(
    "mpi-words",
    _MPI,
    reason="The operator refuses an implementation that it does not know, and takes any other creation policy for "
    "`WaitForWorkersReady`.",
    remedy="Use one of the words of the field.",
)
def mpi_words(view: ObjectView) -> Faults:
    """The implementation and the launcher's creation policy are words that the operator knows."""
    words = {
        "mpiImplementation": ("OpenMPI", "Intel", "MPICH"),
        "launcherCreationPolicy": ("AtStartup", "WaitForWorkersReady"),
    }
    for field, allowed in words.items():
        value = view.spec.get(field, "")
        if value and value not in allowed:
            yield not_one_of(value, allowed).at(("spec", field))


@operators(
    "mpi-managed-by", _MPI, reason=_CONTROLLER, remedy=f"Write `{_OPERATOR}` or `{MULTIKUEUE}`, or leave it out."
)
def mpi_managed_by(view: ObjectView) -> Faults:
    """Of v2beta1, `managedBy` names the operator or MultiKueue."""
    manager = (view.spec.get("runPolicy") or {}).get("managedBy", _OPERATOR)
    if _is_v2(view) and manager not in {_OPERATOR, MULTIKUEUE}:
        yield not_one_of(manager, (_OPERATOR, MULTIKUEUE)).at(("spec", "runPolicy", "managedBy"))
