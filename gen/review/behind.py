"""Runs that are behind the platform: they were kept as committed, and a new render gives their jobs another run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gen.diagnostics import Findings
from gen.review.fields import FieldChange, field_changes
from gen.review.matching import workload
from gen.review.rendered_object import RenderedObject, parse_object

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from gen.render.manifest import File
    from gen.render.results import RenderedJob
    from gen.review.rendered_object import ObjectKey


@dataclass(frozen=True, slots=True, kw_only=True)
class BehindObject:
    """An object of a kept run, and what a new run has in its place. One of the two may be missing."""

    kept: RenderedObject | None
    fresh: RenderedObject | None
    fields: tuple[FieldChange, ...]
    """Differing fields of an object that both runs have."""

    @property
    def key(self) -> ObjectKey:
        one = self.kept or self.fresh
        assert one is not None  # noqa: S101 - a run has at least one of them
        return one.key


@dataclass(frozen=True, slots=True, kw_only=True)
class BehindRun:
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
    assert job.behind is not None  # noqa: S101 - called for these only
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
    for path in _union(kept, fresh):
        old, new = kept.get(path), fresh.get(path)
        fields = field_changes(old, new) if old is not None and new is not None else ()
        if fields or old is None or new is None:
            yield BehindObject(kept=old, fresh=new, fields=fields)


def _union(first: Collection[str], second: Collection[str]) -> list[str]:
    return [*first, *(path for path in second if path not in first)]
