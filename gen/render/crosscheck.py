"""Checks across jobs: duplicates, GPU quotas, unmatched patches, and unselected jobs."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from gen.diagnostics import Findings, Location, near
from gen.findings.overlays import UNMATCHED_DIRECTIVE, UNMATCHED_PATCH
from gen.kinds import KINDS
from gen.kubernetes import HASH_LENGTH
from gen.overlay.patches.target import BESIDE, may_fit, may_fit_storage
from gen.regex import regex
from gen.render.duplicates import check_duplicates
from gen.render.quota import check_quotas, requested_by
from gen.render.selection import check_selection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gen.diagnostics import Route
    from gen.load import Layer
    from gen.model.patches import Target
    from gen.overlay.overlay import Overlay
    from gen.overlay.patches.types import Patch
    from gen.render.results import JobResult, Rendered, RenderedJob, RenderedOverlay

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
    both: list[Rendered] = [*jobs, *shared]
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
    rendered: Sequence[Rendered], overlays: Mapping[str, Overlay], excused: set[Location], found: Findings
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
    kinds = {*BESIDE, *(kind.facts.kind for kind in KINDS.values())}
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
    kind = KINDS.get(result.kind)
    return may_fit(patch.target, kind.facts.kind if kind else None, result.job.namespace, name)
