"""Actions of the engines on each object when the change is merged, by their own rules over both rendered trees.

An engine applies the files of an owner, which is an Application or a Kustomization, together: a dry run that the API
server refuses keeps it from all of them (`Sync` in `gitops-engine/pkg/sync/sync_context.go`, `ApplyAll` in
`fluxcd/pkg` `ssa/manager_apply.go`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from gen.base import Route
from gen.base.engines import ENGINES, is_finished
from gen.base.repository.layout import RenderedPath, engine_of, scope_overlay
from gen.kubernetes.facts import resource_of
from gen.kubernetes.facts.base import Pattern, Wildcard
from gen.overlay.profiles.engines import ENGINES as CLASSES
from gen.overlay.profiles.engines.base import Change, Outcome, SyncEffect
from gen.render.rendered_object import RenderedObject
from gen.render.write.volumes import differences, immutable_changes
from gen.review.rendered_trees import Pair, RenderedTrees


class Outcomes(Struct, frozen=True, kw_only=True):
    """What becomes of the object before and of the one after. They are the same unless the pair is `replaced`."""

    before: Outcome
    after: Outcome
    engine: str = ""
    """Title of the engine that does the most."""


UNTOUCHED = Outcomes(before=Outcome(deed=SyncEffect.LEFT), after=Outcome(deed=SyncEffect.LEFT))


class _Side(Struct, frozen=True, kw_only=True):
    """One side of the merge."""

    engines: Mapping[str, Collection[str]]
    """Engines that have objects of their own for an overlay."""
    folders: Collection[str]
    """Folders with files. Each has one owner."""

    @classmethod
    def of(cls, objects: Sequence[RenderedObject]) -> _Side:
        engines: dict[str, set[str]] = defaultdict(set)
        for one in objects:
            if engine := engine_of(one.key.scope):
                engines[scope_overlay(one.key.scope)].add(engine)
        return cls(engines=engines, folders={_folder(one) for one in objects})

    def engines_of(self, one: RenderedObject | None) -> Collection[str]:
        return self.engines.get(one.key.scope, ()) if one is not None else ()


_FINISHED = tuple(engine.finished.key for engine in ENGINES.values())


class _Merge(Struct, frozen=True):
    before: _Side
    after: _Side
    moved: Collection[Pair]

    def engines(self, pair: Pair) -> Collection[str]:
        """Every engine for an overlay without one: someone applies its files."""
        before, after = pair.before or pair.after, pair.after or pair.before
        return {*self.before.engines_of(before), *self.after.engines_of(after)} or ENGINES

    def unaffected(self, pair: Pair) -> bool:
        """Whether no engine has a reason to look at the object. A record is one for the engines at the base."""
        return pair.before is pair.after and pair not in self.moved and not self._is_record(pair)

    def replay(self, engine: str, pair: Pair) -> Outcomes:
        if not pair.replaced:
            outcome = CLASSES[engine].replay(self._change(engine, pair))
            return Outcomes(before=outcome, after=outcome, engine=ENGINES[engine].title)
        changes = (self._change(engine, one) for one in (Pair(pair.before, None), Pair(None, pair.after)))
        gone, new = map(CLASSES[engine].replay, changes)
        return Outcomes(before=gone, after=new, engine=ENGINES[engine].title)

    def _change(self, engine: str, pair: Pair) -> Change:
        before, after = pair.before, pair.after
        known = self.before.engines_of(before or after)
        return Change(
            before=before.metadata if before is not None else None,
            after=after.metadata if after is not None else None,
            record=self._is_record(pair),
            changed=pair.changed and _seen(engine, before, after),
            refused=_refused(before, after),
            moved=pair in self.moved,
            owner_stays=_folder(pair.object) in self.before.folders and _folder(pair.object) in self.after.folders,
            root_stays=engine not in known or engine in self.after.engines_of(pair.object),
            pruned=not RenderedPath.parse(pair.object.path).is_storage,
        )

    def _is_record(self, pair: Pair) -> bool:
        one = pair.before
        if one is None or not any(map(one.may_have, _FINISHED)):
            return False
        return is_finished(one.metadata, self.before.engines_of(one))


def replay(pairs: Sequence[Pair], trees: RenderedTrees, moved: Collection[Pair]) -> dict[Pair, Outcomes]:
    """By pair, without objects that no engine touches. `moved` are objects with a new owner that was not prepared."""
    merge = _Merge(_Side.of(trees.before), _Side.of(trees.after), moved)
    affected = [pair for pair in pairs if not engine_of(pair.object.key.scope) and not merge.unaffected(pair)]
    found: dict[Pair, Outcomes] = {}
    for engine in ENGINES:
        outcomes = {pair: merge.replay(engine, pair) for pair in affected if engine in merge.engines(pair)}
        refused = {_folder(pair.object): pair for pair, one in outcomes.items() if one.after.deed is SyncEffect.REFUSED}
        for pair, one in outcomes.items():
            if (cause := refused.get(_folder(pair.object))) is not None:
                one = Outcomes(  # noqa: PLW2901 - what its owner lets the engine do
                    before=_blocked(one.before, cause), after=_blocked(one.after, cause), engine=one.engine
                )
            known = found.get(pair)
            found[pair] = one if known is None or _deeds(known) < _deeds(one) else known
    return found


def _deeds(one: Outcomes) -> tuple[SyncEffect, SyncEffect]:
    return one.before.deed, one.after.deed


def _blocked(outcome: Outcome, cause: Pair) -> Outcome:
    if outcome.deed <= SyncEffect.REFUSED:
        return outcome
    return Outcome(deed=SyncEffect.BLOCKED, reason=f"`{cause.object.key}`, which the API server refuses to change")


def _folder(one: RenderedObject) -> str:
    return one.path.rpartition("/")[0]


def _refused(before: RenderedObject | None, after: RenderedObject | None) -> bool:
    if before is None or after is None or before is after:
        return False
    return next(immutable_changes(before.body, after.body), None) is not None


def _seen(engine: str, before: RenderedObject | None, after: RenderedObject | None) -> bool:
    """Whether the engine compares a field that differs."""
    if before is None or after is None:
        return True
    resource = resource_of(after.key.group, after.key.kind)
    ignored = list(CLASSES[engine].ignored(resource, after.metadata)) if resource is not None else []
    routes = (route for route, _, _ in differences(before.body, after.body))
    return any(not any(_within(route, pattern) for pattern in ignored) for route in routes)


def _within(route: Route, pattern: Pattern) -> bool:
    steps = zip(route, pattern, strict=False)
    return len(route) >= len(pattern) and all(isinstance(there, Wildcard) or there == step for step, there in steps)
