"""Spreading work over processes, item by item. The result does not depend on how many there are."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from gen.diagnostics import UsageError
from gen.parallel.background import can_fork
from gen.parallel.steps import finished, together

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

    from gen.parallel.process import Other
    from gen.parallel.steps import Steps

Item = TypeVar("Item")
Result = TypeVar("Result")


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
"""Items whose results are sent at once: they fit a pipe, so that the sender does not wait."""
MIN_BATCH = 4
BATCHES_PER_PROCESS = 4
"""Divides the remaining items: the last batches are small, so that all processes end together."""
QUEUED_BATCHES = 2
"""Batches that each other process has at once."""
OWN_BATCH = 16
"""Items that this process works on before it receives the results of others."""


def map_parallel(
    work: Callable[[Item], Steps[Result]],
    items: Sequence[Item],
    parallel: int,
    *,
    worth_it: int,
    progress: Progress | None = None,
    codec: Codec[Result] | None = None,
) -> list[Result]:
    """Results of `work` for all items, in order. This process works on items, too. Several items advance together.

    `worth_it` is the number of items below which starting a process takes longer than it saves. The `codec` is faster
    than pickle. UsageError if the system kills a process, which happens when memory is short.
    """
    processes = min(parallel, len(items) // worth_it) if can_fork() else 1
    own = _Counted(work, len(items), progress)
    if processes <= 1:
        return own.results(items)
    done = {0: own.results(items[:WARM_UP_ITEMS])}
    rest = _Rest(WARM_UP_ITEMS, len(items), processes)
    with ExitStack() as stack:
        workers = [_Worker.start(stack, work, items, codec or Pickled()) for _ in range(processes - 1)]
        while rest.start < rest.stop or any(one.batches for one in workers):
            for worker in workers:
                while rest.start < rest.stop and len(worker.batches) < QUEUED_BATCHES:
                    worker.give(rest.share())
            if rest.start < rest.stop:
                batch = rest.take(OWN_BATCH)
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

    def __init__(self, work: Callable[[Item], Steps[Result]], total: int, progress: Progress | None) -> None:
        self.work, self.total, self.progress = work, total, progress
        self.own = self.others = 0

    def results(self, items: Sequence[Item]) -> list[Result]:
        return finished(together(map(self._counted, items)))

    def _counted(self, item: Item) -> Steps[Result]:
        result = yield from self.work(item)
        self.own += 1
        self.report()
        return result

    def report(self) -> None:
        if self.progress is not None:
            self.progress(self.own + self.others, self.total)


class _Rest:
    """The items that no process has yet."""

    def __init__(self, start: int, stop: int, processes: int) -> None:
        self.start, self.stop, self._processes = start, stop, processes

    def share(self) -> range:
        """The next batch for another process."""
        return self.take(min((self.stop - self.start) // (BATCHES_PER_PROCESS * self._processes), MAX_BATCH))

    def take(self, size: int) -> range:
        start, self.start = self.start, min(self.start + max(size, MIN_BATCH), self.stop)
        return range(start, self.start)


class _Worker(Generic[Item, Result]):
    """Another process, which has all items and works on those of each batch."""

    def __init__(self, other: Other, codec: Codec[Result]) -> None:
        self.other, self._codec = other, codec
        self.batches: list[range] = []
        """Those whose results are not received yet, in order."""

    @classmethod
    def start(
        cls, stack: ExitStack, work: Callable[[Item], Steps[Result]], items: Sequence[Item], codec: Codec[Result]
    ) -> _Worker[Item, Result]:
        from gen.parallel.process import other_process  # noqa: PLC0415 - takes a while, and one process needs none

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
    from gen.parallel.process import wait  # noqa: PLC0415 - as in `_Worker.start`

    wait(worker.other for worker in workers if worker.batches)


def _serve(
    requests: Connection, results: Connection, work: Callable[[Any], Any], items: Sequence[Any], codec: Codec[Any]
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
    import pickle  # noqa: PLC0415 - only for this
    import traceback  # noqa: PLC0415 - as above

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

    def encode(self, results: list[Any]) -> bytes:
        import pickle  # noqa: PLC0415 - as in `_Worker.start`

        return pickle.dumps(results, pickle.HIGHEST_PROTOCOL)

    def decode(self, encoded: bytes) -> list[Any]:
        import pickle  # noqa: PLC0415 - as above

        found: list[Any] = pickle.loads(encoded)  # noqa: S301 - from our own process
        return found
