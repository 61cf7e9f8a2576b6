"""Spreading work over processes, item by item. The result does not depend on how many there are."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from gen.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

Item = TypeVar("Item")
Result = TypeVar("Result")

_WARM = 4
"""Items that are done before others are started, so that what is read and compiled for them is there in all."""
_BATCH = 256
"""Items whose results are handed over at once: few hand-overs, and no large piece of memory twice."""

_task: Callable[[Any], Any] | None = None
"""What a process is to do, set once when it starts, so that it is not sent with every item."""


def spread(work: Callable[[Item], Result], items: Sequence[Item], parallel: int, *, worth_it: int) -> list[Result]:
    """`work` for every item, in their order. This process does its share, too.

    `worth_it` is the number of items below which starting a process takes longer than it saves. UsageError when the
    system ends one of the others, which it does where memory is short.
    """
    processes = min(parallel, len(items) // worth_it)
    if processes <= 1:
        return [work(item) for item in items]
    results: dict[int, Result] = {number: work(item) for number, item in enumerate(items[:_WARM])}
    shares = [range(_WARM + number, len(items), processes) for number in range(processes)]
    batches = [share[start : start + _BATCH] for share in shares[1:] for start in range(0, len(share), _BATCH)]
    with _pool(processes - 1, work) as pool:
        others = [(batch, pool.submit(_batch, [items[number] for number in batch])) for batch in batches]
        results.update((number, work(items[number])) for number in shares[0])
        while others:
            batch, done = others.pop(0)
            results.update(zip(batch, done.result(), strict=True))
    return [results[number] for number in range(len(items))]


@contextmanager
def _pool(processes: int, work: Callable[[Any], Any]) -> Iterator[Executor]:
    """Processes that are given up, and not waited for, when something goes wrong."""
    import multiprocessing  # noqa: PLC0415 - takes a while, and one process needs none of it
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # noqa: PLC0415

    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    pool = ProcessPoolExecutor(processes, context, _start, (work,))
    try:
        yield pool
    except BrokenProcessPool:
        raise UsageError(
            "a process was killed, probably because memory is short; nothing was written; try again with `--parallel 1`"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _start(work: Callable[[Any], Any]) -> None:
    global _task  # noqa: PLW0603 - the one piece of state of a worker process
    _task = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent, which ends its children


def _batch(items: Sequence[Any]) -> list[Any]:
    assert _task is not None  # noqa: S101 - set by `_start`
    return [_task(item) for item in items]
