"""The result of a review: effects of merging the work tree on runs, data, GPUs, costs and objects. The result of a
comparison with a render has objects alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, field

from gen.base import Diagnostic, Findings
from gen.kubernetes.facts.permissions import NOTABLE, Permission, created_permissions, permissions
from gen.overlay.costs import Bill, bill
from gen.render.rendered_object import ObjectKey, RenderedObject, parse_object
from gen.render.write.compare import Change
from gen.review.field_changes import FieldChange, field_changes
from gen.review.rendered_trees import RenderedTrees, match_objects
from gen.review.run_versions import RunState, RunVersion
from gen.review.runs import RunAction, RunChange

if TYPE_CHECKING:
    from gen.base.repository.git import Base
    from gen.kubernetes.objects import Body
    from gen.review.changes import FieldEdit, JobChange
    from gen.review.data import DataObject
    from gen.review.field_changes import MovedPin
    from gen.review.gpus_and_costs import DeviceUsage, NamespaceCost, Usage
    from gen.review.kept_runs import BehindRun
    from gen.review.rendered_trees import Pair
    from gen.review.sources import Links
    from gen.review.unrendered import UnrenderedObject


class ObjectAction(StrEnum):
    """Effect of a merge on an object."""

    ADDED = "added"
    CHANGED = "changed"
    REPLACED = "replaced"
    MOVED = "moved"
    """The same object in another file. Nothing changes in the cluster."""
    REMOVED = "removed"
    KEPT = "kept"


class ObjectChange(Struct, frozen=True):
    """An object and the effect of the merge on it."""

    pair: Pair
    action: ObjectAction
    fields: tuple[FieldChange, ...] = ()
    """Differing fields of an object that exists before and after."""

    @classmethod
    def of(cls, pair: Pair) -> ObjectChange:
        if pair.before is None:
            return cls(pair, ObjectAction.ADDED)
        if pair.after is None:
            return cls(pair, ObjectAction.REMOVED)
        if not pair.changed:
            return cls(pair, ObjectAction.MOVED if pair.moved else ObjectAction.KEPT)
        action = ObjectAction.REPLACED if pair.replaced else ObjectAction.CHANGED
        same_kind = pair.before.key.kind == pair.after.key.kind
        return cls(pair, action, field_changes(pair.before, pair.after) if same_kind else ())


class Review(Struct, frozen=True, dict=True):
    """Effects of merging the work tree's `rendered/` into the base."""

    base: Base
    runs: tuple[RunChange, ...]
    tensorboards: Counter[ObjectAction]
    data: tuple[DataObject, ...]
    usage: tuple[Usage, ...]
    objects: tuple[ObjectChange, ...]
    """Without those that are kept."""
    before: int
    """Number of objects at the base."""
    after: int
    findings: tuple[Diagnostic, ...]
    unrendered: tuple[UnrenderedObject, ...] = ()
    """Objects in the work tree that gen did not render."""
    incomplete: bool = False
    """Whether errors keep jobs from being rendered, so that their changes are missing here."""
    check_fails: bool = False
    """Whether `gen check` failed, which ran with the plan."""
    others: tuple[str, ...] = ()
    """Changed paths that are neither jobs nor rendered files: they need the approval of their owners."""
    tree: str = ""
    """The Git tree of the files after the change; empty if it is not committed."""
    behind: tuple[BehindRun, ...] = ()
    """Runs that the work tree keeps although the platform changed since they were rendered."""
    costs: tuple[NamespaceCost, ...] = ()
    """Of namespaces with active runs in overlays with prices."""
    devices: tuple[DeviceUsage, ...] = ()
    """GPUs of active runs by namespace and accelerator."""
    links: Links | None = None
    """Addresses of commits and files on the web."""
    explanations: Mapping[str, str] = field(default_factory=dict)
    """Addresses of the pages that explain findings, by code; empty without a published documentation."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Texts of job files and overlays that the page shows, by path."""
    changes: tuple[JobChange, ...] = ()
    """Changes by job, the largest effect first."""
    grants: tuple[tuple[str, FieldEdit], ...] = ()
    """Changes of what overlays grant to namespaces, such as quotas, each with the file of the overlay."""
    pins: tuple[MovedPin, ...] = ()
    """Images and code with other content under the same tag or ref."""

    @cached_property
    def run_actions(self) -> Counter[RunAction]:
        return Counter(run.action for run in self.runs)

    @cached_property
    def object_actions(self) -> Counter[ObjectAction]:
        return Counter(change.action for change in self.objects)

    @cached_property
    def starting(self) -> tuple[RunChange, ...]:
        return tuple(run for run in self.runs if run.starts)

    @cached_property
    def stopping(self) -> tuple[RunChange, ...]:
        return tuple(run for run in self.runs if run.stops)

    @cached_property
    def permissions(self) -> Mapping[Permission, tuple[ObjectKey, ...]]:
        """Host access, privileges, accounts and Secrets that pods get by the merge, with the runs that get each."""
        found: dict[Permission, list[ObjectKey]] = {}
        for run in self.runs:
            for one in _new_permissions(run):
                found.setdefault(one, []).append(run.key)
        return {one: tuple(runs) for one, runs in sorted(found.items())}

    @cached_property
    def bill(self) -> Bill | None:
        """The cost of the starting runs; None if no overlay of theirs has prices."""
        costs = [(run.latest.name, run.latest.cost) for run in self.starting]
        return bill(costs) if any(cost is not None for _, cost in costs) else None

    @cached_property
    def kept(self) -> int:
        """Number of unchanged runs, without the records of finished ones."""
        same = [run for run in self.runs if run.action is RunAction.KEPT]
        return sum(run.after is not None and run.after.state is not RunState.FINISHED for run in same)

    @property
    def refused(self) -> bool:
        return any(finding.is_error for finding in self.findings)


