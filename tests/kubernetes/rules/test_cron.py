"""How often a schedule comes, and whether it comes at all."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gen.job.fields import Schedule
from gen.kubernetes.rules.cron import FIELDS, at_once, never_comes, schedule_fault, shortest_interval, values
from tests.cases import for_each


@for_each(
    ("field", "known"),
    [
        ("*", range(24)),
        ("?", range(24)),
        ("3", [3]),
        ("1,5", [1, 5]),
        ("8-10", [8, 9, 10]),
        ("*/6", [0, 6, 12, 18]),
        ("20/2", [20, 22]),
        ("8-12/2", [8, 10, 12]),
        ("24", None),
        ("5-3", None),
        ("*/0", None),
        ("*-3", None),
    ],
)
def test_values_of_a_field(field: str, known: list[int] | None) -> None:
    assert values(field, FIELDS[1]) == (None if known is None else frozenset(known))


def test_names_of_months_and_days() -> None:
    assert values("jan,MAR-may", FIELDS[3]) == frozenset({1, 3, 4, 5})
    assert values("Mon-fri/2", FIELDS[4]) == frozenset({1, 3, 5})


@for_each(
    ("schedule", "seconds"),
    [
        ("0 3 * * *", 86400),
        ("*/10 * * * *", 600),
        ("0,50 * * * *", 600),
        ("0 1,23 * * *", 7200),
        ("0 0 1 1 *", 86400),
        ("@hourly", 3600),
        ("@every 1h30m", 5400),
        ("@every 10ms", 1),
        ("@every 2562047h", 2562047 * 3600),
    ],
)
def test_the_shortest_time_between_two_runs(schedule: str, seconds: int) -> None:
    assert shortest_interval(schedule) == seconds


@for_each(
    ("schedule", "never"),
    [
        ("0 3 31 2 *", True),
        ("0 3 30 2 *", True),
        ("0 3 29 2 *", False),
        ("0 3 31 4,6,9,11 *", True),
        ("0 3 31 4-5 *", False),
        ("0 3 31 2 1", False),
        ("@yearly", False),
    ],
)
def test_days_that_no_month_has(schedule: str, never: bool) -> None:
    assert never_comes(schedule) is never


def test_runs_that_overlap() -> None:
    assert [at_once("*/10 * * * *", seconds) for seconds in (60, 600, 601, 7200)] == [1, 1, 2, 12]


@pytest.mark.parametrize("duration", ["2562048h", "9223372037s", f"{'9' * 390}h", f"{'9' * 400_000}.9ns"])
def test_a_time_that_go_cannot_count_is_no_schedule(duration: str) -> None:
    assert schedule_fault(f"@every {duration}") is not None


def test_the_longest_schedule_without_repetitions_is_valid() -> None:
    lists = [",".join(map(str, range(low, high + 1))) for low, high, _ in FIELDS[:3]]
    names = [",".join(known) for _, _, known in FIELDS[3:]]
    schedule = " ".join([*lists, *names])
    assert schedule_fault(schedule) is None
    assert Schedule(cron=schedule).cron == schedule
    with pytest.raises(ValidationError):
        Schedule(cron=f"{schedule},sun,mon,tue")
