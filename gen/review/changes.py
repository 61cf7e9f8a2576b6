"""Changes of a merge by job: the fields that its file changes, and the effect on its runs in all overlays.

Jobs with equal changes are one entry, so that a new image of 1,000 jobs is one. The entry with the largest effect is
the first: runs that stop, then the cost, then runs that start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Findings, regex
from gen.base.line_changes import common_start
from gen.base.yaml.strict import Data, parse
from gen.overlay.overlay import Overlay
from gen.render.emit import RECORD
from gen.review.gpus_and_costs import version_after
from gen.review.runs import RunAction, RunChange
from gen.review.sources import job_files

_STATE: Final = "state"
_STOPPED: Final = "stopped"
_RECORD: Final = regex(RECORD)
_MANY: Final = 5
"""Changes of the same fields, from which on their values are left out."""


class FieldEdit(Struct, frozen=True, kw_only=True):
    """A field of a job file with another value."""

    path: str
    """`env.SEED`."""
    before: str | None
    after: str | None
    """None where there is no value."""
    part: bool = False
    """Whether the values are only the differing parts of a text or a list. A part can be missing on one side."""


class JobChange(Struct, frozen=True, kw_only=True):
    """Jobs with equal changes."""

    jobs: tuple[tuple[str, str], ...]
    """Namespace and name of each."""
    overlays: tuple[str, ...]
    """Overlays with a run that changes."""
    everywhere: bool
    """Whether these are all overlays of the jobs."""
    added: bool
    removed: bool
    """Whether their files are new, or gone."""
    edits: tuple[FieldEdit, ...]
    """Without `state`, which the actions of the runs show."""
    reason: str
    """`runs.restartedFor` of their overlays, if runs start again because of it."""
    stopped: bool | None
    """Whether they become stopped, or, if false, are no longer stopped; None if neither."""
    runs: tuple[RunChange, ...]
    gpus: int
    """Difference of the GPUs of active runs."""
    months: Mapping[str, int]
    """Difference of their highest costs in a month, in hundredths, by currency; empty without prices."""

    @property
    def starting(self) -> tuple[RunChange, ...]:
        return tuple(run for run in self.runs if run.starts)

    @property
    def stopping(self) -> tuple[RunChange, ...]:
        return tuple(run for run in self.runs if run.stops)

    @property
    def actions(self) -> Counter[RunAction]:
        return Counter(run.action for run in self.runs)

    @property
    def of_sweeps(self) -> bool:
        """Whether each of its jobs has several runs."""
        return any(run.pair.object.values for run in self.runs)

    @property
    def of_some_runs(self) -> bool:
        """Whether it names runs of a sweep, so that their states are not those of the job."""
        return any(edit.path.startswith("sweep.overrides") for edit in self.edits)


def job_changes(
    runs: Iterable[RunChange], overlays: Mapping[str, Overlay], before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[JobChange, ...]:
    """`before` and `after` are the texts of job files at the base and in the work tree, by path."""
    of_job: dict[tuple[str, str], list[RunChange]] = {}
    for run in runs:
        of_job.setdefault((run.key.namespace, run.job), []).append(run)
    groups: dict[tuple[object, ...], list[JobChange]] = {}
    for job, several in of_job.items():
        changed = [run for run in several if run.action is not RunAction.KEPT]
        if changed:
            one = _job_change(job, several, changed, overlays, before, after)
            groups.setdefault(_likeness(one), []).append(one)
    return tuple(sorted(_folded(map(_merged, groups.values())), key=consequence))


def _folded(changes: Iterable[JobChange]) -> Iterator[JobChange]:
    """Many changes of the same fields as one without their values."""
    of_fields: dict[tuple[tuple[FieldEdit, ...], object], list[JobChange]] = {}
    for one in changes:
        paths = tuple(FieldEdit(path=edit.path, before=None, after=None) for edit in one.edits)
        of_fields.setdefault((paths, _likeness(replace(one, edits=()))), []).append(one)
    for (paths, _), several in of_fields.items():
        if len(several) < _MANY:
            yield from several
        else:
            yield replace(_merged(several), edits=paths)


def consequence(change: JobChange) -> tuple[object, ...]:
    """The largest effect first."""
    stopped = sum(run.before.demand.gpus for run in change.stopping if run.before is not None)
    return -stopped, -len(change.stopping), -sum(map(abs, change.months.values())), -change.gpus, change.jobs


def _job_change(
    job: tuple[str, str],
    runs: Sequence[RunChange],
    changed: Sequence[RunChange],
    overlays: Mapping[str, Overlay],
    before: Mapping[str, str],
    after: Mapping[str, str],
) -> JobChange:
    old = next((before[path] for path in sorted(job_files(run.pair.before for run in runs)) if path in before), None)
    new = next((after[path] for path in sorted(job_files(run.pair.after for run in runs)) if path in after), None)
    if old is None and (path := _only(job_files(run.pair.after for run in runs))) in before:
        old = before[path]  # the job runs in no overlay at the base
    if new is None and (path := _only(job_files(run.pair.before for run in runs))) in after:
        new = after[path]  # the job runs in no overlay any more
    gpus, months = 0, Counter[str]()
    for run in changed:
        for version, sign in ((run.before, -1), (version_after(run, overlays), 1)):
            if version is not None and version.counts:
                gpus += sign * version.demand.gpus
                if version.cost is not None:
                    months[version.cost.currency] += sign * version.cost.month
    edits = field_edits(old, new) if old is not None and new is not None else ()
    return JobChange(
        jobs=(job,),
        overlays=tuple(dict.fromkeys(run.key.scope for run in changed)),
        everywhere={run.key.scope for run in runs} == {run.key.scope for run in changed},
        added=old is None and new is not None,
        removed=old is not None and new is None,
        edits=tuple(edit for edit in edits if edit.path != _STATE),
        reason=next(filter(None, (_restart_reason(run, overlays) for run in changed)), ""),
        stopped=_stopped(edits),
        runs=tuple(changed),
        gpus=gpus,
        months=months,
    )


def _stopped(edits: Iterable[FieldEdit]) -> bool | None:
    state = next((edit for edit in edits if edit.path == _STATE), None)
    return state.after == _STOPPED if state is not None and _STOPPED in (state.before, state.after) else None


def _restart_reason(run: RunChange, overlays: Mapping[str, Overlay]) -> str:
    """Why the platform starts a run again; empty if the records of both runs have the same reason."""
    overlay, old, new = overlays.get(run.key.scope), run.pair.before, run.pair.after
    if overlay is None or old is None or new is None or not overlay.fields.runs.restarted_for:
        return ""
    before, after = (_RECORD.search(one.text.partition("\n")[0]) for one in (old, new))
    same = before is None or after is None or before["restart"] == after["restart"]
    return "" if same else overlay.fields.runs.restarted_for


def _only(paths: set[str]) -> str:
    return min(paths) if paths else ""


def _likeness(one: JobChange) -> tuple[object, ...]:
    """Equal for jobs with changes that are one entry."""
    actions = tuple(sorted(Counter((run.action, run.starts, run.stops) for run in one.runs).items()))
    return one.overlays, one.everywhere, one.added, one.removed, one.edits, one.reason, one.stopped, actions


def _merged(several: Sequence[JobChange]) -> JobChange:
    first = several[0]
    months = Counter[str]()
    for one in several:
        months.update(one.months)
    return replace(
        first,
        jobs=tuple(sorted(job for one in several for job in one.jobs)),
        runs=tuple(run for one in several for run in one.runs),
        gpus=sum(one.gpus for one in several),
        months=months,
    )


_GRANTING: Final = "namespaces", "groups", "extends"
"""Fields of an overlay with what it grants to namespaces, such as quotas."""


def grant_edits(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[tuple[str, FieldEdit], ...]:
    """What overlays grant to namespaces, where it changes: the file of the overlay, and the field.

    Each namespace of a new overlay is a field. `before` and `after` are texts of overlays by path.
    """
    found: list[tuple[str, FieldEdit]] = []
    for path, text in sorted(after.items()):
        old, new = (_grants(parse(side, "", Findings())) for side in (before.get(path, "{}"), text))
        if old is not None and new is not None:
            found += ((path, edit) for edit in _edits("", old, new))
    return tuple(found)


def _grants(overlay: Data | None) -> Data | None:
    """The fields with grants of an overlay; None if it cannot be read."""
    if not isinstance(overlay, dict):
        return None
    return {"namespaces": {}, "groups": {}, **{name: overlay[name] for name in _GRANTING if name in overlay}}


def field_edits(before: str, after: str) -> tuple[FieldEdit, ...]:
    """The fields with other values in two texts of a job file; empty if one of them cannot be read."""
    if before == after:
        return ()
    sides = parse(before, "", Findings()), parse(after, "", Findings())
    return tuple(_edits("", *sides)) if all(isinstance(side, dict) for side in sides) else ()


def _edits(path: str, before: Data | None, after: Data | None) -> Iterator[FieldEdit]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*after, *before)):
            yield from _edits(f"{path}.{name}" if path else name, before.get(name), after.get(name))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_edits(path, list(map(_text, before)), list(map(_text, after)))
    elif isinstance(before, str) and isinstance(after, str):
        yield _text_edit(path, before, after)
    else:
        yield FieldEdit(path=path, before=_text(before), after=_text(after))


def _list_edits(path: str, before: list[str | None], after: list[str | None]) -> Iterator[FieldEdit]:
    """Items that are only on one side; the lists themselves if only the order differs."""
    lost, new = [one for one in before if one not in after], [one for one in after if one not in before]
    if not lost and not new:
        yield FieldEdit(path=path, before=_listed(before), after=_listed(after))
    else:
        yield FieldEdit(path=path, before=_listed(lost) or None, after=_listed(new) or None, part=True)


def _listed(items: Iterable[str | None]) -> str:
    return ", ".join(map(str, items))


def _text(value: Data | None) -> str | None:
    """A value on one line. Values of mappings are shown like `{a: b}`."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_text(item)}" for name, item in value.items()) + "}"
    return f"[{_listed(map(_text, value))}]"


def _text_edit(path: str, before: str, after: str) -> FieldEdit:
    """The words that differ, with the option that they are a value of."""
    old, new = before.split(), after.split()
    if max(len(old), len(new)) == 1 or old == new:
        return FieldEdit(path=path, before=before, after=after)
    start = common_start(old, new)
    end = common_start(old[start:][::-1], new[start:][::-1])
    if start and old[start - 1].startswith("-") and "=" not in old[start - 1]:
        start -= 1
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    same = not start and not end
    return FieldEdit(path=path, before=" ".join(left) or None, after=" ".join(right) or None, part=not same)
