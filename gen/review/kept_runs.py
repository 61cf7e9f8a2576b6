"""Kept runs: runs that are behind the platform, because a render with the present overlays would give them a new hash.

A render keeps such a run as it is in `rendered/`, so the author of a change chooses its content. It is accepted only if
the base has the same run for the same job, except for metadata and suspension, which the render computes. The base was
checked in the same way, down to the commit that rendered the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from gen.base import Findings, Location, UsageError, at, counted
from gen.base.codes.rendered import KEPT_RUN_DIFFERS, KEPT_RUN_NOT_GRANTED, KEPT_RUN_UNVERIFIED
from gen.base.engines import RECORDS, JobState, name_in_cluster
from gen.base.repository.git import Base, find_base, in_git
from gen.kubernetes.facts import queue_labels, resource_of_object
from gen.kubernetes.facts.state import content, state_in
from gen.kubernetes.objects import RUN_LABEL, Body
from gen.render.committed import CommittedRuns, as_written, body_of
from gen.render.emit import HEADER
from gen.render.keep import report_start
from gen.render.rendered_object import ObjectKey, RenderedObject, parse_object, workload
from gen.render.results import File, RenderedJob
from gen.review.field_changes import FieldChange, field_changes


def verify_kept_runs(
    jobs: Sequence[RenderedJob], root: Path, repository: Path, ref: str | None, found: Findings
) -> None:
    """Report kept runs that differ from the base, or that cannot be compared; `repository` has the Git commits."""
    place = Location(jobs[0].files[0].path)
    runs = counted(len(jobs), "run")
    if not in_git(repository):
        message = f"{runs} kept from an earlier platform cannot be compared with a base, because there is no Git"
        found.warning(KEPT_RUN_UNVERIFIED, place, message, "check the repository in its Git work tree")
        return
    try:
        base = find_base(repository, ref)
        compare_kept_runs(jobs, root, base, found)
    except UsageError as error:
        message = f"{runs} kept from an earlier platform cannot be compared with a base: {error}"
        hint = "set the base with `--base REF`, or start new runs with `gen render --restart`"
        found.error(KEPT_RUN_UNVERIFIED, place, message, hint)


def compare_kept_runs(jobs: Sequence[RenderedJob], root: Path, base: Base, found: Findings) -> None:
    """Report kept runs in `root` that differ from those at the base."""
    before = _base_files(jobs, base)
    tree = CommittedRuns.of(root)
    for job in jobs:
        texts = {file.path: file.text if file.text is not None else tree.text(file.path) or "" for file in job.files}
        for path, problem in _problems(job, texts, before):
            source = job.files[0].source.file
            message = f"`{job.files[0].identity}` was kept from an earlier platform, but {problem}"
            hint = f"start a new run with `gen render --restart {source}`"
            if path in before:
                hint = f"restore it with `git checkout {base.commit[:10]} -- {path}`, or {hint}"
            place = path if path in texts else job.files[0].path
            found.error(KEPT_RUN_DIFFERS, Location(place), message, hint)
        _check_start(job, before, texts, found)


def _check_start(job: RenderedJob, before: Mapping[str, str], after: Mapping[str, str], found: Findings) -> None:
    """Report a run that the merge starts again, unless the overlay of today would start it as it is."""
    behind = job.behind
    assert behind is not None  # called for these only
    path, who, source = behind.kept[0], job.files[0].identity, job.files[0].source.file
    old, new = _state(before.get(path, "")), _state(after[path])
    if (old, new) != ("suspended", "active") and (old not in RECORDS or new in RECORDS):
        return
    found.items[:] = [one for one in found.items if (one.code, one.place.file) != (KEPT_RUN_NOT_GRANTED.name, path)]
    if old == "suspended":
        report_start(behind, who, Location(path), source, found)
    else:
        message = f"`{who}` was finished, and would start again as it was rendered then"
        hint = f"start a new run with `gen render --restart {source}`, or set `state: finished`"
        found.error(KEPT_RUN_NOT_GRANTED, Location(path), message, hint)


def _state(text: str) -> JobState | None:
    """The state of the run in a file; None without a run."""
    body = body_of(text)
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    return state_in(resource, body) if resource is not None else None


def _base_files(jobs: Sequence[RenderedJob], base: Base) -> dict[str, str]:
    """Texts at the base of the folders of jobs, by path."""
    folders = {_folder(file.path) for job in jobs for file in job.files[:1]}
    files = {path: entry for path, entry in base.files().items() if _folder(path) in folders}
    regular = {path: entry.digest for path, entry in files.items() if entry.is_regular}
    blobs = base.blobs(regular.values())
    return {path: as_written(blobs[digest]) for path, digest in regular.items()}


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _problems(job: RenderedJob, after: Mapping[str, str], before: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Paths with the problem of each."""
    behind = job.behind
    assert behind is not None  # called for these only
    for path in behind.kept:
        if path not in before:
            yield path, "the base has no such file"
        elif before[path] != after[path] and not _same_run(before[path], after[path]):
            yield path, "the file differs from the base in more than metadata and suspension"
    folder = _folder(behind.kept[0])
    for path in before.keys() - set(behind.kept):
        text = before[path]
        if _folder(path) != folder or behind.run not in text:  # parsing all runs of a sweep for each would take long
            continue
        if at(body_of(text), "metadata", "labels", RUN_LABEL) == behind.run:
            yield path, f"`{path}`, which the base has, is missing"


