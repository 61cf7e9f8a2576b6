"""Spreading jobs over processes. The result does not depend on how many there are."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from gen.outcome import Reading
    from gen.overlay import Overlay
    from gen.workspace import JobFile

    Work = Callable[[Path, JobFile, Sequence[Overlay]], Reading]

_WORTH_IT = 64
"""Jobs for each process below which starting one takes longer than it saves."""

_WARM = 8

_task: tuple[Work, Path, Sequence[Overlay]] | None = None
"""What a worker process is to do, set once when it starts, so that overlays are not sent with every job."""


def spread(
    work: Work, root: Path, jobs: Sequence[JobFile], overlays: Sequence[Overlay], parallel: int
) -> list[Reading]:
    """`work` for every job, in the order of `jobs`."""
    processes = min(parallel, len(jobs) // _WORTH_IT)
    if processes < 2:  # noqa: PLR2004 - one process is this one
        return [work(root, job, overlays) for job in jobs]
    # what is compiled and read for the first jobs here need not be done again in every process
    first = [work(root, job, overlays) for job in jobs[:_WARM]]
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    with context.Pool(processes, _start, (work, root, overlays)) as pool:
        return first + pool.map(_one, jobs[_WARM:], chunksize=max(1, len(jobs) // (processes * 4)))


def _start(work: Work, root: Path, overlays: Sequence[Overlay]) -> None:
    global _task  # noqa: PLW0603 - the one piece of state of a worker process
    _task = work, root, overlays


def _one(job: JobFile) -> Reading:
    assert _task is not None  # noqa: S101 - set by `_start`
    work, root, overlays = _task
    return work(root, job, overlays)
