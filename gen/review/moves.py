"""Objects that get another owner: a merge moves them to another overlay of their cluster, or to another engine.

The old owner would delete runs, and the new one refuses objects that another has applied. So the owners change by hand,
in steps. No run restarts, and all data has an owner after them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from gen.base import Diagnostic, Findings, Location, Severity, counted
from gen.base.codes.rendered import MOVES_OWNER
from gen.base.repository.layout import RenderedPath, engine_of, rendered_path, scope_overlay
from gen.overlay.overlay import Overlay
from gen.overlay.profiles.engines import ENGINES
from gen.overlay.profiles.engines.base import Engine, EngineObject
from gen.render.rendered_object import RenderedObject
from gen.review.rendered_trees import Pair, RenderedTrees

Owner = tuple[str, str]
"""The name of an engine and an overlay."""
_Names = dict[tuple[str, str], str]
"""Names of an engine's objects that apply a folder, by engine and folder."""
_Engines = dict[str, dict[str, str]]
"""The engines of each overlay, with their namespaces."""


class Move(Struct, frozen=True, kw_only=True):
    """Objects that go from one owner to another."""

    before: Owner
    after: Owner
    namespaces: tuple[str, str]
    """Namespaces of the engines before and after."""
    objects: tuple[Pair, ...]
    stays: bool
    """Whether the old owner has objects after the merge, too."""
    names: tuple[str, ...]
    """Names of the engine's objects that applied them."""
    remaining: tuple[str, ...]
    """Those of the names that are in Git after the merge, too."""

    def __str__(self) -> str:
        (engine, overlay), (other_engine, other) = self.before, self.after
        if overlay != other:
            return f"move from overlay `{overlay}` to `{other}`"
        if engine == other_engine:
            return f"of overlay `{overlay}` get other owners in `{engine}`"
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
    old_names, new_names = _names(trees.before, trees.after), _names(trees.after, trees.before)
    found: dict[tuple[Owner, Owner], list[Pair]] = {}
    for pair in pairs:
        if pair.before is None or pair.after is None or pair.replaced or engine_of(pair.after.key.scope):
            continue
        old, new = before.get(pair.before.key.scope, {}), after.get(pair.after.key.scope, {})
        if not old or not new:
            continue
        both = [one for one in old if one in new]
        if both and pair.before.key.scope == pair.after.key.scope:
            names = {one: (_name(old_names, one, pair.before), _name(new_names, one, pair.after)) for one in both}
            both = [one for one, (name, other) in names.items() if name and other and name != other]
            if not both:
                continue
        engine, other = (both[0], both[0]) if both else (next(iter(old)), next(iter(new)))
        found.setdefault(((engine, pair.before.key.scope), (other, pair.after.key.scope)), []).append(pair)
    return [_move(owners, objects, before, after, old_names, trees) for owners, objects in sorted(found.items())]


def _move(
    owners: tuple[Owner, Owner],
    objects: Sequence[Pair],
    before: _Engines,
    after: _Engines,
    old_names: _Names,
    trees: RenderedTrees,
) -> Move:
    (engine, overlay), (other, new) = owners
    bodies = [pair.before for pair in objects if pair.before is not None]
    names = {_name(old_names, engine, one) or ENGINES[engine].owner(overlay, _as_owned(one)) for one in bodies}
    present = {one.key.name for one in trees.after if one.key.scope == f"{engine}/{overlay}"}
    return Move(
        before=owners[0],
        after=owners[1],
        namespaces=(before[overlay][engine], after[new][other]),
        objects=tuple(objects),
        stays=engine in after.get(overlay, {}),
        names=tuple(sorted(names)),
        remaining=tuple(sorted(names & present)),
    )


def _names(objects: Iterable[RenderedObject], others: Iterable[RenderedObject]) -> _Names:
    """Without those that `others` have, too."""
    same = {id(one) for one in others}
    own = ((engine_of(one.key.scope), one) for one in objects if id(one) not in same)
    folders = (((engine, ENGINES[engine].folder(one.body)), one.key.name) for engine, one in own if engine)
    return {(engine, folder): name for (engine, folder), name in folders if folder is not None}


