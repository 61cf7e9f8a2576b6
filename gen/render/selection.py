"""Checks of the selection across jobs: patterns and names without a match, and jobs without an overlay."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from gen.diagnostics import Findings, Location, did_you_mean, near
from gen.findings.jobs import NOT_SELECTED, UNKNOWN_CLUSTER
from gen.findings.overlays import SELECTS_NOTHING
from gen.model.scalars import shown
from gen.overlay.select import matches_patterns, names_of
from gen.repository.layout import job_key, overlay_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gen.overlay.overlay import Overlay
    from gen.render.results import JobResult

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
