"""The state of runs, as commands show it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Diagnostic


class Phase(StrEnum):
    """Where a run is between its file and its end."""

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
    """How much of a run has ended."""

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
    wanted: str | None
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
    parent: str = ""
    """The run or the schedule that started it; empty for those of files."""
    step: str = ""
    """Its step, in a pipeline."""
    progress: Progress | None = None
    """How far a pipeline or a search is."""

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        return self.overlay, self.namespace, self.job, self.kind, self.name

    @property
    def in_order(self) -> bool:
        """Whether it needs no attention. A search goes on after a trial that failed."""
        if self.wanted == "search":
            return True
        return self.wanted is not None and not self.drift and self.phase not in {Phase.FAILED, Phase.MISSING}


class ClusterStatus(Struct, frozen=True, kw_only=True):
    """The requested runs, with findings about missing answers."""

    runs: tuple[RunStatus, ...]
    findings: tuple[Diagnostic, ...]
    time: str
    """Time of the answers, in UTC."""
    changed: bool = False
    """Whether it only has the runs that changed since the answer before."""