def _name(names: _Names, engine: str, one: RenderedObject) -> str:
    """The name of the object that applies an object; empty if both trees have it, or if it names no folder."""
    folder = one.path.rpartition("/")[0]
    return names.get((engine, folder)) or names.get((engine, folder.rpartition("/")[0])) or ""


def _owners(objects: Iterable[RenderedObject]) -> _Engines:
    """The engines of each overlay, with their namespaces."""
    found: _Engines = {}
    for one in objects:
        if engine := engine_of(one.key.scope):
            found.setdefault(scope_overlay(one.key.scope), {})[engine] = one.key.namespace
    return found


def report_moves(found: Findings, changes: Iterable[Move], *, allowed: bool) -> None:
    """Refuse moves that were not prepared."""
    for one in changes:
        first = one.objects[0].after
        assert first is not None  # `moves`
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
        yield from old.release(overlay, one.namespaces[0], one.names)
        yield "# 2. Hand the objects over. Records without an object are not found: go on"
        yield from _handed_over(one, old, new, owned)
        yield "# 3. Merge the commit, and let the new owner apply it"
        yield f"kubectl apply --server-side -f {rendered_path(other_engine, other)}/"
        if one.stays:
            yield "# 4. The old owner goes on with the rest"
            yield from old.go_on(overlay, one.namespaces[0], one.remaining, rendered_path(engine, overlay))
        else:
            yield "# 4. When the new owner has applied everything, remove the old one. It owns nothing any more"
            yield from old.remove(overlay, one.namespaces[0])


def unknown_clusters(pairs: Iterable[Pair], clusters: Mapping[str, Hashable]) -> Iterator[str]:
    """Comments about objects that leave an overlay for another one, which may have another cluster."""
    gone, new = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for pair in pairs:
        if pair.before is None or pair.after is None:
            one = pair.object
            (gone if pair.after is None else new)[one.key.scope, one.path.partition(f"/{one.key.scope}/")[2]] += 1
    found = Counter((old, other) for old, path in gone for other, same in new if path == same)
    for (old, other), count in sorted(found.items()):
        unnamed = [name for name in (old, other) if clusters.get(name, ("overlay", name)) == ("overlay", name)]
        if unnamed and not engine_of(old):
            what = counted(count, "object")
            yield f"# {what} of overlay `{old}` would be in overlay `{other}`, which may be another cluster:"
            yield "# the merge ends runs in one and starts them in the other. If both are one cluster, write the same"
            yield "# `cluster: NAME` into both overlays, merge that first, and run this command again"


def _owned(pair: Pair) -> tuple[EngineObject, EngineObject]:
    assert pair.before is not None and pair.after is not None  # noqa: PT018 - `moves`
    first, second = (_as_owned(one) for one in (pair.before, pair.after))
    return first, second


def _as_owned(one: RenderedObject) -> EngineObject:
    path = RenderedPath.parse(one.path)
    return EngineObject(
        group=one.key.group,
        kind=one.key.kind,
        namespace=one.key.namespace,
        name=one.key.name,
        folder=path.namespace,
        job=path.job,
        stored=path.is_storage,
    )


def _handed_over(
    move: Move, old: type[Engine], new: type[Engine], objects: Iterable[tuple[EngineObject, EngineObject]]
) -> Iterator[str]:
    for before, after in objects:
        marks = new.marks(new.owner(move.after[1], after), move.namespaces[1], after)
        removed = old.marks("", "", before) if old is not new else {}
        for field in ("annotate", "label"):
            words = [f"{key}={value}" for key, value in sorted(marks.get(field, {}).items())]
            words += [f"{key}-" for key in sorted(removed.get(field, {}))]
            if words:
                yield f"kubectl {field} --overwrite {after} {' '.join(words)}"
