"""Results of rendering: per run and overlay, per overlay, per job file, and for the whole repository.

Worker processes and the cache pass them on, so msgspec can encode every value. It resolves the annotations, so their
types are imported outside of `TYPE_CHECKING`. Defaults are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field, msgpack

from gen.base import Diagnostic, Findings, Location
from gen.base.repository.layout import JobFile
from gen.render.manifest import Deletion, File


class RenderedObjects(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Objects rendered for an overlay."""

    overlay: str
    files: tuple[File, ...]
    matched: frozenset[int]
    """Indices of the overlay's patches that changed at least one of the objects."""
    deletions: frozenset[Deletion] = frozenset()
    """Directives of these patches that delete."""


class Behind(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A committed run that was kept although a new render gives its job another one: the platform changed since."""

    run: str
    """Hash of the kept run."""
    kept: tuple[str, ...]
    """Paths of its objects, its workload first."""
    fresh: tuple[File, ...]
    """Objects of the new run."""
    claims: tuple[str, ...] = ()
    """Claims that the kept run mounts, as `overlay/namespace/name`."""
    lost: tuple[str, ...] = ()
    """Permissions of its pods that the overlay does not grant any more."""
    without: tuple[str, ...] = ()
    """Limits of the new run's pods that it lacks."""


class RenderedJob(RenderedObjects, frozen=True, kw_only=True):
    """One run of a job file in one overlay."""

    namespace: str
    name: str
    volumes: tuple[str, ...]
    """Volumes of the overlay that the job mounts."""
    gpus: int
    """GPUs that the job requests while it is active."""
    accelerators: dict[str, int]
    """These GPUs by accelerator, for those with a name."""
    pods: int
    """Pods that the job has while it is active, and its TensorBoard."""
    kinds: tuple[str, ...]
    """Kinds of the objects, as `group/Kind`."""
    steps: tuple[str, ...] = ()
    """Objects that a workflow creates for the steps of a pipeline, as `Kind namespace/name`."""
    resumes: str = ""
    """The folder of the earlier run that it continues from, as `volume:path`; empty without one."""
    behind: Behind | None = None
    """None if the run is the one that a new render gives."""


class RenderedOverlay(RenderedObjects, frozen=True, kw_only=True):
    """Objects that belong to an overlay and to no job: its storage, or its GitOps bundle."""


class JobInOverlay(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One job file in one overlay that selects it."""

    overlay: str
    names: tuple[str, ...]
    """Names of the runs, also of those that could not be rendered."""
    rendered: tuple[RenderedJob, ...]
    """One per run; empty if the job has an error."""


class JobResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One job file in all overlays that select it."""

    job: JobFile
    digest: str
    """SHA-256 of the file; empty if the file could not be read."""
    name: str
    """Name of the job, which is the file's unless the job sets `name`."""
    kind: str
    """Kind of the job; empty if it is missing or not a string."""
    overlays: tuple[JobInOverlay, ...]
    findings: tuple[Diagnostic, ...]
    lock: str = ""
    """SHA-256 of the lock of the job; empty without one."""
    clusters: tuple[tuple[str, Location], ...] = ()
    """Overlays that the job names, with their places."""
    record: bool = False
    """Whether the job declares its runs as records, which start nowhere."""

    @property
    def rendered(self) -> tuple[RenderedJob, ...]:
        """Runs of the job in all overlays."""
        return tuple(job for one in self.overlays for job in one.rendered)


class JobResults:
    """Codec for results of other processes: a third of the time of pickle."""

    def __init__(self) -> None:
        self._decoder = msgpack.Decoder(list[JobResult])

    def encode(self, results: list[JobResult]) -> bytes:
        return msgpack.encode(results)

    def decode(self, encoded: bytes) -> list[JobResult]:
        return self._decoder.decode(encoded)


class RunResult(Struct, frozen=True, kw_only=True):
    """Expected content of `rendered/`, for the jobs and overlays that were requested."""

    files: Mapping[str, File]
    """Files by path."""
    overlays: tuple[str, ...]
    jobs: int
    """Number of job files."""
    whole: bool
    """Whether all jobs and overlays were requested. If so, `rendered/` must contain no other files."""
    findings: Findings = field(default_factory=Findings)
    folders: frozenset[str] = frozenset()
    """Folders of the requested jobs. They must contain no other files."""
    keep: tuple[str, ...] = ()
    """Patterns for other files in `rendered/`."""
    behind: tuple[RenderedJob, ...] = ()
    """Jobs with a kept run that is behind the platform."""
    resumed: tuple[RenderedJob, ...] = ()
    """Jobs with a run that continues from an earlier one."""
    requested: Mapping[tuple[str, str, tuple[str, ...]], int] = {}
    """Requests of active jobs by overlay, namespace and quota; empty if they were not counted again."""

    @property
    def kept_claims(self) -> frozenset[str]:
        """Claims that kept runs mount, as `overlay/namespace/name`: the overlay may not have their volumes any more."""
        return frozenset(claim for job in self.behind if job.behind is not None for claim in job.behind.claims)
