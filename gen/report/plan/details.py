"""Details of runs that the page shows when they are opened: changed fields, the job file and rendered objects.

They are packed, because the objects of a thousand runs are several megabytes. If they are still too large, long texts
are cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.report.page import packed
from gen.report.plan.differences import field_lines, folded
from gen.report.sanitize import sanitize
from gen.review.runs import RunAction
from gen.review.sources import job_file, without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.review.rendered_object import RenderedObject
    from gen.review.review import ObjectChange, Review

    Changes = dict[tuple[str, str], list[ObjectChange]]
    """Changed objects by the folder of their job and the hash of their run."""

_MAX_PACKED: Final = 1_000_000
"""Characters of the details in the page."""
_LONGEST: Final = 100_000
"""Characters of one text."""
_SHORTEST: Final = 50


class Details:
    """Details of all runs that change."""

    def __init__(self, review: Review) -> None:
        self._review = review
        runs = [run for run in review.runs if run.action is not RunAction.KEPT]
        self._objects = [run.pair.object for run in runs]
        self.numbers = {one.path: index for index, one in enumerate(self._objects)}
        """The number of the details of a run, by its path."""

    def packed(self) -> str:
        """All of them as text for the page."""
        longest = _LONGEST
        changes = self._changes()
        while True:
            text = packed(self._data(changes, longest))
            if len(text) <= _MAX_PACKED or longest < _SHORTEST:
                return text
            longest //= 4

    def _changes(self) -> Changes:
        known: Changes = {}
        for change in self._review.objects:
            known.setdefault(_owner(change.pair.object), []).append(change)
        return known

    def _data(self, changes: Changes, longest: int) -> dict[str, Any]:
        jobs = sorted({job for one in self._objects if (job := job_file(one)) in self._review.sources})
        numbers = {path: index for index, path in enumerate(jobs)}
        return {
            "jobs": [self._file(path, self._review.sources[path], longest) for path in jobs],
            "runs": [
                {
                    "job": numbers.get(job_file(one), -1),
                    "objects": [self._file(other.path, _text(other), longest) for other in _with(one, changes)],
                    "diff": [line[:longest] for line in _diff(one, changes)],
                }
                for one in self._objects
            ],
        }

    def _file(self, path: str, text: str, longest: int) -> dict[str, str]:
        more = len(text) - longest
        shown = f"{text[:longest]}\n… {more} more characters" if more > 0 else text
        links = self._review.links
        return {"path": sanitize(path), "url": links.file(path) if links is not None else "", "text": _visible(shown)}


def _text(one: RenderedObject) -> str:
    return without_secrets(one.text)


def _visible(text: str) -> str:
    return "\n".join(map(sanitize, text.split("\n")))


def _owner(one: RenderedObject) -> tuple[str, str]:
    return one.path.rpartition("/")[0], one.run


def _with(one: RenderedObject, changes: Changes) -> Iterator[RenderedObject]:
    """The object of a run, and the others of its run that change with it."""
    yield one
    yield from (other for change in changes.get(_owner(one), ()) if (other := change.pair.object) is not one)


def _diff(one: RenderedObject, changes: Changes) -> Iterator[str]:
    for change in changes.get(_owner(one), ()):
        if change.fields:
            yield f"@ {sanitize(str(change.pair.object.key))}"
            for field in folded(change.fields):
                yield from field_lines(field)
