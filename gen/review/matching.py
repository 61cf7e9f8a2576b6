"""Match objects in the work tree with objects at the base commit.

Objects are matched by identity instead of path, so that moving a file neither adds nor removes an object. The name of
an object that belongs to a run contains the run's hash; it is matched with the object that has the same name except
for the hash.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gen.base import Findings, Location
from gen.base.codes.jobs import DUPLICATE_OBJECT
from gen.base.repository.layout import engine_of
from gen.kubernetes.facts.base import Resource
from gen.render.rendered_object import ObjectKey, RenderedObject, workload
from gen.review.rendered_trees import RenderedTrees


@dataclass(frozen=True, slots=True)
class Pair:
    """An object before and after the merge. One of the two may be missing."""

    before: RenderedObject | None
    after: RenderedObject | None

    @property
    def object(self) -> RenderedObject:
        """The object after the merge, or before it if the merge removes the object."""
        found = self.after or self.before
        assert found is not None  # a pair has at least one object
        return found

    @property
    def replaced(self) -> bool:
        """Whether it replaces an object with another identity."""
        before, after = self.before, self.after
        if before is None or after is None or before is after:
            return False
        return _in_cluster(before) != _in_cluster(after)

    @property
    def changed(self) -> bool:
        if self.before is None or self.after is None:
            return True
        return self.before is not self.after and self.before.body != self.after.body

    @property
    def moved(self) -> bool:
        """Whether the same object is in another file."""
        before, after = self.before, self.after
        return before is not None and after is not None and not self.replaced and before.path != after.path

    @property
    def workload(self) -> Resource | None:
        """Facts of the kind if the object is a run or a schedule, otherwise None."""
        return workload(self.object)


def _in_cluster(one: RenderedObject) -> ObjectKey:
    """The identity of an object in its cluster: overlays with the same cluster can hand it over."""
    return replace(one.key, scope=engine_of(one.key.scope) and one.key.scope)


def match_objects(trees: RenderedTrees, found: Findings, clusters: Mapping[str, Hashable]) -> list[Pair]:
    """The objects of both trees, ordered by identity. Reports objects that two files define.

    `clusters` has a key for the cluster of each overlay.
    """

    def elsewhere(one: RenderedObject) -> Hashable | None:
        return (clusters[one.key.scope], _in_cluster(one)) if one.key.scope in clusters else None

    before = _by_key(trees.before)
    after = _by_key(trees.after, {one.path for one in trees.before}, found)
    pairs = [Pair(before.get(key), one) for key, one in after.items() if key in before]
    old = [one for key, one in before.items() if key not in after]
    new = [one for key, one in after.items() if key not in before]
    for criterion in (elsewhere, _name_without_hash, _job):
        matched = list(_match(old, new, criterion))
        taken = {one for pair in matched for one in (pair.before, pair.after)}
        old, new = [one for one in old if one not in taken], [one for one in new if one not in taken]
        pairs += matched
    pairs += [Pair(one, None) for one in old] + [Pair(None, one) for one in new]
    return sorted(pairs, key=lambda pair: pair.object.key)


def _by_key(
    objects: Iterable[RenderedObject], old: Collection[str] = (), found: Findings | None = None
) -> dict[ObjectKey, RenderedObject]:
    """If two files define an object, the file with an `old` path wins, otherwise the first one."""
    known: dict[ObjectKey, RenderedObject] = {}
    for one in sorted(objects, key=lambda one: (one.path not in old, one.path)):
        other = known.setdefault(one.key, one)
        if other is not one and found is not None:
            message = f"`{one.key}` is defined in two files; each sync would replace one with the other"
            related = [(Location(other.path), "the other file")]
            found.error(DUPLICATE_OBJECT, Location(one.path), message, "remove one of the files", related)
    return known


def _match(
    old: list[RenderedObject], new: list[RenderedObject], criterion: Callable[[RenderedObject], Hashable | None]
) -> Iterator[Pair]:
    """Pairs of objects with equal criteria. Each object is in at most one pair."""
    waiting: dict[Hashable, deque[RenderedObject]] = defaultdict(deque)
    for one in old:
        if (value := criterion(one)) is not None:
            waiting[value].append(one)
    for one in new:
        if (value := criterion(one)) is not None and waiting[value]:
            yield Pair(waiting[value].popleft(), one)


def _name_without_hash(one: RenderedObject) -> Hashable | None:
    return (replace(one.key, name=one.key.name.replace(one.run, "")), one.job) if one.run else None


def _job(one: RenderedObject) -> Hashable | None:
    """Matches the runs of a job after a change of its kind; runs of a sweep by their values."""
    return (one.key.scope, one.key.namespace, one.job, one.values) if workload(one) is not None else None
