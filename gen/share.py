"""Sharing work among processes, item by item. The result does not depend on how many there are."""

from __future__ import annotations

import multiprocessing
import signal
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")

_WORTH_IT = 200
"""Items for each process below which starting one takes longer than it saves."""
_WARM = 8
"""Items that are done before others are started, so that what is read and compiled for them is there in all."""
_BATCH = 64

_task: Callable[[Any], Any] | None = None
"""What a process is to do, set once when it starts."""


def share(work: Callable[[Item], Result], items: Sequence[Item], parallel: int) -> list[Result]:
    """`work` for every item, in their order. This process does its share, too."""
    processes = min(parallel, len(items) // _WORTH_IT)
    if processes <= 1:
        return [work(item) for item in items]
    warm = [work(item) for item in items[:_WARM]]
    rest = items[_WARM:]
    shares = [rest[number::processes] for number in range(processes)]
    batches = [one[start : start + _BATCH] for one in shares[1:] for start in range(0, len(one), _BATCH)]
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    with context.Pool(processes - 1, _start, (work,)) as pool:
        others = pool.imap(_batch, batches)
        own = [work(item) for item in shares[0]]
        done = [result for batch in others for result in batch]
    results: list[Result | None] = [None] * len(rest)
    results[::processes] = own
    taken = 0
    for number in range(1, processes):
        count = len(shares[number])
        results[number::processes] = done[taken : taken + count]
        taken += count
    return [*warm, *(result for result in results if result is not None)]


def _start(work: Callable[[Any], Any]) -> None:
    global _task  # noqa: PLW0603 - the one piece of state of a worker process
    _task = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent, which ends its children


def _batch(items: Sequence[Any]) -> list[Any]:
    assert _task is not None  # noqa: S101 - set by `_start`
    return [_task(item) for item in items]
