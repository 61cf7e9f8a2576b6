"""Results of several processes: their order, and errors in one of them."""

from __future__ import annotations

import os
from threading import Lock
from typing import TYPE_CHECKING

import pytest

from gen.cel.errors import NotEvaluatedError
from gen.diagnostics import Location, UsageError
from gen.parallel import Steps, finished, map_parallel
from gen.render.results import JobResult, JobResults
from gen.repository.layout import JobFile

if TYPE_CHECKING:
    from collections.abc import Callable

ITEMS = range(1000)


def in_another_process(parent: int, error: Callable[[], BaseException]) -> Callable[[int], Steps[int]]:
    def work(_: int) -> Steps[int]:
        yield
        if os.getpid() != parent:
            raise error()
        return parent

    return work


@pytest.mark.parametrize("parallel", [1, 2, 4])
def test_results_are_in_order(parallel: int) -> None:
    heard: list[tuple[int, int]] = []

    def work(item: int) -> Steps[tuple[int, int]]:
        yield
        return item, os.getpid()

    found = map_parallel(work, ITEMS, parallel, worth_it=10, progress=lambda *counts: heard.append(counts))
    assert [item for item, _ in found] == [*ITEMS]
    assert len({process for _, process in found}) == parallel
    assert heard[-1] == (1000, 1000)
    assert heard[:4] == [(number, 1000) for number in range(1, 5)]
    assert sorted(heard) == heard


def test_an_error_in_another_process_says_where() -> None:
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
    def work(number: int) -> Steps[JobResult]:
        yield
        return JobResult(
            job=JobFile("team", f"job-{number}"),
            digest="",
            name="",
            kind="batch",
            overlays=(),
            findings=(),
            clusters=(("dev", Location("jobs/team/a.yaml", number)),),
        )

    found = map_parallel(work, ITEMS, 2, worth_it=10, codec=JobResults())
    assert found == [finished(work(number)) for number in ITEMS]
