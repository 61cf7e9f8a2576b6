"""Work in several processes, and in the background.

Items are spread over processes in batches; the result does not depend on the number of processes. The system must be
able to fork.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import accumulate
from multiprocessing import connection
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from msgspec import Struct

from gen.base.findings import UsageError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Result = TypeVar("Result")


def can_fork() -> bool:
    """Whether a process of this system can continue in a copy of itself."""
    return hasattr(os, "fork")


@contextmanager
def in_thread(work: Callable[[], Result]) -> Iterator[Callable[[], Result]]:
    """Begin work that waits for a program, and yield a function that waits for its result, or raises its exception.

    The thread ends with the block. No process may start in it: a copy of a locked lock is never free.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as pool:
        yield pool.submit(work).result


@contextmanager
def in_background(work: Callable[[], Result]) -> Iterator[Callable[[], Result | None]]:
    """Begin work in another process, and yield a function that waits for its result; None if the process was killed.

    The work needs the modules that are imported by now, and no others. The process ends with the block. The system
    must be able to fork.
    """
    import pickle

    with other_process(_send, work) as other:

        def result() -> Result | None:
            with suppress(EOFError, OSError):
                return cast("Result", pickle.loads(other.results.recv_bytes()))  # noqa: S301 - from our own process
            return None

        yield result


def _send(requests: Connection, results: Connection, work: Callable[[], Any]) -> None:
    import pickle

    requests.close()
    results.send_bytes(pickle.dumps(work(), pickle.HIGHEST_PROTOCOL))


Item = TypeVar("Item")
Item_contra = TypeVar("Item_contra", contravariant=True)


class Work(Protocol[Item_contra, Result]):
    """Returns the results of some items, in order. `done` gets the number of results meanwhile."""

    def __call__(self, items: Sequence[Item_contra], done: Callable[[int], None], /) -> list[Result]: ...


class Progress(Protocol):
    """Hears how many of all items are done."""

    def __call__(self, done: int, total: int, /) -> None: ...


class Codec(Protocol[Result]):
    """How results become bytes that another process sends."""

    def encode(self, results: list[Result], /) -> bytes: ...
    def decode(self, encoded: bytes, /) -> list[Result]: ...


WARM_UP_ITEMS = 4
"""Items before other processes start, so that all share the schemas and templates that these items load."""
MAX_BATCH = 64
"""Items with results that are sent at once: they fit a pipe, so that the sender does not wait."""
MIN_BATCH = 4
"""Items of mean weight."""
BATCHES_PER_PROCESS = 4
"""Divides the remaining items: the last batches are small, so that all processes end together."""
QUEUED_BATCHES = 2
"""Batches that each other process has at once."""
OWN_BATCH = 16
"""Items of mean weight that this process works on before it receives the results of others."""


