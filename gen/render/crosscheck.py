"""Checks across jobs: duplicates, quotas, patches and patterns without a match, and jobs without an overlay."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from gen.base import Diagnostic, Findings, Location, Route, did_you_mean, near, regex
from gen.base.codes.jobs import DUPLICATE_JOB, DUPLICATE_OBJECT, NOT_SELECTED, UNKNOWN_CLUSTER
from gen.base.codes.overlays import SELECTS_NOTHING, UNMATCHED_DIRECTIVE, UNMATCHED_PATCH
from gen.base.placeholders import HASH_LENGTH
from gen.base.repository.layout import JobFile, RenderedPath, job_key, overlay_file
from gen.base.yaml.layers import Layer
from gen.base.yaml.source import Source, read
from gen.job.kinds import ALL_KINDS
from gen.job.scalars import shown
from gen.kubernetes.facts.pods import is_derived
from gen.overlay.overlay import Overlay, matches_patterns, names_of
from gen.overlay.patch import BESIDE, Patch, Target, may_fit, may_fit_storage
from gen.render.committed import CommittedRuns
from gen.render.parts.quota import Quota, asking_field, check_quotas, requested_by, shares_of
from gen.render.results import File, JobResult, OverQuota, RenderedJob, RenderedObjects, RenderedOverlay

_MAX_EXCLUDING = 5
"""Patterns in the finding about one job."""


def check_selection(results: Sequence[JobResult], overlays: Sequence[Overlay], found: Findings) -> None:
    """Report patterns and names that select nothing, and jobs that no overlay selects."""
    keys = [result.job.key for result in results]
    missed: set[str] = set()
    for overlay in overlays:
        for field, patterns in (("include", overlay.fields.select.include), ("exclude", overlay.fields.select.exclude)):
            for index, pattern in enumerate(patterns):
                if keys and not any(fnmatchcase(key, pattern) for key in keys):
                    # without a folder and a file extension, or the name of the most similar job
                    plain = job_key(pattern)
                    guess = plain if any(fnmatchcase(key, plain) for key in keys) else near(pattern, keys)
                    missed.update(key for key in keys if field == "include" and guess and fnmatchcase(key, guess))
                    hint = f"did you mean `{guess}`?" if guess else "correct the pattern, or remove it"
                    place = overlay.place("select", field, index)
                    found.warning(SELECTS_NOTHING, place, f"no job matches `{pattern}`", hint)
    missed |= {
        result.job.key for result in results if check_clusters(result.clusters, overlays, found, record=result.record)
    }
    for result in results:
        # the finding about a misspelled pattern or name covers the jobs that it should match
        if overlays and not result.overlays and result.job.key not in missed:
            _report_not_selected(result, overlays, found)


def check_clusters(
    clusters: Iterable[tuple[str, Location]], overlays: Sequence[Overlay], found: Findings, *, record: bool = False
) -> list[tuple[str, Location]]:
    """Report the names in `clusters` of a job that no overlay has, and return them with their places.

    A record can be that of a retired cluster.
    """
    known = sorted({name for overlay in overlays for name in names_of(overlay)})
    missed = [(name, place) for name, place in clusters if overlays and name not in known]
    for name, place in missed:
        message = f"no overlay is called {shown(name)}"
        if record:
            hint = "correct the name; or, if the cluster was retired, keep the job as a record, or remove it"
            found.warning(UNKNOWN_CLUSTER, place, message, hint)
        else:
            hint = did_you_mean(name, known, otherwise="remove it, or add it to `labels` of an overlay")
            found.error(UNKNOWN_CLUSTER, place, message, hint)
    return missed


def _report_not_selected(result: JobResult, overlays: Sequence[Overlay], found: Findings) -> None:
    """Name the pattern of each overlay that excludes the job, with its place: it may be inherited."""
    job = result.job
    excluding = [
        (overlay, index, pattern)
        for overlay in overlays
        for index, pattern in enumerate(overlay.fields.select.exclude)
        if fnmatchcase(job.key, pattern)
    ]
    hint = f"add `{job.key}` to `select.include` of an overlay, or remove the job"
    named = [
        overlay.name for overlay in overlays if overlay.fields.select.only_named and matches_patterns(overlay, job.key)
    ]
    if named and not result.clusters:
        hint = f"add `clusters: [{named[0]}]`, or remove the job"
    related = []
    for overlay, index, pattern in excluding[:_MAX_EXCLUDING]:
        place = overlay.place("select", "exclude", index)
        inherited = place.file != overlay_file(overlay.name)
        how = f", inherited by overlay `{overlay.name}`" if inherited else f" of overlay `{overlay.name}`"
        related.append((place, f"`exclude` has the pattern `{pattern}`{how}"))
        own = f"write `select: {{exclude: []}}` in overlay `{overlay.name}`" if inherited else f"remove `{pattern}`"
        hint = f"{own}, or remove the job"
    found.warning(NOT_SELECTED, Location(job.file), "no overlay selects this job", hint, related)


_REGULAR = regex(r"\.[*+]|[|^$()\\]")
"""Characters of regular expressions that are not part of names."""


def crosscheck(
    root: Path,
    results: Sequence[JobResult],
    jobs: Sequence[RenderedJob],
    shared: Sequence[RenderedOverlay],
    overlays: Sequence[Overlay],
    found: Findings,
    committed: CommittedRuns,
    *,
    complete: bool,
) -> tuple[OverQuota, ...]:
    """Report errors between jobs; `complete` if `results` and `overlays` are those of the whole repository.

    `jobs` are all runs in the results. Returns the errors about quotas.
    """
    check_duplicates(root, results, [*jobs, *shared], overlays, found)
    shares = shares_of(jobs, _places_of_changed(root, committed))
    over_quota = check_quotas(requested_by(jobs), overlays, found, shares)
    if complete:
        _check_patches(results, jobs, shared, overlays, found)
        check_selection(results, overlays, found)
    return over_quota


def _places_of_changed(root: Path, committed: CommittedRuns) -> Callable[[File, Quota], Location | None]:
    """The place of what asks for a quota in the job of a workload; None if the workload is in `rendered/` as it is."""

    @cache
    def source(file: str) -> Source | None:
        return read(root, file, Findings())

    def place(file: File, quota: Quota) -> Location | None:
        if file.stored != "staging" and (file.text is None or committed.text(file.path) == file.text):
            return None
        return asking_field(source(file.source.file), file.source.file, quota)

    return place


def _check_patches(
    results: Sequence[JobResult],
    jobs: Sequence[RenderedJob],
    shared: Sequence[RenderedOverlay],
    overlays: Sequence[Overlay],
    found: Findings,
) -> None:
    """An inherited patch must match an object in at least one of the overlays that inherit it."""
    matched: set[Location] = set()
    failed: dict[str, list[tuple[JobResult, str]]] = defaultdict(list)
    by_name = {overlay.name: overlay for overlay in overlays}
    both: list[RenderedObjects] = [*jobs, *shared]
    for one in both:
        matched.update(by_name[one.overlay].patches[index].place for index in one.matched)
    for result in results:
        for selected in result.overlays:
            missing = set(selected.names) - {job.name for job in selected.rendered}
            failed[selected.overlay] += [(result, name) for name in sorted(missing)]
    with_jobs, with_shared = {job.overlay for job in jobs}, {one.overlay for one in shared}
    names = [name for result in results for name in (result.name, *(n for one in result.overlays for n in one.names))]
    excused = {
        patch.place
        for overlay in overlays
        for patch in overlay.patches
        # no job could be rendered, so any patch could have matched
        if (failed[overlay.name] and overlay.name not in with_jobs)
        or (overlay.name not in with_shared and may_fit_storage(patch.target))
        or any(may_fit(patch.target, _kind(one), one.job.namespace, name) for one, name in failed[overlay.name])
    }
    for patch in (patch for overlay in overlays for patch in overlay.patches):
        if patch.place not in matched | excused:
            _report_unmatched(patch, names, found)
            matched.add(patch.place)
    _check_deletions(both, by_name, excused, found)


def _check_deletions(
    rendered: Sequence[RenderedObjects], overlays: Mapping[str, Overlay], excused: set[Location], found: Findings
) -> None:
    """A `$patch: delete` must delete something in at least one object."""
    hints: dict[tuple[Location, Route], set[str]] = defaultdict(set)
    layers: dict[Location, Layer] = {}
    for one in rendered:
        for deletion in one.deletions:
            patch = overlays[one.overlay].patches[deletion.patch]
            hints[patch.place, deletion.route].add(deletion.hint)
            layers[patch.place] = patch.layer
    for (place, route), given in hints.items():
        if "" not in given and place not in excused:  # of several hints, any one will do
            message = "`$patch: delete` matches nothing in the patched objects"
            found.warning(UNMATCHED_DIRECTIVE, layers[place].find(route).value, message, max(given))


def _report_unmatched(patch: Patch, names: Sequence[str], found: Findings) -> None:
    """A misspelled kind is an error; otherwise the last job that the patch was for may have been removed."""
    message = "the patch matches no rendered object"
    kinds = {*BESIDE, *(kind.facts.kind for kind in ALL_KINDS.values())}
    for kind in (patch.target.kind, patch.target.pods.kind if patch.target.pods is not None else None):
        if kind is not None and kind not in kinds and (guess := near(kind, kinds)):
            hint = f"no object has kind `{kind}`; did you mean `{guess}`?"
            found.error(UNMATCHED_PATCH, patch.place, message, hint)
            return
    found.warning(UNMATCHED_PATCH, patch.place, message, _hint(patch.target, names))


def _hint(target: Target, names: Sequence[str]) -> str:
    """The probable mistake in a target that matches no object."""
    if target.name is not None and target.name not in names and (guess := _name_meant(target.name, names)):
        return f"no object is named `{target.name}`; did you mean `{guess}`?"
    if any(_REGULAR.search(text) for text in (target.kind, target.name, target.namespace) if text is not None):
        return "use `*` as the wildcard: patterns of `target` are not regular expressions"
    return "correct `target`, or remove the patch; `name` is the name without the hash of the run"


def _name_meant(name: str, names: Sequence[str]) -> str:
    """The name without the hash of a run, or a similar one."""
    plain = re.sub(rf"-[0-9a-f]{{{HASH_LENGTH}}}$", "", name)
    return plain if plain in names else near(name, names)


def _kind(result: JobResult) -> str | None:
    """The Kubernetes kind of a job, if its own is known."""
    return ALL_KINDS[result.kind].facts.kind if result.kind in ALL_KINDS else None


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
    first: dict[tuple[str, ...], dict[str, tuple[str, File]]] = defaultdict(dict)
    for group in groups:
        having = [own for one in group if (own := _duplicates(one, clusters, first))]
        runs = _for_runs(len(having))
        found.extend(replace(finding, message=finding.message + runs) for finding in chain(*having[:1]))


def _duplicates(
    one: RenderedObjects,
    clusters: Mapping[str, tuple[str, ...]],
    first: Mapping[tuple[str, ...], dict[str, tuple[str, File]]],
) -> list[Diagnostic]:
    """Findings about objects of a run, or of an overlay, that are not the first of their names."""
    # engines have objects for each overlay, and settings that overlays share
    bundle = not isinstance(one, RenderedJob) and any(RenderedPath.parse(file.path).engine for file in one.files[:1])
    of_cluster = first[("overlay", one.overlay) if bundle else clusters[one.overlay]]
    known = [(file, of_cluster.setdefault(file.identity, (one.overlay, file))) for file in one.files]
    found = Findings()
    for file, (overlay, other) in ((file, of_name) for file, of_name in known if of_name[1] is not file):
        if overlay != one.overlay:
            message = f"{file.identity} is rendered by the overlays `{overlay}` and `{one.overlay}` of one cluster"
            hint = "declare the volume, or select the job, in one of the two overlays"
        elif other.path != file.path or other.source.file == file.source.file:
            message = f"{file.identity} is rendered twice in overlay `{one.overlay}`"
            hint = "rename the job, the namespace or the volume"
        else:
            continue  # two job files with the same name, which are reported as such
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
