"""Results of rendering: objects between the build and write stages, and what a run, an overlay, a job file and the
whole repository have.

Each stage returns objects of a type of its own, so none can be skipped. Worker processes and the cache pass results on,
so msgspec can encode every value. It resolves the annotations, so their types are imported outside of `TYPE_CHECKING`.
Defaults are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from msgspec import Struct, field, msgpack
from msgspec.structs import replace

from gen.base import Diagnostic, Findings, Location, Route, at
from gen.base.repository.layout import JobFile, Tree, rendered_folder
from gen.kubernetes.objects import Body, identity

if TYPE_CHECKING:
    from gen.job.queue import QueueProfile
    from gen.render.patch.provenance import Provenance


T = TypeVar("T")


class Manifest(Struct, frozen=True, kw_only=True):
    """One Kubernetes object."""

    body: Body
    name: str
    """Its name without the hash, the same for every run."""
    source: Location
    """Its source: the job file, or the declaration of the volume in the overlay."""
    folder: str
    """Its folder in the tree: `<namespace>/<job>`, `<namespace>` for storage, the name of the engine for a bundle."""
    tree: Tree = "jobs"
    file: str = ""
    """Its file, relative to the folder. [default: by its kind and name]"""
    of_run: bool = False
    """Whether it belongs to one run. If so, the hash covers its content, and its name contains the hash."""
    main_container: str | None = None
    """For a workload: the container that the operator takes for the training container."""
    step: str = ""
    """For the object of a step of a pipeline: the name of the step. The workflow creates it; it has no file."""
    whole_hash: bool = False
    """Whether the hash covers all of the objects in it, with their metadata, because none can change."""
    suspend: tuple[str, ...] = ()
    """Path of the field that suspends it, which the hash excludes."""
    queue: QueueProfile | None = None
    """For a workload: the declared queue that it uses."""

    @property
    def embedded(self) -> bool:
        """Whether a workflow contains the object, so that it has no file."""
        return bool(self.step) and self.is_workload

    @property
    def is_workload(self) -> bool:
        """Whether it is the object of a run that an operator runs."""
        return self.main_container is not None

    def folder_in(self, overlay: str) -> str:
        """Folder of its file in an overlay."""
        return rendered_folder(overlay, self.tree, self.folder)

    def with_body(self, body: Body) -> Manifest:
        return self if body is self.body else replace(self, body=body)

    @property
    def group_kind(self) -> str:
        """`group/Kind`, or `Kind` in the core group."""
        group, _, _ = str(self.body["apiVersion"]).rpartition("/")
        return f"{group}/{self.body['kind']}" if group else str(self.body["kind"])

    @property
    def identity(self) -> str:
        """`Kind namespace/name`, for messages."""
        return identity(self.body["kind"], at(self.body, "metadata", "namespace") or "", self.name)


class BuiltObjects(Struct, frozen=True):
    """Objects of the build stage."""

    manifests: tuple[Manifest, ...]


class Deletion(Struct, frozen=True, kw_only=True):
    """A `$patch: delete` that was applied to an object."""

    patch: int
    """Index of the overlay's patch."""
    route: Route
    """Route of the directive in the patch."""
    hint: str
    """How to correct it; empty if it deleted something."""


class PatchedObjects(Struct, frozen=True):
    """Objects after the patches of the overlay, with the provenance of patched values."""

    manifests: tuple[Manifest, ...]
    built: tuple[Manifest, ...]
    """The same objects before the patches."""
    provenance: tuple[Provenance, ...]
    matched: frozenset[int]
    """Indices of the overlay's patches that matched an object."""
    deletions: frozenset[Deletion] = frozenset()


class ValidObjects(Struct, frozen=True):
    """Objects that are valid for their schemas and rules with any hash of the run."""

    manifests: tuple[Manifest, ...]


class SealedObjects(Struct, frozen=True):
    """Objects with the hash of the run in place of `RUN`."""

    manifests: tuple[Manifest, ...]
    digest: str = ""
    """The hash, if the objects still have `RUN`: it is replaced when they are written."""


