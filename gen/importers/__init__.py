"""Files of other tools as jobs, and the proof that these render the same objects.

`IMPORTERS` is the registry: one file or package for each tool, with an `Importer`, which turns submissions of the tool
into jobs and the fields of an overlay for them. See `docs/extending.md`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any, ClassVar, Final

from msgspec import Struct, field

from gen.base import Diagnostic, Findings, LazyRegistry, Location, Route
from gen.kubernetes.objects import Body

Fields = dict[str, Any]
"""Fields of a job or an overlay as they are written to YAML."""


class ImportInput(Struct, frozen=True, kw_only=True):
    """Input of an importer: a text, or the words of a command line."""

    file: str
    """Path for findings; `-` for standard input and for the words of a command line."""
    text: str = ""
    words: tuple[str, ...] = ()
    """Words that the shell of the user has expanded already."""
    namespace: str = ""
    """Namespace of all jobs; empty for the one that the other tool names."""
    files: tuple[tuple[str, bytes], ...] = ()
    """Paths and contents; the file of `text` for an importer without `reads_files`."""
    image: str = ""
    """Image of jobs for which it names none; empty if the user has chosen none."""
    otherwise: str = ""
    """Namespace of jobs for which it names none; empty if that is unclear."""
    name: str = ""
    """Name of the only job; empty for that of the other tool."""
    define: Mapping[str, str] = {}
    """Values of variables from outside."""
    site: tuple[str, bytes] | None = None
    """Path and content of the file with the names of a site."""
    as_is: bool = False
    """Whether pods keep fields that Kubernetes does not have, so that the proof finds them: settings of a pipeline."""

    def namespace_of(self, named: str) -> str:
        """Namespace of a job, which may be empty; `named` is that of the other tool."""
        return self.namespace or named or self.otherwise


class Original(Struct, frozen=True, kw_only=True):
    """The object that was imported as a job."""

    body: Body
    """Without values that the cluster added."""
    place: Location
    step: str = ""
    """Its step of a pipeline; empty for the run of a job."""
    held: bool = False
    """Whether the rendered object makes it several times, such as a trial."""
    lacks: tuple[Diagnostic, ...] = ()
    """Obstacles of the job that concern this step, at the places of others."""
    find: Callable[[Route, object], Location] | None = None
    """The place of a value at a route, or else of the object; None if the places are not those of the input."""


class ImportedJob(Struct, frozen=True, kw_only=True):
    """A job, which is not validated yet."""

    name: str
    namespace: str
    fields: Fields
    overlay: Fields
    """Fields that an overlay must have for the job, such as volumes."""
    grants: Fields
    """Fields that `namespaces.<namespace>` of the overlay must have."""
    comment: str
    """Where the job comes from."""
    place: Location
    places: dict[str, Location] = field(default_factory=dict)
    """Place of the origin of each field of the job; of a step, with the key `steps.<step>`."""
    originals: tuple[Original, ...] = ()
    """Objects that the rendered job is compared with, the run first, or one for each step; none if the other tool
    has no objects."""
    obstacles: tuple[Diagnostic, ...] = ()
    """Why its program cannot run, as far as only the importer knows."""
    secrets: dict[str, str] = field(default_factory=dict)
    """Values of variables that the job reads from a Secret. They are in no file; the sandbox has them."""


OPTIONS: Final = ("image", "name", "define", "site", "site_template", "prove")
"""Options of `gen import`, as fields of its request, that only some importers have."""


class Importer(ABC):
    """Reads submissions of one tool. Nothing that it reads is run, except in the sandbox of `compare_tasks`."""

    summary: ClassVar[str]
    """Its input, for the help of `gen import`."""
    reads_files: ClassVar[bool] = False
    """Whether it reads several files and folders, which belong together, and no command line."""
    options: ClassVar[frozenset[str]] = frozenset()
    """Which of `OPTIONS` it has; `gen import` refuses the others."""

    defines_names: ClassVar[bool] = False
    """Whether values of `define` have an effect only for names in its input."""

    @abstractmethod
    def read(self, given: ImportInput, found: Findings) -> Sequence[ImportedJob]:
        """The jobs in a text or a command line. All values that a job does not have are findings."""

    def compare_tasks(
        self, given: ImportInput, job: ImportedJob, runs: Sequence[Body], found: Findings
    ) -> tuple[str, bool]:
        """Run the input and the pods of the rendered runs in a sandbox, and report each difference that no finding
        names. Returns the result as a line, and whether they do the same. For importers with the option `prove`.
        """
        raise NotImplementedError


IMPORTERS: Final[MutableMapping[str, type[Importer]]] = LazyRegistry(
    {
        "arena": "gen.importers.arena.importer:ArenaImporter",
        "batchcompute": "gen.importers.batchcompute:BatchComputeImporter",
        "kfp": "gen.importers.kfp.importer:KfpImporter",
        "manifests": "gen.importers.manifests.importer:ManifestsImporter",
        "slurm": "gen.importers.slurm.importer:SlurmImporter",
    }
)
"""Importer by the name of the other tool, imported when it is used."""

__all__ = ["IMPORTERS", "OPTIONS", "Importer"]
