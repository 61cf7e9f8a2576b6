"""`gen plan`: effects of merging the work tree, from `rendered/` at the base commit and in the work tree.

    find_base → read_trees → pair_up → runs, usage, data, objects → Review → text, Markdown or JSON

Only rendered objects are read. `gen check` verifies that they match the jobs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from gen.commands.compared import repository
from gen.commands.options import Overlays, Root
from gen.commands.result import CLEAN, VIOLATIONS, Result
from gen.diagnostics import Findings, Location, UsageError, did_you_mean
from gen.kubernetes import COMPONENT
from gen.report.formats import PLAN_REPORTERS
from gen.repository.git import find_base
from gen.repository.layout import rendered_path, scope_overlay
from gen.review.data import data_of
from gen.review.fields import field_changes
from gen.review.guard import Guard, told_delivery
from gen.review.matching import Pair, pair_up
from gen.review.rendered_trees import Trees, read_trees
from gen.review.runs import runs_of
from gen.review.types import Change, ObjectChange, Review
from gen.review.usage import read_overlays, usages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.review.rendered_object import Item


FORMATS = PLAN_REPORTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Arguments of `gen plan`."""

    base: Annotated[
        str | None,
        typer.Option("--base", help="Git ref to compare with. [default: merge base with the default branch]"),
    ] = None
    overlay: Overlays = ()
    root: Root = None
    max_removed: Annotated[
        str | None,
        typer.Option("--max-removed", metavar="N|P%", help="Fail if more than N objects (or P%) would be removed."),
    ] = None
    allow_data_removal: Annotated[
        bool, typer.Option("--allow-data-removal", help="Do not fail if volumes or claims would be removed.")
    ] = False


def run(request: Request) -> Result[Review]:
    """Violations when the change must not be merged. UsageError when there is nothing to compare with."""
    result = review(request)
    return Result(output=result, exit_code=VIOLATIONS if result.refused else CLEAN)


def review(request: Request) -> Review:
    """UsageError if there is no base to compare with. All other errors are findings of the review."""
    guard = Guard.parse(request.max_removed)
    root = repository(request.root)
    base = find_base(root, request.base)
    found = Findings()
    trees = _narrowed(read_trees(root, base, found), request.overlay)
    pairs = pair_up(trees, found)
    overlays = read_overlays(root, {pair.item.key.scope for pair in pairs if pair.after and pair.workload}, found)
    runs = runs_of(pairs, overlays, found)
    data = data_of(pairs, found, allowed=request.allow_data_removal)
    usage = usages(runs, overlays, found)
    every = [_object(pair) for pair in pairs]
    objects = tuple(item for item in every if item.change is not Change.KEPT)
    guard.judge(sum(item.change is Change.REMOVED for item in objects), len(trees.before), found)
    told_delivery(objects, found)
    if not objects and base.inputs_differ():
        message = "jobs or overlays changed, but `rendered/` did not"
        found.warning("not-rendered", Location(rendered_path("")), message, "run `gen render` if you have not done so")
    boards = Counter(item.change for item in every if _is_board(item.pair.item))
    return Review(base, runs, boards, data, usage, objects, len(trees.before), len(trees.after), tuple(found))


def _narrowed(trees: Trees, overlays: tuple[str, ...]) -> Trees:
    known = {scope_overlay(scope) for item in (*trees.before, *trees.after) if (scope := item.key.scope)}
    for name in overlays:
        if name not in known:
            raise UsageError(f"no objects are rendered for overlay `{name}`: {did_you_mean(name, known)}")

    def chosen(items: Iterable[Item]) -> list[Item]:
        return [item for item in items if not overlays or scope_overlay(item.key.scope) in overlays]

    return Trees(chosen(trees.before), chosen(trees.after))


def _object(pair: Pair) -> ObjectChange:
    if pair.before is None:
        return ObjectChange(pair, Change.ADDED)
    if pair.after is None:
        return ObjectChange(pair, Change.REMOVED)
    if not pair.changed:
        return ObjectChange(pair, Change.MOVED if pair.moved else Change.KEPT)
    change = Change.REPLACED if pair.replaced else Change.CHANGED
    fields = field_changes(pair.before, pair.after) if pair.before.key.kind == pair.after.key.kind else ()
    return ObjectChange(pair, change, fields)


def _is_board(item: Item) -> bool:
    """Matches the text, so that unchanged files need not be parsed."""
    return item.key.kind == "Deployment" and f"\n    {COMPONENT}: tensorboard\n" in item.text
