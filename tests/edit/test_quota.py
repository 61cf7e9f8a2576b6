"""`gen set` and the GPUs that a namespace is granted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cases import for_each
from tests.commands.changes import JOB, change, codes

if TYPE_CHECKING:
    from tests.support import Repository

QUOTA = 'kubernetes: "1.34"\nnamespaces: {team: {gpus: 8}}\n'


@for_each(
    ("assignments", "expected"),
    [
        (("gpus=4",), []),
        (("gpus=5",), ["over-quota"]),
        (("gpus=5", "state=finished"), []),
        (("gpus=2", "workers=2"), []),
        (("gpus=2", "workers=3"), ["over-quota"]),
    ],
)
def test_no_more_gpus_are_asked_for_than_are_granted(
    repo: Repository, assignments: tuple[str, ...], expected: list[str]
) -> None:
    repo.overlay(QUOTA)
    path = repo.job(JOB)
    repo.job(JOB + "gpus: 4\n", name="beside")
    repo.job(JOB + "gpus: 64\n", name="broken").write_text("kind: [", "utf-8")
    report, code = change(repo, "team/demo", *assignments)
    assert (codes(report), code) == (expected, int(bool(expected)))
    assert (path.read_text("utf-8") == JOB) == bool(expected)


def test_who_asks_for_too_much_may_ask_for_less(repo: Repository) -> None:
    repo.overlay(QUOTA)
    repo.job(JOB + "gpus: 32\n")
    assert codes(change(repo, "team/demo", "gpus=33")[0]) == ["over-quota"]
    assert change(repo, "team/demo", "gpus=16")[1] == 0
    assert change(repo, "team/demo", "env.DEBUG=on")[1] == 0


def test_a_quota_that_was_exceeded_before_is_of_no_other_namespace(repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\nnamespaces: {team: {gpus: 8}, other: {gpus: 8}}\n')
    repo.job(JOB + "gpus: 32\n", name="beside")
    repo.job(JOB + "gpus: 4\n")
    repo.job(JOB + "gpus: 2\n", namespace="other")
    report, code = change(repo, "*/demo", "gpus=4", "attempt=2")
    assert (codes(report), code) == ([], 0)
    assert "gpus: 4" in (repo.root / "jobs/other/demo.yaml").read_text("utf-8")
