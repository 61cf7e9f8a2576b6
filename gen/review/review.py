"""The result of a review: what merging the work tree would do to runs, data, GPUs and objects."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from gen.resources.cost import bill
from gen.review.runs import RunAction, RunState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Diagnostic
    from gen.repository.git import Base
    from gen.resources.cost import Bill
    from gen.review.behind import BehindRun
    from gen.review.costs import NamespaceCost
    from gen.review.data import DataObject
    from gen.review.devices import DeviceUsage
    from gen.review.fields import FieldChange
    from gen.review.links import Links
    from gen.review.matching import Pair
    from gen.review.pins import MovedPin
    from gen.review.runs import RunChange
    from gen.review.unrendered import UnrenderedObject
    from gen.review.usage import Usage


class ObjectAction(StrEnum):
    """Effect of a merge on an object."""

    ADDED = "added"
    CHANGED = "changed"
    REPLACED = "replaced"
    MOVED = "moved"
    """The same object in another file. Nothing changes in the cluster."""
    REMOVED = "removed"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An object and the effect of the merge on it."""

    pair: Pair
    action: ObjectAction
    fields: tuple[FieldChange, ...] = ()
    """Differing fields of an object that exists before and after."""


@dataclass(frozen=True)
class Review:
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
    behind: tuple[BehindRun, ...] = ()
    """Runs that the work tree keeps although the platform changed since they were rendered."""
    costs: tuple[NamespaceCost, ...] = ()
    """Of namespaces with active runs in overlays with prices."""
    devices: tuple[DeviceUsage, ...] = ()
    """GPUs of active runs by namespace and accelerator."""
    links: Links | None = None
    """Where commits and files can be read on the web."""
    explanations: Mapping[str, str] = field(default_factory=dict)
    """Addresses of the pages that explain findings, by code; empty without a published documentation."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Texts of job files and overlays that the page shows, by path."""
    pins: tuple[MovedPin, ...] = ()
    """Images and code that get other content by the same tag or ref."""

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
