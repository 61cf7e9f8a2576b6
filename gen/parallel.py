"""Spreading work over processes, item by item. The result does not depend on how many there are."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from gen.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor, Future
    from multiprocessing.connection import Connection

Item = TypeVar("Item")
Result = TypeVar("Result")


class Progress(Protocol):
    """Hears how many of all items are done."""

    def __call__(self, done: int, total: int, /) -> None: ...


WARM_UP_ITEMS = 4
"""Items before other processes start, so that all share the schemas and templates that these items load."""
MAX_BATCH = 256
"""Items whose results are transferred at once: few transfers, and no large piece of memory twice."""
MIN_BATCH = 4
BATCHES_PER_PROCESS = 4
"""Divides the remaining items: the last batches are small, so that all processes end together."""

QUEUED_BATCHES = 2
"""Batches that wait for each other process."""

_TURN = 0.0002
"""Seconds. Python's five milliseconds, for each 64 KiB of results, leave other processes idle a third of the time."""

_task: Callable[[Any], Any] | None = None
"""The task of a process, set once when it starts, so that it is not sent with every item."""


def map_parallel(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    parallel: int,
    *,
    worth_it: int,
    progress: Progress | None = None,
) -> list[Result]:
    """Results of `work` for all items, in order. This process works on batches, too.

    `worth_it` is the number of items below which starting a process takes longer than it saves. UsageError if the
    system kills a process, which happens when memory is short.
    """
    processes = min(parallel, len(items) // worth_it)
    own = _Counted(work, len(items), progress)
    if processes <= 1:
        return own.results(items)
    results = own.results(items[:WARM_UP_ITEMS])
    batches = deque(enumerate(_batches(items[WARM_UP_ITEMS:], processes)))
    done: dict[int, list[Result]] = {}
    handed: dict[int, Future[list[Result]]] = {}
    with _short_turns(), _pool(processes - 1, work) as pool:
        while batches:
            busy = sum(not future.done() for future in handed.values())
            for _ in range(min(QUEUED_BATCHES * (processes - 1) - busy, len(batches))):
                number, batch = batches.popleft()
                with _interrupts_wait():
                    handed[number] = pool.submit(_batch, batch)
            if batches:
                number, batch = batches.popleft()
                own.others = sum(len(future.result()) for future in handed.values() if future.done())
                done[number] = own.results(batch)
        for number, future in handed.items():
            done[number] = future.result()
            own.others = sum(len(one.result()) for one in handed.values() if one.done())
            own.report()
    return results + [result for number in sorted(done) for result in done[number]]


@contextmanager
def in_background(work: Callable[[], Result]) -> Iterator[Callable[[], Result | None]]:
    """Begin work in another process, and yield a function that waits for its result; None if the process was killed.

    The work needs the modules that are imported by now, and no others. The process ends with the block. The system
    must be able to fork.
    """
    import multiprocessing  # noqa: PLC0415 - as in `_pool`
    import pickle  # noqa: PLC0415 - as above

    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(work, sender), daemon=True)

    def result() -> Result | None:
        with suppress(EOFError, OSError):
            return cast("Result", pickle.loads(receiver.recv_bytes()))  # noqa: S301 - from our own process
        return None

    with receiver:
        try:
            with _interrupts_wait(), sender:
                process.start()
            yield result
        finally:
            if process.pid is not None:
                process.terminate()


def _send(work: Callable[[], Any], sender: Connection) -> None:
    import pickle  # noqa: PLC0415 - as in `in_background`

    _ignore_interrupts()
    with suppress(BrokenPipeError):  # after an error, nobody waits
        sender.send_bytes(pickle.dumps(work(), pickle.HIGHEST_PROTOCOL))


def can_fork() -> bool:
    """Whether a process of this system can continue in a copy of itself."""
    return hasattr(os, "fork")


class _Counted(Generic[Item, Result]):
    """Work in this process that reports how many items are done, here and in others."""

    def __init__(self, work: Callable[[Item], Result], total: int, progress: Progress | None) -> None:
        self.work, self.total, self.progress = work, total, progress
        self.own = self.others = 0

    def results(self, items: Sequence[Item]) -> list[Result]:
        if self.progress is None:
            return [self.work(item) for item in items]
        found = []
        for item in items:
            found.append(self.work(item))
            self.own += 1
            self.report()
        return found

    def report(self) -> None:
        if self.progress is not None:
            self.progress(self.own + self.others, self.total)


def _batches(items: Sequence[Item], processes: int) -> Iterator[Sequence[Item]]:
    """Large batches first, then smaller ones."""
    start = 0
    while start < len(items):
        size = (len(items) - start) // (BATCHES_PER_PROCESS * processes)
        size = max(MIN_BATCH, min(size, MAX_BATCH))
        yield items[start : start + size]
        start += size


@contextmanager
def _pool(processes: int, work: Callable[[Any], Any]) -> Iterator[Executor]:
    """Processes that are terminated on an error, without waiting for them."""
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
    except BaseException:
        for child in multiprocessing.active_children():
            child.terminate()
        pool.shutdown(wait=False, cancel_futures=True)  # one of them may have sent half of a result
        raise
    pool.shutdown()


@contextmanager
def _short_turns() -> Iterator[None]:
    """Let the thread that receives results interrupt this one at once: a process waits until its result is received."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Delay interrupts, here and in the processes that start meanwhile: an interrupted start prints a traceback."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(work: Callable[[Any], Any]) -> None:
    global _task  # noqa: PLW0603 - the one piece of state of a worker process
    _task = work
    _ignore_interrupts()
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent was killed: it would wait for work forever."""
    import multiprocessing  # noqa: PLC0415 - as in `_pool`

    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent, which ends its children
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # see `_interrupts_wait`


def _batch(items: Sequence[Any]) -> list[Any]:
    assert _task is not None  # noqa: S101 - set by `_start`
    return [_task(item) for item in items]
