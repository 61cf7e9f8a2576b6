"""The kinds whose objects are runs, and where each says what matters to a GitOps engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gen.kubernetes import at

if TYPE_CHECKING:
    from gen.kubernetes import Body


@dataclass(frozen=True, slots=True)
class Run:
    """Fields of a kind; None where it has none."""

    ttl: tuple[str, ...] | None = ("spec", "ttlSecondsAfterFinished")
    """The time after which the object itself is deleted."""
    suspend: tuple[str, ...] | None = ("spec", "suspend")
    deadline: tuple[str, ...] | None = ("spec", "activeDeadlineSeconds")
    cleanup: tuple[str, ...] | None = None


_POLICY = ("spec", "runPolicy")
_TRAINING = Run(
    ttl=(*_POLICY, "ttlSecondsAfterFinished"),
    suspend=(*_POLICY, "suspend"),
    deadline=(*_POLICY, "activeDeadlineSeconds"),
    cleanup=(*_POLICY, "cleanPodPolicy"),
)
_KUBEFLOW = ("PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob")

RUNS: Final[dict[tuple[str, str], Run]] = {
    ("batch", "Job"): Run(),
    **{("kubeflow.org", kind): _TRAINING for kind in _KUBEFLOW},
    # a TrainJob has no time to live, and that of a RayJob removes its cluster and not the object
    ("trainer.kubeflow.org", "TrainJob"): Run(ttl=None),
    ("ray.io", "RayJob"): Run(ttl=None),
    ("jobset.x-k8s.io", "JobSet"): Run(deadline=None),
    ("batch.volcano.sh", "Job"): Run(suspend=None, deadline=None),
}
"""By group and kind."""

_FINISHED = (("argocd.argoproj.io/hook", "Skip"), ("kustomize.toolkit.fluxcd.io/ssa", "Ignore"))
DATA: Final = (("", "PersistentVolume"), ("", "PersistentVolumeClaim"))


def having(field: str) -> tuple[tuple[str, str], ...]:
    """The kinds that have a field."""
    return tuple(pair for pair, run in RUNS.items() if getattr(run, field) is not None)


def is_finished(body: Body) -> bool:
    """Whether engines are told to leave the object alone, as they are of a finished run (D5)."""
    return any(at(body, "metadata", "annotations", key) == value for key, value in _FINISHED)