def _same_run(before: str, after: str) -> bool:
    old, new = HEADER.match(before), HEADER.match(after)
    if old is None or new is None or old["record"] != new["record"]:
        return False
    return _kept(body_of(before)) == _kept(body_of(after))


def _kept(body: Body) -> tuple[object, ...]:
    """The content of the run, with the metadata that may not change."""
    names = name_in_cluster(body.get("metadata")), at(body, "metadata", "namespace")
    labels = {key: at(body, "metadata", "labels", key) for key in (RUN_LABEL, *queue_labels())}
    return content(body), names, labels


class BehindObject(Struct, frozen=True, kw_only=True):
    """An object of a kept run and its counterpart in a new run. One of the two may be missing."""

    kept: RenderedObject | None
    fresh: RenderedObject | None
    fields: tuple[FieldChange, ...]
    """Differing fields, if both runs have the object."""

    @property
    def key(self) -> ObjectKey:
        one = self.kept or self.fresh
        assert one is not None  # at least one of the two exists
        return one.key


class BehindRun(Struct, frozen=True, kw_only=True):
    """A run that `gen render --restart` would replace."""

    source: str
    """The job file."""
    key: ObjectKey
    """Its workload."""
    replaced_by: str
    """Name of the new run."""
    objects: tuple[BehindObject, ...]
    """Objects that differ, the workload first."""


def behind_runs(jobs: Iterable[RenderedJob]) -> tuple[BehindRun, ...]:
    """The kept runs among jobs with the texts of their files, ordered by identity."""
    return tuple(sorted((_behind(job) for job in jobs if job.behind is not None), key=lambda run: run.key))


def _behind(job: RenderedJob) -> BehindRun:
    assert job.behind is not None  # called for these only
    paths = frozenset(job.behind.kept)
    kept = _objects(file for file in job.files if file.path in paths)
    fresh = _objects(job.behind.fresh)
    old = next(one for one in kept.values() if workload(one) is not None)
    new = next(one for one in fresh.values() if workload(one) is not None)
    objects = tuple(_compared(kept, fresh))
    return BehindRun(source=job.files[0].source.file, key=old.key, replaced_by=new.key.name, objects=objects)


def _objects(files: Iterable[File]) -> dict[str, RenderedObject]:
    read = ((file.path, parse_object((file.text or "").encode(), file.path, Findings())) for file in files)
    return {path: one for path, one in read if one is not None}


def _compared(kept: dict[str, RenderedObject], fresh: dict[str, RenderedObject]) -> Iterator[BehindObject]:
    for path in dict.fromkeys((*kept, *fresh)):
        old, new = kept.get(path), fresh.get(path)
        fields = field_changes(old, new) if old is not None and new is not None else ()
        if fields or old is None or new is None:
            yield BehindObject(kept=old, fresh=new, fields=fields)
