"""Other processes: how they start, and how they end with this one.

Importing this module takes a while, and a run in one process does not need it. The system must be able to fork.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import signal
from contextlib import contextmanager, suppress
from multiprocessing import connection
from threading import Thread
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_PIPE_BYTES = 1 << 20
"""Of results that wait until they are received. Linux allows no more to everybody."""


class Other(Struct, frozen=True, eq=False):
    """Another process, with a pipe in each direction."""

    process: BaseProcess
    requests: Connection
    results: Connection

    def end(self) -> None:
        """End the process, whatever it does, without waiting for it."""
        self.process.terminate()
        self.requests.close()
        self.results.close()


@contextmanager
def other_process(serve: Callable[..., None], *given: Any) -> Iterator[Other]:
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
    """Wait until one of them sends something, or ends."""
    connection.wait([other.results for other in others])


def _enlarge(pipe: Connection) -> None:
    """Let a pipe hold more, where the system can."""
    with suppress(AttributeError, OSError):
        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def _run(serve: Callable[..., None], requests: Connection, results: Connection, *given: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent, which ends its children
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