def _new_permissions(run: RunChange) -> set[Permission]:
    """Notable permissions of the pods after the merge that no pods of the run had before it."""
    old, new = run.pair.before, run.pair.after
    if run.action is RunAction.KEPT or new is None or run.after is None or run.after.state is not RunState.ACTIVE:
        return set()
    ran = old is not None and run.before is not None and run.before.active
    before = _permissions(old.body, run.after) if old is not None and ran else set()
    return _permissions(new.body, run.after) - before


def _permissions(body: Body, version: RunVersion) -> set[Permission]:
    """Notable permissions of the pods of a run, also of those that a runtime adds."""
    own = {one for one in permissions(body, whole=False) if one[0] in NOTABLE}
    return own | created_permissions(body, version.runtimes)


class RenderedDiff(Struct, frozen=True, kw_only=True):
    """Differences between `rendered/` and the result of a render, by object."""

    objects: tuple[ObjectChange, ...] = ()
    rewritten: tuple[str, ...] = ()
    """Files with another text and the same object, or without a readable object."""
    edited: frozenset[str] = frozenset()
    """Files that were edited by hand."""
    findings: tuple[Diagnostic, ...] = ()
    summary: str = ""


def object_differences(changes: Iterable[Change]) -> tuple[tuple[ObjectChange, ...], tuple[str, ...]]:
    """Differing objects, and files that differ in text only."""
    trees = RenderedTrees()
    paths = []
    for change in changes:
        old, new = _object(change.old, change.path), _object(change.new, change.path)
        if change.old is None or old is not None:  # an unreadable old object is not reported as a new one
            trees.before.extend([old] if old is not None else [])
            trees.after.extend([new] if new is not None else [])
        paths.append(change.path)
    objects = tuple(
        change
        for change in map(ObjectChange.of, match_objects(trees, Findings(), {}))
        if change.action is not ObjectAction.KEPT
    )
    explained = {one.path for change in objects for one in (change.pair.before, change.pair.after) if one is not None}
    return objects, tuple(path for path in paths if path not in explained)


def _object(text: str | None, path: str) -> RenderedObject | None:
    return None if text is None else parse_object(text.encode("utf-8", "surrogateescape"), path, Findings())
