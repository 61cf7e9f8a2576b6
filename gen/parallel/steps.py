"""Tasks in steps, so that several of them can advance together.

A step finds its code and its data in the caches of the processor if it follows the same step of another task. A render
of jobs takes a fifth less time than one job after the other.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Result = TypeVar("Result")

Steps = Generator[None, None, Result]
"""A task with a `yield` between two steps."""


AT_ONCE = 32
"""Tasks that advance together. The results of their steps stay in the caches of the processor, and in memory."""


def together(tasks: Iterable[Steps[Result]]) -> Steps[list[Result]]:
    """The results of tasks, in their order. Each step consists of the next step of several of them."""
    rest = iter(tasks)
    results: list[Result] = []
    while started := list(islice(rest, AT_ONCE)):
        results += yield from _in_turn(started)
    return results


def _in_turn(tasks: Sequence[Steps[Result]]) -> Steps[list[Result]]:
    waiting = list(enumerate(tasks))
    results: dict[int, Result] = {}
    while waiting:
        unfinished = []
        for number, task in waiting:
            try:
                next(task)
            except StopIteration as end:
                results[number] = end.value
            else:
                unfinished.append((number, task))
        waiting = unfinished
        yield
    return [results[number] for number in sorted(results)]


def finished(task: Steps[Result]) -> Result:
    """The result of a task, after all of its steps."""
    while True:
        try:
            next(task)
        except StopIteration as end:
            result: Result = end.value
            return result
