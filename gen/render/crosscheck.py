"""What no job shows alone: two of one name, patches without a match, too many GPUs, one object made twice."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from gen.diagnostics import Findings, Location, near
from gen.kinds import KINDS
from gen.load import read
from gen.overlay.patches.target import BESIDE, may_fit, may_fit_storage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gen.model.patches import Target
    from gen.overlay.overlay import Overlay
    from gen.overlay.patches.types import Patch
    from gen.render.manifest import File
    from gen.render.results import Outcome, Reading

_REGULAR = re.compile(r"\.[*+]|[|^$()\\]")
"""What regular expressions have and names do not."""


def crosscheck(
    root: Path,
    readings: Sequence[Reading],
    storage: Sequence[Outcome],
    overlays: Sequence[Overlay],
    found: Findings,
    *,
    whole: bool,
) -> None:
    """Report what is wrong between jobs; `whole` when all jobs and overlays are there to judge by."""
    _one_name_each(root, readings, found)
    _one_object_each([*(o for reading in readings for o in reading.outcomes), *storage], found)
    _within_quota(readings, overlays, found)
    if whole:
        _every_patch_matches(readings, storage, overlays, found)
        _every_job_selected(readings, overlays, found)


def _one_name_each(root: Path, readings: Sequence[Reading], found: Findings) -> None:
    """Two jobs may share a name where no overlay has both; a pair that shares several is reported once."""
    first: dict[tuple[str, str, str], Reading] = {}
    for reading in readings:
        namespace, name = reading.job.namespace, reading.name
        others = {o.job: o for o in (first.setdefault((to, namespace, name), reading) for to in reading.overlays)}
        for job, other in others.items():
            if job != reading.job:
                message = f"two jobs of `{namespace}` are called `{name}`"
                there = (_name_place(root, other), "the other one")
                hint = "give one of them another `name`"
                found.error("duplicate-job", _name_place(root, reading), message, hint, [there])


def _name_place(root: Path, reading: Reading) -> Location:
    source = read(root, reading.job.file, Findings())
    return source.place(("name",)) if source else Location(reading.job.file)


def _one_object_each(outcomes: Sequence[Outcome], found: Findings) -> None:
    """Two files with one object in them would take it from each other in the cluster."""
    first: dict[tuple[str, str], File] = {}
    for outcome in outcomes:
        for file in outcome.files:
            other = first.setdefault((outcome.overlay, file.identity), file)
            if other.path != file.path:
                message = f"{file.identity} of `{outcome.overlay}` is made twice"
                hint = "rename the job, the namespace or the volume, so that the two names differ"
                there = (other.source, f"the other one, as {other.path}")
                found.error("duplicate-object", file.source, message, hint, [there])


def _within_quota(readings: Sequence[Reading], overlays: Sequence[Overlay], found: Findings) -> None:
    wanted: Counter[tuple[str, str]] = Counter()
    for outcome in (outcome for reading in readings for outcome in reading.outcomes):
        wanted[outcome.overlay, outcome.namespace] += outcome.gpus
    for overlay in overlays:
        for (name, namespace), gpus in sorted(wanted.items()):
            if name == overlay.name:
                judge_quota(overlay, namespace, gpus, found)


def judge_quota(overlay: Overlay, namespace: str, gpus: int, found: Findings) -> None:
    """Report when the active jobs of a namespace ask for more GPUs than it is granted."""
    grant = overlay.grant(namespace)
    if grant is not None and grant.gpus is not None and gpus > grant.gpus:
        key = namespace if namespace in overlay.fields.namespaces else "*"
        message = (
            f"the active jobs of `{namespace}` ask for {gpus} GPUs in `{overlay.name}`, and {grant.gpus} are granted"
        )
        hint = "set some of them to `state: suspended` or `finished`, or raise `gpus`"
        found.error("over-quota", overlay.place("namespaces", key, "gpus"), message, hint)


def _every_patch_matches(
    readings: Sequence[Reading], storage: Sequence[Outcome], overlays: Sequence[Overlay], found: Findings
) -> None:
    """A patch that an overlay inherits has to match in one of the overlays that have it."""
    matched: set[Location] = set()
    failed: dict[str, list[Reading]] = defaultdict(list)
    by_name = {overlay.name: overlay for overlay in overlays}
    rendered = [outcome for reading in readings for outcome in reading.outcomes]
    for outcome in (*rendered, *storage):
        matched.update(by_name[outcome.overlay].patches[index].place for index in outcome.matched)
    for reading in readings:
        for name in set(reading.overlays) - {outcome.overlay for outcome in reading.outcomes}:
            failed[name].append(reading)
    some, stored = {outcome.overlay for outcome in rendered}, {outcome.overlay for outcome in storage}
    for overlay in overlays:
        if failed[overlay.name] and overlay.name not in some:
            continue  # nothing is there to judge by
        for patch in overlay.patches:
            excused = overlay.name not in stored and may_fit_storage(patch.target)
            if not excused and patch.place not in matched and not any(_could(patch, r) for r in failed[overlay.name]):
                hint = _hint(patch.target, [reading.name for reading in readings])
                found.error("unmatched-patch", patch.place, "the patch matches no rendered object", hint)
                matched.add(patch.place)


def _hint(target: Target, names: Sequence[str]) -> str:
    """What is probably wrong with a target that nothing fits."""
    kinds = {*BESIDE, *(kind.resource for kind in KINDS.values())}
    if target.kind is not None and target.kind not in kinds and (guess := near(target.kind, kinds)):
        return f"no object has the kind `{target.kind}`; did you mean `{guess}`?"
    if target.name is not None and target.name not in names and (guess := near(target.name, names)):
        return f"no object is called `{target.name}`; did you mean `{guess}`?"
    if any(_REGULAR.search(text) for text in (target.kind, target.name, target.namespace) if text is not None):
        return "write `*` for any text: patterns of `target` are no regular expressions"
    return "correct `target`, or remove the patch; names are those of the jobs, without a run's hash"


def _could(patch: Patch, reading: Reading) -> bool:
    """Whether a job that could not be rendered might have been the match."""
    kind = KINDS.get(reading.kind)
    return may_fit(patch.target, kind.resource if kind else None, reading.job.namespace, reading.name)


def _every_job_selected(readings: Sequence[Reading], overlays: Sequence[Overlay], found: Findings) -> None:
    for reading in readings:
        if overlays and not reading.overlays:
            hint = "add it to `select` of an overlay, or remove it"
            found.warning("not-selected", Location(reading.job.file), "no overlay selects this job", hint)
    for overlay in overlays:
        for index, pattern in enumerate(overlay.fields.select.include):
            if readings and not any(fnmatchcase(reading.job.key, pattern) for reading in readings):
                place = overlay.place("select", "include", index)
                found.warning("selects-nothing", place, f"no job fits `{pattern}`", "correct the pattern, or remove it")
