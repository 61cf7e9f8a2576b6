"""Results of several processes: order and errors."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import Location, UsageError
from gen.base.parallel import Work, map_parallel
from gen.base.repository.layout import JobFile
from gen.kubernetes.cel.values import NotEvaluatedError
from gen.render.results import JobResult, JobResults

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


ITEMS = range(1000)


def in_another_process(parent: int, error: Callable[[], BaseException]) -> Work[int, int]:
    def work(items: Sequence[int], _done: Callable[[int], None], /) -> list[int]:
        if os.getpid() != parent:
            raise error()
        return [parent for _ in items]

    return work


@pytest.mark.parametrize("parallel", [1, 2, 4])
def test_results_are_in_order(parallel: int) -> None:
    heard: list[tuple[int, int]] = []

    def work(items: Sequence[int], done: Callable[[int], None], /) -> list[tuple[int, int]]:
        results = []
        for item in items:
            results.append((item, os.getpid()))
            done(len(results))
        return results

    found = map_parallel(work, ITEMS, parallel, worth_it=10, progress=lambda *counts: heard.append(counts))
    assert [item for item, _ in found] == [*ITEMS]
    assert len({process for _, process in found}) == parallel
    assert heard[-1] == (1000, 1000)
    assert heard[:4] == [(number, 1000) for number in range(1, 5)]
    assert sorted(heard) == heard


def test_heavy_items_are_shared_by_their_weights() -> None:
    """One item of half the weight is a batch of its own, and many light ones are one batch."""

    def work(items: Sequence[int], _done: Callable[[int], None], /) -> list[tuple[int, int]]:
        return [(item, len(items)) for item in items]

    weights = [1] * 1000
    weights[4] = weights[999] = 500
    found = map_parallel(work, ITEMS, 2, worth_it=10, weights=weights)
    assert [item for item, _ in found] == [*ITEMS]
    assert [found[4], found[999]] == [(4, 1), (999, 1)]
    assert found[5][1] == 64


def test_an_error_in_another_process_has_its_place() -> None:
    with pytest.raises(UsageError, match="no space") as raised:
        map_parallel(in_another_process(os.getpid(), lambda: UsageError("no space")), ITEMS, 2, worth_it=10)
    assert "in work\n" in raised.value.__notes__[0]


def test_an_error_that_cannot_be_sent_is_shown() -> None:
    def error() -> Exception:
        unsendable = ValueError("with a lock")
        vars(unsendable)["lock"] = Lock()
        return unsendable

    with pytest.raises(RuntimeError, match="ValueError: with a lock"):
        map_parallel(in_another_process(os.getpid(), error), ITEMS, 2, worth_it=10)


class OfTwoError(UsageError):
    """Its constructor needs other arguments than it keeps, so that pickle cannot make it again."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")


def test_an_error_that_cannot_be_received_keeps_its_text() -> None:
    with pytest.raises(UsageError, match=r"^a: unreadable$"):
        map_parallel(in_another_process(os.getpid(), lambda: OfTwoError("a", "unreadable")), ITEMS, 2, worth_it=10)


def test_an_error_that_is_no_exception_does_not_count_as_a_killed_process() -> None:
    with pytest.raises(NotEvaluatedError, match="too deep"):
        map_parallel(in_another_process(os.getpid(), lambda: NotEvaluatedError("too deep")), ITEMS, 2, worth_it=10)


def test_results_of_jobs_keep_their_values() -> None:
    def work(numbers: Sequence[int], _done: Callable[[int], None], /) -> list[JobResult]:
        return [
            JobResult(
                job=JobFile("team", f"job-{number}"),
                digest="",
                name="",
                kind="batch",
                overlays=(),
                findings=(),
                clusters=(("dev", Location("jobs/team/a.yaml", number)),),
            )
            for number in numbers
        ]

    assert map_parallel(work, ITEMS, 2, worth_it=10, codec=JobResults()) == work(ITEMS, print)
