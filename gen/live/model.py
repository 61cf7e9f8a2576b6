"""The state of runs: phases, progress, and rows for commands."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from gen.base import Diagnostic
from gen.live.diagnosis import Diagnosis


class Phase(StrEnum):
    """Phase of a run, from its file to its end."""

    MISSING = "missing"
    """In Git, but not in the cluster."""
    SUSPENDED = "suspended"
    QUEUED = "queued"
    """A queue has not admitted it."""
    PENDING = "pending"
    """No pod runs yet."""
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SCHEDULED = "scheduled"
    """A schedule, which starts runs at its times."""
    GONE = "gone"
    """Finished in Git, and no longer in the cluster."""
    UNKNOWN = "unknown"
    """The cluster did not answer."""

    @property
    def ended(self) -> bool:
        return self in {Phase.SUCCEEDED, Phase.FAILED, Phase.GONE}


class Progress(Struct, frozen=True, kw_only=True):
    """Ended parts of a run."""

    done: int
    total: int
    unit: str
    """`step` or `trial`."""

    def __str__(self) -> str:
        return f"{self.done}/{self.total} {self.unit}s"


class RunStatus(Struct, frozen=True, kw_only=True):
    """A run in a cluster, and in Git."""

    overlay: str
    context: str
    namespace: str
    job: str
    file: str
    """Its job file; empty if Git does not have the run."""
    rendered: str
    """Its file in `rendered/`; empty if Git does not have the run."""
    kind: str
    name: str
    values: str
    """The values of a run of a sweep, as JSON."""
    desired: str | None
    """State in Git; None if Git does not have the run, and `schedule`, `pipeline` or `search` if one started it."""
    phase: Phase
    reason: str
    message: str
    running: int | None
    """Running pods; None if they are not known."""
    pods: int | None
    """Pods while the run is active; None if their number cannot be read."""
    restarts: int | None
    created: str
    """Time of creation, in UTC; empty without an object."""
    gpus: int | None
    accelerators: Mapping[str, int] = {}
    queue: str = ""
    position: int | None = None
    """Place in its queue, from 1; None if it is unknown."""
    drift: tuple[str, ...] = ()
    """Fields that have another value in the cluster than in Git."""
    settled: bool = False
    """Whether all its pods exist, and run or have succeeded."""
    scheduled: bool = False
    """Whether a schedule started it."""
    dispensable: bool = False
    """Whether the run that started it goes on after its failure."""
    parent: str = ""
    """The run or the schedule that started it; empty for those of files."""
    step: str = ""
    """Its step, in a pipeline."""
    progress: Progress | None = None
    """Ended steps of a pipeline, or trials of a search."""
    diagnosis: Diagnosis | None = None
    """For the runs of one job that was asked for."""

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        return self.overlay, self.namespace, self.job, self.kind, self.name

    @property
    def in_order(self) -> bool:
        """Whether it needs no attention."""
        if self.dispensable:
            return True
        return self.desired is not None and not self.drift and self.phase not in {Phase.FAILED, Phase.MISSING}


class ClusterStatus(Struct, frozen=True, kw_only=True):
    """The requested runs, with findings about missing answers."""

    runs: tuple[RunStatus, ...]
    findings: tuple[Diagnostic, ...]
    time: str
    """Time of the answers, in UTC."""
    changed: bool = False
    """Whether it has the runs only that changed since the previous answer."""
