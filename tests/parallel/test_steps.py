"""Works in steps: the order of their steps, and their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.parallel import finished, together
from gen.parallel.steps import AT_ONCE

if TYPE_CHECKING:
    from gen.parallel import Steps


def work(name: str, steps: int, log: list[str]) -> Steps[str]:
    for number in range(steps):
        log.append(f"{name}{number}")
        yield
    log.append(f"{name} ends")
    return name


def test_steps_alternate_and_results_are_in_order() -> None:
    log: list[str] = []
    assert finished(together(work(name, steps, log) for name, steps in (("a", 2), ("b", 0), ("c", 1)))) == [*"abc"]
    assert log == ["a0", "b ends", "c0", "a1", "c ends", "a ends"]


def test_works_within_works_alternate_with_those_outside() -> None:
    log: list[str] = []

    def outer(name: str) -> Steps[list[str]]:
        return (yield from together(work(f"{name}{part}", 1, log) for part in "xy"))

    assert finished(together(outer(name) for name in "ab")) == [["ax", "ay"], ["bx", "by"]]
    assert log == ["ax0", "ay0", "bx0", "by0", "ax ends", "ay ends", "bx ends", "by ends"]


def test_few_works_are_started_at_once() -> None:
    active: set[int] = set()
    most = 0

    def counted(number: int) -> Steps[int]:
        nonlocal most
        active.add(number)
        most = max(most, len(active))
        yield
        active.remove(number)
        return number

    assert finished(together(counted(number) for number in range(3 * AT_ONCE + 1))) == [*range(3 * AT_ONCE + 1)]
    assert most == AT_ONCE


def test_no_works_have_no_results() -> None:
    assert finished(together([])) == []


def test_an_error_of_a_step_is_raised() -> None:
    def broken() -> Steps[str]:
        yield
        raise KeyError("step")

    with pytest.raises(KeyError, match="step"):
        finished(together([work("a", 5, []), broken()]))
