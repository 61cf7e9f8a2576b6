"""Compare two rendered trees: the effects of a merge on runs, data, GPUs and objects."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.findings.rendered import NOT_RENDERED
from gen.kubernetes import COMPONENT
from gen.repository.layout import rendered_path
from gen.review.by_hand import warn_apply_by_hand
from gen.review.costs import cost_changes
from gen.review.data import data_changes
from gen.review.devices import device_changes
from gen.review.fields import field_changes
from gen.review.matching import Pair, match_objects, workload
from gen.review.pins import moved_pins
from gen.review.policies import report_policies
from gen.review.removals import RemovalLimit, warn_delivery_removed, warn_kind_no_longer_permitted
from gen.review.review import ObjectAction, ObjectChange, Review
from gen.review.run_changes import run_changes
from gen.review.unrendered import unrendered_usage
from gen.review.usage import usage_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gen.diagnostics import Findings
    from gen.overlay.overlay import Overlay
    from gen.repository.git import Base
    from gen.review.behind import BehindRun
    from gen.review.rendered_object import RenderedObject
    from gen.review.rendered_trees import RenderedTrees
    from gen.review.unrendered import UnrenderedObject

_NO_LIMIT = RemovalLimit()


def compare_trees(
    base: Base,
    trees: RenderedTrees,
    overlays: Mapping[str, Overlay],
    found: Findings,
    *,
    inputs_differ: Callable[[], bool] = lambda: False,
    allow_data_removal: bool = False,
    removal_limit: RemovalLimit = _NO_LIMIT,
    unrendered: tuple[UnrenderedObject, ...] = (),
    behind: tuple[BehindRun, ...] = (),
) -> Review:
    """Review the change from `trees.before` to `trees.after`, with the findings of reading both in `found`.

    `overlays` are those of the work tree, for quotas and GPU resources. `inputs_differ` is called if no object differs.
    """
    pairs = match_objects(trees, found)
    runs = run_changes(pairs, overlays, found)
    data = data_changes(pairs, found, allowed=allow_data_removal)
    usage = usage_changes(runs, overlays, found, unrendered_usage(unrendered))
    costs = cost_changes(runs, overlays, found)
    changes = [object_change(pair) for pair in pairs]
    objects = tuple(change for change in changes if change.action is not ObjectAction.KEPT)
    removed = sum(change.action is ObjectAction.REMOVED for change in objects)
    removal_limit.check(removed, len(trees.before), found)
    warn_delivery_removed(objects, found)
    warn_kind_no_longer_permitted(objects, found)
    warn_apply_by_hand(objects, trees.settings, found)
    report_policies(pairs, overlays, found)
    if not objects and inputs_differ():
        message = "jobs or overlays changed, but `rendered/` did not"
        found.warning(NOT_RENDERED, Location(rendered_path("")), message, "run `gen render` first")
    return Review(
        base=base,
        runs=runs,
        tensorboards=Counter(change.action for change in changes if _is_tensorboard(change.pair.object)),
        data=data,
        usage=usage,
        costs=costs,
        devices=device_changes(runs, overlays),
        objects=objects,
        before=len(trees.before),
        after=len(trees.after),
        findings=tuple(found),
        unrendered=unrendered,
        behind=behind,
        pins=moved_pins(change.pair for change in objects),
    )


def run_scopes(trees: RenderedTrees) -> set[str]:
    """The overlays that have runs after the merge."""
    return {one.key.scope for one in trees.after if workload(one) is not None}


def object_change(pair: Pair) -> ObjectChange:
    if pair.before is None:
        return ObjectChange(pair, ObjectAction.ADDED)
    if pair.after is None:
        return ObjectChange(pair, ObjectAction.REMOVED)
    if not pair.changed:
        return ObjectChange(pair, ObjectAction.MOVED if pair.moved else ObjectAction.KEPT)
    action = ObjectAction.REPLACED if pair.replaced else ObjectAction.CHANGED
    fields = field_changes(pair.before, pair.after) if pair.before.key.kind == pair.after.key.kind else ()
    return ObjectChange(pair, action, fields)


def _is_tensorboard(one: RenderedObject) -> bool:
    """Found in the text, so that unchanged objects need not be parsed."""
    return one.key.kind == "Deployment" and f"\n    {COMPONENT}: tensorboard\n" in one.text
