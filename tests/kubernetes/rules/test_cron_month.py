"""The average number of runs of a schedule in a month."""

from __future__ import annotations

from fractions import Fraction

from gen.kubernetes.rules.cron import overlapping, runs_a_month
from tests.cases import for_each


@for_each(
    ("cron", "runs"),
    [
        ("@monthly", Fraction(1)),
        ("@yearly", Fraction(1, 12)),
        ("@daily", Fraction(1461, 48)),
        ("@weekly", Fraction(1461, 336)),
        ("0 3 * * 1", Fraction(1461, 336)),
        ("0 0 1,15 * *", Fraction(2)),
        ("0 0 29 2 *", Fraction(1, 48)),
        ("0 0 30 2 *", Fraction(0)),
        ("*/5 * * * *", Fraction(1461 * 288, 48)),
        ("0 0 1 * 1", Fraction(1461, 336) + 1 - Fraction(48, 336)),
        ("@every 1h", Fraction(730)),
        ("@every 1s", Fraction(730 * 3600)),
        ("never", Fraction(730 * 3600)),
        (None, Fraction(730 * 3600)),
        (["@daily"], Fraction(730 * 3600)),
    ],
)
def test_runs_in_a_month(cron: object, runs: Fraction) -> None:
    assert runs_a_month(cron) == runs


@for_each(
    ("cron", "seconds", "allowed", "runs"),
    [
        ("@hourly", 5400, True, 2),
        ("@hourly", 5400, False, 1),
        ("@hourly", None, True, 1),
        ("never", 5400, True, 1),
        (3, 5, True, 1),
    ],
)
def test_runs_that_overlap(cron: object, seconds: int | None, allowed: bool, runs: int) -> None:
    assert overlapping(cron, seconds, allowed=allowed) == runs