class File(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file below `rendered/`; its path uses `/`."""

    path: str
    text: str | None = None
    """None if it comes from the cache, which has only the digest, or if it is `stored`."""
    stored: Literal["", "unchanged", "staging"] = ""
    """Where the text is since this run compared it: in the file, which is `unchanged`, or in the staging folder."""
    characters: int = 0
    """Length of a text that is there."""
    digest: str
    """SHA-256 of the text after its first line."""
    identity: str
    """`Kind namespace/name` of its object."""
    source: Location
    """The job file, or the place in the overlay, that it was rendered from."""
    storage: bool = False
    """Whether it is storage, which is removed only with `--prune-storage`."""
    record: str = ""
    """Text of a run's record, in its first line (see `gen.render.rendered_object`)."""


class RenderedObjects(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Objects rendered for an overlay."""

    overlay: str
    files: tuple[File, ...]
    matched: frozenset[int]
    """Indices of the overlay's patches that changed at least one of the objects."""
    deletions: frozenset[Deletion] = frozenset()
    """Directives of these patches that delete."""


class OutdatedRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
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


class RunSummary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Values of an active run for a plan that does not change it, so that it need not parse the run's file."""

    job: str
    pods: int
    gpus: int = 0
    accelerators: dict[str, int] = {}
    seconds: int | None = None
    """Limit of the run time; None for unlimited."""
    queue: str = ""
    values: str = ""
    """Those of a run of a sweep, as JSON."""
    saves: str = ""
    resumes: str = ""


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
    summary: RunSummary | None = None
    """None for runs of objects that make others, and for those that are not active."""
    behind: OutdatedRun | None = None
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
    """Codec for results of other processes: a third of the time of pickle.

    Equal values of decoded results are one object: they were a third of the memory of a large run.
    """

    def __init__(self) -> None:
        self._decoder = msgpack.Decoder(list[JobResult])
        self._known: dict[Any, Any] = {}

    def encode(self, results: list[JobResult]) -> bytes:
        return msgpack.encode(results)

    def decode(self, encoded: bytes) -> list[JobResult]:
        return [self._shared(result) for result in self._decoder.decode(encoded)]

    def _shared(self, result: JobResult) -> JobResult:
        places: dict[Location, Location] = {}

        def of_file(file: File) -> File:
            return replace(file, source=places.setdefault(file.source, file.source))

        def of_run(run: RenderedJob) -> RenderedJob:
            common = {name: self._one(getattr(run, name)) for name in _COMMON}
            return replace(run, files=tuple(map(of_file, run.files)), **common)

        def of_overlay(one: JobInOverlay) -> JobInOverlay:
            return replace(one, overlay=self._one(one.overlay), rendered=tuple(map(of_run, one.rendered)))

        return replace(result, kind=self._one(result.kind), overlays=tuple(map(of_overlay, result.overlays)))

    def _one(self, value: T) -> T:
        one: T = self._known.setdefault(value, value)
        return one


_COMMON: Final = ("overlay", "matched", "deletions", "namespace", "volumes", "kinds")
"""Fields of a run with values that many others have."""


def summaries_of(rendered: Iterable[RenderedJob]) -> dict[str, RunSummary]:
    """The summaries of runs by the path of the object. Its first line has the record of the run."""
    known = ((job.files, job.summary) for job in rendered if job.summary is not None)
    return {file.path: one for files, one in known for file in files if file.record}


class OverQuota(Struct, frozen=True, kw_only=True):
    """The error about a quota that is exceeded."""

    key: tuple[str, str, tuple[str, ...]]
    """Overlay, namespace and quota."""
    amount: int
    """What the active jobs request."""
    error: Diagnostic
    excused: Diagnostic
    """The warning instead, if the base requests as much."""


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
    summaries: Mapping[str, RunSummary] = {}
    """Active runs by the path of their object."""
    requested: Mapping[tuple[str, str, tuple[str, ...]], int] = {}
    """Requests of active jobs by overlay, namespace and quota; empty if they were not counted again."""
    over_quota: tuple[OverQuota, ...] = ()
    """Those among the findings."""

    @property
    def kept_claims(self) -> frozenset[str]:
        """Claims that kept runs mount, as `overlay/namespace/name`: the overlay may not have their volumes any more."""
        return frozenset(claim for job in self.behind if job.behind is not None for claim in job.behind.claims)
