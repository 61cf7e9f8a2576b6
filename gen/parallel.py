"""Spreading jobs over processes. The result does not depend on how many there are."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gen.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from gen.outcome import Reading
    from gen.overlay import Overlay
    from gen.workspace import JobFile

    Work = Callable[[Path, JobFile, Sequence[Overlay]], Reading]

_WORTH_IT = 48
"""Jobs for each process below which starting one takes longer than it saves."""
_WARM = 4
"""Jobs that are done before others are started, so that what is read and compiled for them is there in all."""
_BATCH = 256
"""Jobs whose results are handed over at once: few hand-overs, and no large piece of memory twice."""

_task: tuple[Work, Path, Sequence[Overlay]] | None = None
"""What a process is to do, set once when it starts, so that overlays are not sent with every job."""


def spread(
    work: Work, root: Path, jobs: Sequence[JobFile], overlays: Sequence[Overlay], parallel: int
) -> list[Reading]:
    """`work` for every job, in the order of `jobs`. This process does its share, too.

    UsageError when the system ends one of the others, which it does where memory is short.
    """
    processes = min(parallel, len(jobs) // _WORTH_IT)
    if processes <= 1:
        return [work(root, job, overlays) for job in jobs]
    readings: dict[JobFile, Reading] = {job: work(root, job, overlays) for job in jobs[:_WARM]}
    rest = jobs[_WARM:]
    batches = [
        share[start : start + _BATCH]
        for share in (rest[number::processes] for number in range(1, processes))
        for start in range(0, len(share), _BATCH)
    ]
    with _pool(processes - 1, (work, root, overlays)) as pool:
        others = [pool.submit(_batch, batch) for batch in batches]
        readings.update((job, work(root, job, overlays)) for job in rest[::processes])
        while others:
            readings.update((reading.job, reading) for reading in others.pop(0).result())
    return [readings[job] for job in jobs]


@contextmanager
def _pool(processes: int, task: tuple[Work, Path, Sequence[Overlay]]) -> Iterator[Executor]:
    """Processes that are given up, and not waited for, when something goes wrong."""
    import multiprocessing  # noqa: PLC0415 - takes a while, and one process needs none of it
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # noqa: PLC0415

    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    pool = ProcessPoolExecutor(processes, context, _start, task)
    try:
        yield pool
    except BrokenProcessPool:
        raise UsageError(
            "a process was killed, probably because memory is short; nothing was written; try again with `--parallel 1`"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _start(work: Work, root: Path, overlays: Sequence[Overlay]) -> None:
    global _task  # noqa: PLW0603 - the one piece of state of a worker process
    _task = work, root, overlays
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent, which ends its children


def _batch(jobs: Sequence[JobFile]) -> list[Reading]:
    assert _task is not None  # noqa: S101 - set by `_start`
    work, root, overlays = _task
    return [work(root, job, overlays) for job in jobs]
