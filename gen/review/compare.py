"""Compare two rendered trees: effects of a merge on runs, data, GPUs, costs and objects, and findings about them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Code, Diagnostic, Findings, Location, UsageError, at, contained, quoted
from gen.base.codes import rendered as codes
from gen.base.engines import ENGINES
from gen.base.repository.git import Base
from gen.base.repository.layout import RENDERED, engine_of, rendered_path, settings_name
from gen.kubernetes.facts import resource_of
from gen.kubernetes.objects import CHECKPOINTS
from gen.kubernetes.schemas.lookup import Kinds
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.engines import ENGINES as CLASSES
from gen.render.rendered_object import RenderedObject, workload
from gen.review.data import DataObject, data_changes
from gen.review.field_changes import moved_pins
from gen.review.gpus_and_costs import NamespaceCost, Usage, cost_changes, device_changes, is_tensorboard, usage_changes
from gen.review.moves import moves, report_moves, same_clusters
from gen.review.rendered_trees import Pair, RenderedTrees, match_objects
from gen.review.replay import replay
from gen.review.result import ObjectAction, ObjectChange, Review
from gen.review.runs import RunChange, run_changes
from gen.review.unrendered import UnrenderedObject, unrendered_usage

_APPLIED = {ObjectAction.ADDED, ObjectAction.CHANGED, ObjectAction.REPLACED}


class RemovalLimit(Struct, frozen=True):
    """Maximum number of removed objects, or their maximum share of the objects at the base."""

    maximum: float | None = None
    """None for no limit."""
    percent: bool = False

    @classmethod
    def parse(cls, text: str | None) -> RemovalLimit:
        """`20` or `5%`. UsageError for anything else."""
        if text is None:
            return cls()
        match = re.fullmatch(r"([0-9]{1,9}|[0-9]{1,3}(?:\.[0-9]{1,3})?%)", text)
        percent = text.endswith("%")
        if match is None or (percent and float(text[:-1]) > 100):  # noqa: PLR2004 - percent
            raise UsageError(f"invalid --max-removed `{text}`; expected a number of objects or a share such as 10%")
        return cls(float(text.removesuffix("%")), percent)

    def check(self, removed: int, before: int, found: Findings) -> None:
        """`removed` does not count replaced objects, such as those of a new run of the same job."""
        if self.maximum is None:
            return
        share = 100 * removed / before if before else 0.0
        if (share if self.percent else removed) > self.maximum:
            limit = f"{self.maximum:g}%" if self.percent else f"{self.maximum:g}"
            message = f"{removed} of {before} objects ({share:.1f}%) would be removed; the limit is {limit}"
            hint = "review the removed objects; raise --max-removed if the removal is intended"
            found.error(codes.TOO_MANY_REMOVED, Location(RENDERED), message, hint)


_NO_LIMIT = RemovalLimit()


def compare_trees(
    base: Base,
    trees: RenderedTrees,
    overlays: Mapping[str, Overlay],
    found: Findings,
    *,
    inputs_differ: Callable[[], bool] = lambda: False,
    allowed: Collection[Code] = (),
    removal_limit: RemovalLimit = _NO_LIMIT,
    unrendered: tuple[UnrenderedObject, ...] = (),
    parallel: int = 1,
) -> Review:
    """Review the change from `trees.before` to `trees.after`, with the findings of reading both in `found`.

    `allowed` are the codes of errors that become warnings: of removed data and of moves.
    `overlays` are those of the work tree, for quotas and GPU resources. `inputs_differ` is called if no object differs.
    """
    pairs = match_objects(trees, found, same_clusters(trees, overlays))
    changes_of_owners, prepared = moves(pairs, trees), codes.MOVES_OWNER in allowed
    report_moves(found, changes_of_owners, allowed=prepared)
    moved = set() if prepared else {pair for one in changes_of_owners for pair in one.objects}
    changed = run_changes(pairs, overlays, found, replay(pairs, trees, moved), trees.rendered, parallel)
    runs = _with_earlier(changed, trees.stopped)
    everywhere = Location(RENDERED)
    data: tuple[DataObject, ...] = ()
    with contained(found, everywhere, "compare the volumes"):
        data = data_changes(pairs, found, allowed=codes.DATA_REMOVED in allowed)
    usage: tuple[Usage, ...] = ()
    with contained(found, everywhere, "count the GPUs"):
        usage = usage_changes(runs, overlays, found, unrendered_usage(unrendered))
    costs: tuple[NamespaceCost, ...] = ()
    with contained(found, everywhere, "count the costs"):
        costs = cost_changes(runs, overlays, found)
    tensorboards = Counter(ObjectAction.KEPT for pair in pairs if pair.is_same and is_tensorboard(pair.object))
    changes = []
    for pair in (pair for pair in pairs if not pair.is_same):
        with contained(found, Location(pair.object.path), f"compare {pair.object.key}"):
            changes.append(ObjectChange.of(pair))
    objects = tuple(change for change in changes if change.action is not ObjectAction.KEPT)
    tensorboards.update(change.action for change in changes if is_tensorboard(change.pair.object))
    removed = sum(change.action is ObjectAction.REMOVED for change in objects)
    removal_limit.check(removed, len(trees.before), found)
    warn_delivery_removed(objects, trees.after, found)
    warn_kind_no_longer_permitted(objects, found)
    warn_apply_by_hand(objects, trees.settings, found)
    report_policies((change.pair for change in objects), overlays, found)
    if not objects and inputs_differ():
        message = "jobs or overlays changed, but `rendered/` did not"
        found.warning(codes.NOT_RENDERED, Location(rendered_path("")), message, "run `gen render` first")
    return Review(
        base=base,
        runs=runs,
        tensorboards=tensorboards,
        data=data,
        usage=usage,
        costs=costs,
        devices=device_changes(runs, overlays),
        objects=objects,
        before=len(trees.before),
        after=len(trees.after),
        findings=tuple(found),
        unrendered=unrendered,
        pins=moved_pins(change.pair for change in objects),
    )


def _with_earlier(runs: Iterable[RunChange], stopped: Iterable[RenderedObject]) -> tuple[RunChange, ...]:
    """The runs, with whether a stopped one of the same job saved checkpoints in a folder of its own."""
    saved: dict[tuple[str, str, str, str], set[str]] = defaultdict(set)
    for one in stopped:
        if folder := at(one.metadata, "annotations", CHECKPOINTS):
            saved[one.key.scope, one.key.namespace, one.job, one.values].add(str(folder))
    return tuple(replace(run, earlier=_is_other(run, saved)) if saved else run for run in runs)


def _is_other(run: RunChange, saved: Mapping[tuple[str, str, str, str], set[str]]) -> bool:
    known = saved.get((run.key.scope, run.key.namespace, run.job, run.latest.values), set())
    return bool(known) and run.latest.saves not in known


def run_scopes(tree: Iterable[RenderedObject]) -> set[str]:
    """The overlays that have runs in a tree."""
    return {one.key.scope for one in tree if workload(one) is not None}


def report_policies(pairs: Iterable[Pair], overlays: Mapping[str, Overlay], found: Findings) -> None:
    """Evaluate admission policies about updates, with the object at the base as `oldObject`.

    `gen check` evaluates them about creations only.
    """
    for pair in pairs:
        before, after = pair.before, pair.after
        if before is None or after is None or pair.replaced or not pair.changed:
            continue
        overlay = overlays.get(after.key.scope)
        if overlay is not None and overlay.policies is not None and overlay.policies.bound:
            found.extend(_policy_findings(before, after, overlay))


def _policy_findings(before: RenderedObject, after: RenderedObject, overlay: Overlay) -> Iterable[Diagnostic]:
    from gen.kubernetes.check.policies import policy_findings

    if overlay.policies is None or not (_fits(before, overlay.kinds) and _fits(after, overlay.kinds)):
        return ()  # `gen check` refuses objects that do not fit
    return policy_findings(overlay.policies, after.body, lambda _: Location(after.path), old=before.body)


def _fits(one: RenderedObject, kinds: Kinds) -> bool:
    version, kind = one.body.get("apiVersion"), one.body.get("kind")
    known = kinds.get(version, kind) if isinstance(version, str) and isinstance(kind, str) else None
    return known is not None and known.validator.is_valid(one.body)


def warn_apply_by_hand(objects: Iterable[ObjectChange], settings: Iterable[str], found: Findings) -> None:
    """Warn about objects and settings to apply by hand after the merge. `settings` are changed files."""
    for change in objects:
        after = change.pair.after
        if after is None or change.action not in _APPLIED or not (engine := engine_of(after.key.scope)):
            continue
        permits = CLASSES[engine].permissions(after.body)
        if permits is not None:
            before = change.pair.before
            permitted = CLASSES[engine].permissions(before.body) if before is not None else None
            what = _difference(permitted or frozenset(), permits)
            folder = after.path.rpartition("/")[0]
            hint = f"after the merge, run `kubectl apply --server-side -f {folder}/`"
            found.warning(codes.APPLY_BY_HAND, Location(after.path), f"`{after.key}` {what}", hint)
    for path in settings:
        name = settings_name(path)
        command = f"kubectl patch configmap {name} --type=merge --patch-file={path}"
        hint = f"after the merge, run `{command}` in the namespace of the engine"
        found.warning(
            codes.APPLY_BY_HAND, Location(path), f"`{name}` gets settings that are not applied from Git", hint
        )


def _difference(before: frozenset[str], after: frozenset[str]) -> str:
    """Added and removed permissions."""
    more, less = sorted(after - before), sorted(before - after)
    parts = [f"permits {_listed(more)}"] if more else []
    parts += [f"no longer permits {_listed(less)}"] if less else []
    return " and ".join(parts) or "changes, and is not applied from Git"


def _listed(words: list[str]) -> str:
    return quoted(words)


def warn_delivery_removed(objects: Iterable[ObjectChange], after: Iterable[RenderedObject], found: Findings) -> None:
    """Warn about removed Applications and Kustomizations, because engines may delete their objects with them."""
    folders: set[str] | None = None
    for change in objects:
        removed = change.pair.object
        if change.action is ObjectAction.REMOVED and (engine := engine_of(removed.key.scope)):
            if (folder := CLASSES[engine].folder(removed.body)) is not None:
                folders = {one.path.rpartition("/")[0] for one in after} if folders is None else folders
                if not any(other == folder or other.startswith(f"{folder}/") for other in folders):
                    continue  # with the last job or volume that it applies
            message = f"`{removed.key}` would be removed; the GitOps engine may delete every object that it applied"
            hint = "make sure that its objects are kept before you remove or rename it"
            found.warning(codes.DELIVERY_REMOVED, Location(removed.path), message, hint)


def warn_kind_no_longer_permitted(objects: Iterable[ObjectChange], found: Findings) -> None:
    """Warn about kinds that an engine stops permitting, because it does not prune their last runs."""
    for change in objects:
        before, after = change.pair.before, change.pair.after
        if before is None or after is None or (engine := engine_of(after.key.scope)) == "":
            continue
        permitted = CLASSES[engine].permitted
        for group, kind in sorted(permitted(before.body) - permitted(after.body)):
            resource = resource_of(group, kind)
            if resource is not None and resource.is_workload:
                keeper = ENGINES[engine].title
                message = f"`{after.key}` no longer permits {kind}; {keeper} would keep the last runs of this kind"
                hint = f"list the kind of job that renders {kind} under `operators` until its runs are gone"
                found.warning(codes.KIND_NO_LONGER_PERMITTED, Location(after.path), message, hint)
