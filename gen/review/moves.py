"""Objects that get another owner: a merge moves them to another overlay of their cluster, or to another engine.

The old owner would delete runs, and the new one refuses objects that another has applied. So the owners change by hand,
in steps. No run restarts, and all data has an owner after them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from gen.base.codes.rendered import MOVES_OWNER
from gen.base.findings import Diagnostic, Findings, Location, Severity, counted
from gen.base.repository.layout import RenderedPath, engine_of, rendered_path, scope_overlay
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.engines import ENGINES
from gen.overlay.profiles.engines.base import Engine, Owned
from gen.render.rendered_object import RenderedObject
from gen.review.matching import Pair
from gen.review.rendered_trees import RenderedTrees

Owner = tuple[str, str]
"""The name of an engine and an overlay."""


class Move(Struct, frozen=True, kw_only=True):
    """Objects that go from one owner to another."""

    before: Owner
    after: Owner
    namespaces: tuple[str, str]
    """Namespaces of the engines before and after."""
    objects: tuple[Pair, ...]
    stays: bool
    """Whether the old owner has objects after the merge, too."""

    def __str__(self) -> str:
        (engine, overlay), (other_engine, other) = self.before, self.after
        if overlay != other:
            return f"move from overlay `{overlay}` to `{other}`"
        return f"of overlay `{overlay}` move from `{engine}` to `{other_engine}`"


def same_clusters(trees: RenderedTrees, overlays: Mapping[str, Overlay]) -> dict[str, Hashable]:
    """A key for the cluster of each overlay, by the name of the overlay, as far as it is certain.

    An overlay that is gone was renamed if a new one has its engine, repository and destination.
    """
    known: dict[str, Hashable] = {name: overlay.cluster for name, overlay in overlays.items()}
    had = {scope_overlay(one.key.scope) for one in trees.before}
    if had <= known.keys():
        return known
    before, after = (_bundles(objects) for objects in (trees.before, trees.after))
    for gone in had - known.keys():
        targets = {body for owner, body in before.items() if owner[1] == gone}
        new = [owner[1] for owner, body in after.items() if owner[1] not in had and body in targets]
        if len(set(new)) == 1 and new[0] in known:
            known[gone] = known[new[0]]
    return known


def _bundles(objects: Iterable[RenderedObject]) -> dict[Owner, Hashable]:
    """The repository and cluster of each owner, from the objects that configure its engine."""
    found: dict[Owner, Hashable] = {}
    for one in objects:
        if (engine := engine_of(one.key.scope)) and (target := ENGINES[engine].target(one.body)) is not None:
            found[engine, scope_overlay(one.key.scope)] = (engine, *target)
    return found


def moves(pairs: Sequence[Pair], trees: RenderedTrees) -> list[Move]:
    """The objects with another owner, by owners."""
    before, after = (_owners(objects) for objects in (trees.before, trees.after))
    found: dict[tuple[Owner, Owner], list[Pair]] = {}
    for pair in pairs:
        if pair.before is None or pair.after is None or pair.replaced or engine_of(pair.after.key.scope):
            continue
        old, new = before.get(pair.before.key.scope, {}), after.get(pair.after.key.scope, {})
        same_overlay = pair.before.key.scope == pair.after.key.scope
        if not old or not new or (same_overlay and not old.keys().isdisjoint(new)):
            continue
        engine = next((one for one in old if one in new), next(iter(old)))
        other = engine if engine in new else next(iter(new))
        owners = (engine, pair.before.key.scope), (other, pair.after.key.scope)
        found.setdefault(owners, []).append(pair)
    return [
        Move(
            before=one,
            after=other,
            namespaces=(before[one[1]][one[0]], after[other[1]][other[0]]),
            objects=tuple(objects),
            stays=one[0] in after.get(one[1], {}),
        )
        for (one, other), objects in sorted(found.items())
    ]


def _owners(objects: Iterable[RenderedObject]) -> dict[str, dict[str, str]]:
    """The engines of each overlay, with their namespaces."""
    found: dict[str, dict[str, str]] = {}
    for one in objects:
        if engine := engine_of(one.key.scope):
            found.setdefault(scope_overlay(one.key.scope), {})[engine] = one.key.namespace
    return found


def report_moves(found: Findings, changes: Iterable[Move], *, allowed: bool) -> None:
    """Refuse moves that were not prepared."""
    for one in changes:
        first = one.objects[0].after
        assert first is not None  # noqa: S101 - `moves`
        more = counted(len(one.objects), "object")
        message = f"{more} {one} in one step: runs would be deleted, and volumes stay with the old owner"
        hint = "run `gen move`, follow its steps, and merge with `gen plan --allow-move`"
        severity = Severity.WARNING if allowed else Severity.ERROR
        found.extend([Diagnostic(Location(first.path), MOVES_OWNER.name, message, hint, severity=severity)])


def steps(changes: Sequence[Move]) -> Iterator[str]:
    """A shell script, with comments."""
    for one in changes:
        (engine, overlay), (other_engine, other) = one.before, one.after
        old, new, owned = ENGINES[engine], ENGINES[other_engine], [_owned(pair) for pair in one.objects]
        yield f"# {counted(len(owned), 'object')} {one}"
        yield "# 1. Before the merge: the old owner stops, and forgets the objects"
        names = sorted({old.owner(overlay, before) for before, _ in owned})
        yield from old.release(overlay, one.namespaces[0], names)
        yield "# 2. Hand the objects over. Records without an object are not found: go on"
        yield from _handed_over(one, old, new, owned)
        yield "# 3. Merge the commit, and let the new owner apply it"
        yield f"kubectl apply --server-side -f {rendered_path(other_engine, other)}/"
        if one.stays:
            yield "# 4. The old owner goes on with the rest"
            yield from old.go_on(overlay, one.namespaces[0], names, rendered_path(engine, overlay))
        else:
            yield "# 4. When the new owner has applied everything, remove the old one. It owns nothing any more"
            yield from old.remove(overlay, one.namespaces[0])


def _owned(pair: Pair) -> tuple[Owned, Owned]:
    assert pair.before is not None and pair.after is not None  # noqa: S101, PT018 - `moves`
    first, second = (_as_owned(one) for one in (pair.before, pair.after))
    return first, second


def _as_owned(one: RenderedObject) -> Owned:
    path = RenderedPath.parse(one.path)
    return Owned(
        group=one.key.group,
        kind=one.key.kind,
        namespace=one.key.namespace,
        name=one.key.name,
        folder=path.namespace,
        job=path.job,
        stored=path.is_storage,
    )


def _handed_over(
    move: Move, old: type[Engine], new: type[Engine], objects: Iterable[tuple[Owned, Owned]]
) -> Iterator[str]:
    for before, after in objects:
        marks = new.marks(new.owner(move.after[1], after), move.namespaces[1], after)
        removed = old.marks("", "", before) if old is not new else {}
        for field in ("annotate", "label"):
            words = [f"{key}={value}" for key, value in sorted(marks.get(field, {}).items())]
            words += [f"{key}-" for key in sorted(removed.get(field, {}))]
            if words:
                yield f"kubectl {field} --overwrite {after} {' '.join(words)}"
