"""Which object after is which object before.

An object is known by what it is and never by its path, so that a moved file is neither an end nor a beginning. An
object of a run changes its name with the run's hash: it follows the one that had the same name but for that.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gen.diagnostics import Location
from gen.resources import resource_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator

    from gen.diagnostics import Findings
    from gen.resources.base import Resource
    from gen.review.rendered_object import Item, Key
    from gen.review.rendered_trees import Trees


@dataclass(frozen=True, slots=True)
class Pair:
    """One object before and after; one of the two may be missing."""

    before: Item | None
    after: Item | None

    @property
    def item(self) -> Item:
        """What there is of it, rather after than before."""
        item = self.after or self.before
        assert item is not None  # noqa: S101 - no pair is made of nothing
        return item

    @property
    def replaced(self) -> bool:
        """Whether the object after follows another one, under another name."""
        return self.before is not None and self.after is not None and self.before.key != self.after.key

    @property
    def changed(self) -> bool:
        if self.before is None or self.after is None:
            return True
        return self.before is not self.after and self.before.body != self.after.body

    @property
    def moved(self) -> bool:
        """Whether the same object lies in another file."""
        before, after = self.before, self.after
        return before is not None and after is not None and not self.replaced and before.path != after.path

    @property
    def workload(self) -> Resource | None:
        """Facts of the kind if the object is a run, otherwise None."""
        return workload(self.item)


def workload(item: Item) -> Resource | None:
    """Facts of the kind if the object is a run, otherwise None."""
    resource = resource_of(item.key.group, item.key.kind)
    return resource if resource is not None and resource.is_run else None


def pair_up(trees: Trees, found: Findings) -> list[Pair]:
    """All objects of both trees, in order of what they are."""
    before = _by_key(trees.before)
    after = _by_key(trees.after, {item.path for item in trees.before}, found)
    pairs = [Pair(before.get(key), item) for key, item in after.items() if key in before]
    old = [item for key, item in before.items() if key not in after]
    new = [item for key, item in after.items() if key not in before]
    for alike in (_same_but_for_the_hash, _same_job):
        matched = list(_match(old, new, alike))
        taken = {item for pair in matched for item in (pair.before, pair.after)}
        old, new = [item for item in old if item not in taken], [item for item in new if item not in taken]
        pairs += matched
    pairs += [Pair(item, None) for item in old] + [Pair(None, item) for item in new]
    return sorted(pairs, key=lambda pair: pair.item.key)


def _by_key(items: Iterable[Item], old: Collection[str] = (), found: Findings | None = None) -> dict[Key, Item]:
    """Where two files hold one object, the one whose path is `old` counts, else the first."""
    known: dict[Key, Item] = {}
    for item in sorted(items, key=lambda item: (item.path not in old, item.path)):
        other = known.setdefault(item.key, item)
        if other is not item and found is not None:
            there = Location(other.path), "the other one"
            hint = "remove one of the files; the engine would apply now one, now the other"
            found.error(
                "duplicate-object", Location(item.path), f"{item.key.object} is in two files", hint, related=[there]
            )
    return known


def _match(old: list[Item], new: list[Item], alike: Callable[[Item], Hashable | None]) -> Iterator[Pair]:
    """Pairs of what is alike, each at most once."""
    waiting: dict[Hashable, deque[Item]] = defaultdict(deque)
    for item in old:
        if (word := alike(item)) is not None:
            waiting[word].append(item)
    for item in new:
        if (word := alike(item)) is not None and waiting[word]:
            yield Pair(waiting[word].popleft(), item)


def _same_but_for_the_hash(item: Item) -> Hashable | None:
    return (replace(item.key, name=item.key.name.replace(item.run, "")), item.job) if item.run else None


def _same_job(item: Item) -> Hashable | None:
    """A job that became another kind."""
    return (item.key.scope, item.key.namespace, item.job) if workload(item) is not None else None
