"""Work in another process while this one does something else."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.connection import Connection

Result = TypeVar("Result")


def can_fork() -> bool:
    """Whether a process of this system can continue in a copy of itself."""
    return hasattr(os, "fork")


@contextmanager
def in_background(work: Callable[[], Result]) -> Iterator[Callable[[], Result | None]]:
    """Begin work in another process, and yield a function that waits for its result; None if the process was killed.

    The work needs the modules that are imported by now, and no others. The process ends with the block. The system
    must be able to fork.
    """
    import pickle  # noqa: PLC0415 - takes a while, and one process needs none of it

    from gen.parallel.process import other_process  # noqa: PLC0415 - as above

    with other_process(_send, work) as other:

        def result() -> Result | None:
            with suppress(EOFError, OSError):
                return cast("Result", pickle.loads(other.results.recv_bytes()))  # noqa: S301 - from our own process
            return None

        yield result


def _send(requests: Connection, results: Connection, work: Callable[[], Any]) -> None:
    import pickle  # noqa: PLC0415 - as above

    requests.close()
    results.send_bytes(pickle.dumps(work(), pickle.HIGHEST_PROTOCOL))
