"""Effects of a change on schedules, between real commits."""

from __future__ import annotations

import pytest

from tests.history import JOB, History, branch, reported

SCHEDULE = JOB.replace("kind: pytorch", "kind: batch") + "schedule: 0 3 * * *\n"


def effect(history: History) -> tuple[str, bool, bool]:
    (run,) = history.report()["runs"]
    return run["action"], run["starts"], run["stops"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, SCHEDULE, ("scheduled", False, False)),
        (SCHEDULE, SCHEDULE.replace("0 3", "0 4"), ("rescheduled", False, False)),
        (SCHEDULE, SCHEDULE.replace("train:1", "train:2"), ("rescheduled", False, False)),
        (SCHEDULE, None, ("unscheduled", False, True)),
        (SCHEDULE, SCHEDULE + "state: suspended\n", ("suspended", False, False)),
        (SCHEDULE + "state: suspended\n", SCHEDULE, ("resumed", False, False)),
        (None, SCHEDULE + "state: suspended\n", ("added", False, False)),
        (SCHEDULE + "state: suspended\n", None, ("unscheduled", False, True)),
        (SCHEDULE.partition("schedule")[0], SCHEDULE, ("replaced", False, True)),
        (SCHEDULE, SCHEDULE.partition("schedule")[0], ("replaced", True, True)),
    ],
)
def test_the_effect_of_a_change(
    history: History, before: str | None, after: str | None, expected: tuple[str, bool, bool]
) -> None:
    history.job(JOB, name="other")
    if before is not None:
        history.job(before)
    branch(history)
    path = history.root / "jobs/team/demo.yaml"
    if after is None:
        path.unlink()
    else:
        history.job(after)
    assert effect(history) == expected
    assert all(code != "run-edited" for code, _ in history.codes())


def test_the_runs_that_can_overlap_count(history: History) -> None:
    branch_job = SCHEDULE.replace("0 3 * * *", "{cron: 0 * * * *, concurrency: Allow}")
    history.job(JOB, name="other")
    branch(history)
    history.job(SCHEDULE)
    (one,) = [row["after"]["gpus"] - row["before"]["gpus"] for row in history.report()["gpus"]]
    history.job(branch_job)
    (many,) = [row["after"]["gpus"] - row["before"]["gpus"] for row in history.report()["gpus"]]
    assert (one, many) == (24, 12 * 24)


def test_a_change_of_the_platform_changes_a_schedule_in_place(history: History) -> None:
    history.job(SCHEDULE)
    branch(history)
    overlay = history.root / "overlays/dev/overlay.yaml"
    overlay.write_text(overlay.read_text("utf-8") + "defaults: {env: {NEW: a}}\n", "utf-8")
    assert effect(history) == ("rescheduled", False, False)


def test_a_suspended_schedule_still_counts(history: History) -> None:
    history.job(JOB, name="other")
    history.job(SCHEDULE)
    branch(history)
    history.job(SCHEDULE + "state: suspended\n")
    (run,) = history.report()["runs"]
    assert run["after"]["counted"] is True
    assert [row["after"]["gpus"] - row["before"]["gpus"] for row in history.report()["gpus"]] == [0]
    assert "no run starts; those that have go on, and count" in reported("text", history.plan())
