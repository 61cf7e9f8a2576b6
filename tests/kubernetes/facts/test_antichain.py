"""The widest moment of steps, compared with all sets of steps."""

from __future__ import annotations

from itertools import combinations
from random import Random

from gen.kubernetes.facts.graphs import ancestors, longest, widest
from tests.cases import for_each


def of_all_sets(needs: dict[str, frozenset[str]], weights: dict[str, int]) -> int:
    above = ancestors(needs)
    sets = [chosen for size in range(len(needs) + 1) for chosen in combinations(needs, size)]
    alone = [one for one in sets if not any(other in above[step] for step in one for other in one)]
    return max(sum(weights[step] for step in one) for one in alone)


def graph(random: Random, size: int) -> dict[str, frozenset[str]]:
    names = [f"s{index}" for index in range(size)]
    return {
        name: frozenset(random.sample(names[:index], random.randint(0, min(index, 3))))
        for index, name in enumerate(names)
    }


@for_each("seed", range(60))
def test_it_is_the_heaviest_set_of_steps_that_do_not_wait_for_each_other(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - cases, and no secrets
    needs = graph(random, random.randint(1, 9))
    weights = {name: random.choice([0, 1, 2, 8]) for name in needs}
    assert widest(needs, weights) == of_all_sets(needs, weights)


def test_a_chain_and_steps_at_once() -> None:
    chain = {"a": frozenset[str](), "b": frozenset({"a"}), "c": frozenset({"b"})}
    assert widest(chain, {"a": 1, "b": 8, "c": 2}) == 8
    apart = dict.fromkeys("abc", frozenset[str]())
    assert widest(apart, {"a": 1, "b": 8, "c": 2}) == 11
    assert widest({}, {}) == 0


def test_steps_that_wait_for_each_other_or_for_nothing_known_end() -> None:
    circle = {"a": frozenset({"b"}), "b": frozenset({"a", "x"}), "c": frozenset({"c"})}
    assert widest(circle, {"a": 1, "b": 2, "c": 4}) > 0
    assert longest(circle, {"a": 1, "b": 2, "c": 4}) is None


def test_the_longest_path_needs_a_limit_of_every_step() -> None:
    needs = {"a": frozenset[str](), "b": frozenset({"a"}), "c": frozenset({"a"})}
    assert longest(needs, {"a": 1, "b": 10, "c": 5}) == 11
    assert longest(needs, {"a": 1, "b": None, "c": 5}) is None
    assert longest(needs, {"b": 10}) == 10, "a step without a time takes none"
    assert longest({}, {}) == 0


def test_many_steps_take_little_time() -> None:
    random = Random(7)  # noqa: S311 - a case
    needs = graph(random, 64)
    assert widest(needs, {name: random.randint(1, 10**6) for name in needs}) >= 10**6 // 64
