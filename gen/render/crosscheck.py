"""Checks across jobs: duplicates, quotas, patches and patterns without a match, and jobs without an overlay."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from gen.base.codes.jobs import NOT_SELECTED, UNKNOWN_CLUSTER
from gen.base.codes.overlays import SELECTS_NOTHING, UNMATCHED_DIRECTIVE, UNMATCHED_PATCH
from gen.base.findings import Findings, Location, Route, did_you_mean, near
from gen.base.placeholders import HASH_LENGTH
from gen.base.regex import regex
from gen.base.repository.layout import job_key, overlay_file
from gen.base.yaml.layers import Layer
from gen.job.kinds import ALL_KINDS
from gen.job.scalars import shown
from gen.overlay.overlay import Overlay
from gen.overlay.patch import BESIDE, Patch, Target, may_fit, may_fit_storage
from gen.overlay.select import matches_patterns, names_of
from gen.render.duplicates import check_duplicates
from gen.render.parts.quota import check_quotas, requested_by
from gen.render.results import JobResult, RenderedJob, RenderedObjects, RenderedOverlay

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
                    guess = _pattern_meant(pattern, keys)
                    missed.update(key for key in keys if field == "include" and guess and fnmatchcase(key, guess))
                    hint = f"did you mean `{guess}`?" if guess else "correct the pattern, or remove it"
                    place = overlay.place("select", field, index)
                    found.warning(SELECTS_NOTHING, place, f"no job matches `{pattern}`", hint)
    missed |= _check_clusters(results, overlays, found)
    for result in results:
        # the finding about a misspelled pattern or name covers the jobs that it should match
        if overlays and not result.overlays and result.job.key not in missed:
            _report_not_selected(result, overlays, found)


def _check_clusters(results: Sequence[JobResult], overlays: Sequence[Overlay], found: Findings) -> set[str]:
    """Report names without an overlay, and return the keys of their jobs."""
    missed = set()
    known = sorted({name for overlay in overlays for name in names_of(overlay)})
    for result in results:
        for name, place in result.clusters:
            if overlays and name not in known:
                hint = did_you_mean(name, known, otherwise="remove it, or add it to `labels` of an overlay")
                found.error(UNKNOWN_CLUSTER, place, f"no overlay is called {shown(name)}", hint)
                missed.add(result.job.key)
    return missed


def _pattern_meant(pattern: str, keys: Sequence[str]) -> str:
    """The pattern without a folder and a file extension, or the name of the most similar job."""
    plain = job_key(pattern)
    return plain if any(fnmatchcase(key, plain) for key in keys) else near(pattern, keys)


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
    *,
    complete: bool,
) -> None:
    """Report errors between jobs; `complete` if `results` and `overlays` are those of the whole repository.

    `jobs` are all runs in the results.
    """
    check_duplicates(root, results, [*jobs, *shared], overlays, found)
    check_quotas(requested_by(jobs), overlays, found)
    if complete:
        _check_patches(results, jobs, shared, overlays, found)
        check_selection(results, overlays, found)


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
        or any(_could(patch, *one) for one in failed[overlay.name])
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


def _could(patch: Patch, result: JobResult, name: str) -> bool:
    """Whether the patch could match a run that failed to render."""
    kind = ALL_KINDS.get(result.kind)
    return may_fit(patch.target, kind.facts.kind if kind else None, result.job.namespace, name)