def map_parallel(
    work: Work[Item, Result],
    items: Sequence[Item],
    parallel: int,
    *,
    worth_it: int,
    progress: Progress | None = None,
    codec: Codec[Result] | None = None,
    weights: Sequence[int] = (),
) -> list[Result]:
    """Results of `work` for all items, in order. This process works on items, too.

    `worth_it` is the number of items below which starting a process takes longer than it saves. The `codec` is faster
    than pickle. `weights` are above 0, one for each item unless all take the same time: the heaviest first lets all
    processes end together. UsageError if the system kills a process, which happens when memory is short.
    """
    processes = min(parallel, len(items) // worth_it) if can_fork() else 1
    own = _Counted(work, len(items), progress)
    if processes <= 1:
        return own.results(items)
    done = {0: own.results(items[:WARM_UP_ITEMS])}
    rest = _Rest(WARM_UP_ITEMS, processes, [0, *accumulate(weights)] if weights else range(len(items) + 1))
    with ExitStack() as stack:
        workers = [_Worker.start(stack, work, items, codec or Pickled()) for _ in range(processes - 1)]
        while rest.start < rest.stop or any(one.batches for one in workers):
            for worker in workers:
                while rest.start < rest.stop and len(worker.batches) < QUEUED_BATCHES:
                    worker.give(rest.share())
            if rest.start < rest.stop:
                batch = rest.take_last()
                done[batch.start] = own.results(items[batch.start : batch.stop])
            else:
                _wait_for_results(workers)
            for worker in workers:
                for start, results in worker.received():
                    done[start] = results
                    own.others += len(results)
                    own.report()
    return [result for start in sorted(done) for result in done[start]]


class _Counted(Generic[Item, Result]):
    """Work in this process that reports how many items are done, here and in others."""

    def __init__(self, work: Work[Item, Result], total: int, progress: Progress | None) -> None:
        self.work, self.total, self.progress = work, total, progress
        self.own = self.others = 0

    def results(self, items: Sequence[Item]) -> list[Result]:
        before = self.own

        def done(count: int) -> None:
            self.own = before + count
            self.report()

        return self.work(items, done)

    def report(self) -> None:
        if self.progress is not None:
            self.progress(self.own + self.others, self.total)


class _Rest:
    """The items that no process has yet."""

    def __init__(self, start: int, processes: int, before: Sequence[int]) -> None:
        """`before` has the weight of all items before each, and of all."""
        self.start, self.stop, self._processes, self._before = start, len(before) - 1, processes, before
        self._mean = max(before[-1] // max(self.stop, 1), 1)

    def share(self) -> range:
        """The next batch for another process."""
        left = self._before[self.stop] - self._before[self.start]
        weight = max(left // (BATCHES_PER_PROCESS * self._processes), MIN_BATCH * self._mean)
        fits = bisect_right(self._before, self._before[self.start] + weight) - 1 - self.start
        start, self.start = self.start, min(self.start + min(max(fits, 1), MAX_BATCH), self.stop)
        return range(start, self.start)

    def take_last(self) -> range:
        """Items for this process: items that need the same modules are side by side, so that others need fewer."""
        fits = self.stop - bisect_left(self._before, self._before[self.stop] - OWN_BATCH * self._mean)
        stop, self.stop = self.stop, max(self.stop - min(max(fits, 1), MAX_BATCH), self.start)
        return range(self.stop, stop)


class _Worker(Generic[Item, Result]):
    """Another process, which has all items and works on those of each batch."""

    def __init__(self, other: Other, codec: Codec[Result]) -> None:
        self.other, self._codec = other, codec
        self.batches: list[range] = []
        """Items without a received result, in order."""

    @classmethod
    def start(
        cls, stack: ExitStack, work: Work[Item, Result], items: Sequence[Item], codec: Codec[Result]
    ) -> _Worker[Item, Result]:

        return cls(stack.enter_context(other_process(_serve, work, items, codec)), codec)

    def give(self, batch: range) -> None:
        self.batches.append(batch)
        with suppress(BrokenPipeError):  # `received` reports it
            self.other.requests.send((batch.start, batch.stop))

    def received(self) -> Iterator[tuple[int, list[Result]]]:
        """Results that arrived, each with the number of its first item.

        Raises the error of a batch; UsageError if the process was killed.
        """
        while self.batches and self.other.results.poll():
            try:
                encoded = self.other.results.recv_bytes()
                error = None if encoded else self.other.results.recv()
            except (EOFError, OSError):
                raise UsageError(
                    "a process was killed, probably because memory is short; nothing was written; "
                    "try again with `--parallel 1`"
                ) from None
            if error is not None:
                raise error
            yield self.batches.pop(0).start, self._codec.decode(encoded)


def _wait_for_results(workers: Sequence[_Worker[Any, Any]]) -> None:

    wait(worker.other for worker in workers if worker.batches)


def _serve(
    requests: Connection, results: Connection, work: Work[Any, Any], items: Sequence[object], codec: Codec[Any]
) -> None:
    """Work on batches until there are no more. An error follows an empty message."""
    while True:
        start, stop = requests.recv()
        try:
            encoded = codec.encode(_Counted(work, stop - start, None).results(items[start:stop]))
        except BaseException as error:  # noqa: BLE001 - for the other process, also what is no Exception
            results.send_bytes(b"")
            results.send_bytes(_sendable(error))
        else:
            results.send_bytes(encoded)


def _sendable(error: BaseException) -> bytes:
    """An error as bytes: itself with its traceback as a note; otherwise one with its text that can be read again."""
    import pickle
    import traceback

    where = traceback.format_exc()
    error.add_note(f"In another process:\n{where}")
    try:
        encoded = pickle.dumps(error)
        pickle.loads(encoded)  # noqa: S301 - our own; its constructor can need more than its arguments
    except Exception:  # noqa: BLE001 - it can have any values
        return pickle.dumps(UsageError(str(error)) if isinstance(error, UsageError) else RuntimeError(where))
    return encoded


class Pickled:
    """Any results."""

    def encode(self, results: list[object]) -> bytes:
        import pickle

        return pickle.dumps(results, pickle.HIGHEST_PROTOCOL)

    def decode(self, encoded: bytes) -> list[object]:
        import pickle

        found: list[object] = pickle.loads(encoded)  # noqa: S301 - from our own process
        return found


_PIPE_BYTES = 1 << 20
"""Of results that wait until they are received. Linux allows no more to ordinary users."""


class Other(Struct, frozen=True, eq=False):
    """Another process, with a pipe in each direction."""

    process: BaseProcess
    requests: Connection
    results: Connection

    def end(self) -> None:
        """End the process in any state, without waiting for it."""
        self.process.terminate()
        self.requests.close()
        self.results.close()


@contextmanager
def other_process(serve: Callable[..., None], *given: object) -> Iterator[Other]:
    """Call `serve(requests, results, *given)` in a copy of this process, which ends with the block."""
    context = multiprocessing.get_context("fork")
    taken, requests = context.Pipe(duplex=False)
    results, sent = context.Pipe(duplex=False)
    _enlarge(results)
    other = Other(context.Process(target=_run, args=(serve, taken, sent, *given), daemon=True), requests, results)
    try:
        with _interrupts_wait(), taken, sent:
            other.process.start()
        yield other
    finally:
        if other.process.pid is not None:
            other.end()


def wait(others: Iterable[Other]) -> None:
    """Wait until a process sends something, or ends."""
    connection.wait([other.results for other in others])


def _enlarge(pipe: Connection) -> None:
    """Let a pipe hold more, where the system can."""
    with suppress(AttributeError, OSError):
        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _run(serve: Callable[..., None], requests: Connection, results: Connection, *given: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent, which ends its children
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # with this signal, at once
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # see `_interrupts_wait`
    Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, BrokenPipeError):  # the parent needs no more
        serve(requests, results, *given)


def _end_with_parent() -> None:
    """End this process when its parent was killed: it would wait for work forever."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Delay interrupts, here and in the process that starts meanwhile: an interrupted start prints a traceback."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
