"""Names that two jobs, or the objects of several, cannot have at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from gen.base.codes.jobs import DUPLICATE_JOB, DUPLICATE_OBJECT
from gen.base.findings import Diagnostic, Findings, Location
from gen.base.regex import regex
from gen.base.repository.layout import JobFile, RenderedPath
from gen.base.yaml.source import read
from gen.job.kinds import ALL_KINDS
from gen.kubernetes.facts.pods import is_derived
from gen.overlay.overlay import Overlay
from gen.render.manifest import File
from gen.render.results import JobResult, RenderedJob, RenderedObjects

_SEPARATOR = regex("-")


def check_duplicates(
    root: Path,
    results: Sequence[JobResult],
    rendered: Sequence[RenderedObjects],
    overlays: Sequence[Overlay],
    found: Findings,
) -> None:
    """Report jobs and objects with one name. Runs of a sweep have the mistakes of its first one, reported once."""
    _check_names(root, results, found)
    _check_children(root, results, overlays, found)
    runs = (selected.rendered for result in results for selected in result.overlays)
    shared = (one for one in rendered if not isinstance(one, RenderedJob))
    _check_objects(chain(runs, ((one,) for one in shared)), overlays, found)
    _check_steps(rendered, overlays, found)


def _check_names(root: Path, results: Sequence[JobResult], found: Findings) -> None:
    """Two job files may share a name if no overlay selects both. Each pair is reported once, also for sweeps."""
    place = _name_places(root)
    first: dict[tuple[str, str, str], JobResult] = {}
    for result in results:
        namespace = result.job.namespace
        clashes: dict[JobFile, dict[str, JobResult]] = defaultdict(dict)
        for one in result.overlays:
            for name in dict.fromkeys((result.name, *one.names)):
                other = first.setdefault((one.overlay, namespace, name), result)
                if other.job != result.job:
                    clashes[other.job][name] = other
        for names in clashes.values():
            name, other = next(iter(names.items()))
            runs = "" if name == result.name else _for_runs(len(names))
            message = f"duplicate job name `{name}` in namespace `{namespace}`{runs}"
            related = [(place(other), "the other job")]
            hint = "change the `name` of one of the two jobs"
            found.error(DUPLICATE_JOB, place(result), message, hint, related)


def _for_runs(count: int) -> str:
    return f" (for {count} runs of the sweep)" if count > 1 else ""


def _check_children(root: Path, results: Sequence[JobResult], overlays: Sequence[Overlay], found: Findings) -> None:
    """Report names that an operator gives to the Services and pods of another job. A hash in the name prevents that."""
    stable = {overlay.name for overlay in overlays if overlay.fields.runs.naming == "stable"}
    place = _name_places(root)
    named: dict[tuple[str, str], dict[str, JobResult]] = defaultdict(dict)
    for result in results:
        for one in result.overlays:
            if one.overlay in stable:
                named[one.overlay, result.job.namespace].update(dict.fromkeys(one.names, result))
    for (overlay, _), jobs in named.items():
        for name, result in jobs.items():
            parents = (name[: match.start()] for match in _SEPARATOR.finditer(name))
            for parent in parents:
                other = jobs.get(parent)
                kind = ALL_KINDS.get(other.kind) if other is not None else None
                if other is not None and kind is not None and is_derived(kind.facts, name[len(parent) :]):
                    message = f"the operator of `{parent}` gives the name `{name}` to one of its objects in `{overlay}`"
                    related = [(place(other), "the other job")]
                    hint = "change the `name` of one of the two jobs, or use `runs: {naming: hash}`"
                    found.error(DUPLICATE_JOB, place(result), message, hint, related)


def _name_places(root: Path) -> Callable[[JobResult], Location]:
    """The place of the name of a job. Its file is read once: each run of a sweep can have the name of another."""

    @cache
    def place(file: str) -> Location:
        source = read(root, file, Findings())
        return source.place(("name",)) if source else Location(file)

    return lambda result: place(result.job.file)


def _check_objects(groups: Iterable[Sequence[RenderedObjects]], overlays: Sequence[Overlay], found: Findings) -> None:
    """Two files with the same object would overwrite each other in the cluster.

    Each group has the runs of one job in an overlay: the others of a sweep share the mistake of the first one.
    """
    clusters = {overlay.name: overlay.cluster for overlay in overlays}
    first: dict[tuple[str, ...], tuple[str, File]] = {}
    for group in groups:
        having = [own for one in group if (own := _duplicates(one, clusters, first))]
        runs = _for_runs(len(having))
        found.extend(replace(finding, message=finding.message + runs) for finding in chain(*having[:1]))


def _duplicates(
    one: RenderedObjects, clusters: Mapping[str, tuple[str, ...]], first: dict[tuple[str, ...], tuple[str, File]]
) -> list[Diagnostic]:
    """Findings about objects of a run, or of an overlay, that are not the first of their names."""
    # engines have objects for each overlay, and settings that overlays share
    bundle = not isinstance(one, RenderedJob) and any(RenderedPath.parse(file.path).engine for file in one.files[:1])
    cluster = ("overlay", one.overlay) if bundle else clusters[one.overlay]
    known = [(file, first.setdefault((*cluster, file.identity), (one.overlay, file))) for file in one.files]
    found = Findings()
    for file, (overlay, other) in ((file, of_name) for file, of_name in known if of_name[1] is not file):
        if overlay != one.overlay:
            message = f"{file.identity} is rendered by the overlays `{overlay}` and `{one.overlay}` of one cluster"
            hint = "declare the volume, or select the job, in one of the two overlays"
            related = [(other.source, f"the other object, in {other.path}")]
            found.error(DUPLICATE_OBJECT, file.source, message, hint, related)
        # two job files with the same name are reported as such; two runs of one file are reported here
        elif other.path != file.path or other.source.file == file.source.file:
            message = f"{file.identity} is rendered twice in overlay `{one.overlay}`"
            hint = "rename the job, the namespace or the volume"
            related = [(other.source, f"the other object, in {other.path}")]
            found.error(DUPLICATE_OBJECT, file.source, message, hint, related)
    return found.items


def _check_steps(rendered: Sequence[RenderedObjects], overlays: Sequence[Overlay], found: Findings) -> None:
    """A workflow cannot create the object of a step under the name of an object in Git. A hash in that prevents it."""
    clusters = {overlay.name: overlay.cluster for overlay in overlays}
    created = {
        (clusters[one.overlay], identity): one
        for one in rendered
        if isinstance(one, RenderedJob)
        for identity in one.steps
    }
    for one in rendered if created else ():
        for file in one.files:
            pipeline = created.get((clusters[one.overlay], file.identity))
            if pipeline is not None:
                message = f"{file.identity} has the name of the object of a step of `{pipeline.name}`"
                related = [(pipeline.files[0].source, "the pipeline")]
                found.error(DUPLICATE_OBJECT, file.source, message, "change the `name` of the job", related)
