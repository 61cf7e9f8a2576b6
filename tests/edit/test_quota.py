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
    repo.job(JOB + "gpus: 4\n", name="other")
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
    repo.job(JOB + "gpus: 32\n", name="other")
    repo.job(JOB + "gpus: 4\n")
    repo.job(JOB + "gpus: 2\n", namespace="other")
    report, code = change(repo, "*/demo", "gpus=4", "attempt=2")
    assert (codes(report), code) == ([], 0)
    assert "gpus: 4" in (repo.root / "jobs/other/demo.yaml").read_text("utf-8")


def test_the_finding_is_at_the_changed_job_with_the_shares_of_the_namespace(repo: Repository) -> None:
    repo.overlay(QUOTA)
    repo.job(JOB + "gpus: 4\n", name="small")
    swept = JOB.replace("train.py", "train.py {{ params.lr }}") + "gpus: 2\nsweep: {matrix: {lr: [1, 2]}}\n"
    repo.job(swept, name="swept")
    assert repo.render()[1] == 0
    repo.job(JOB + "cpu: 4\ngpus: 8\n", name="large")
    repo.job(JOB + "gpus: 1\n", name="extra")
    report, _ = repo.check()
    (finding,) = [one for one in report.findings if one.code == "over-quota"]
    assert str(finding.place) == f"jobs/team/large.yaml:{(JOB + 'cpu: 4').count(chr(10)) + 2}:7"
    shares = "`team/large` 8 (changed), `team/small` 4, `team/swept` 4, `team/extra` 1 (changed)"
    assert finding.message.endswith(f"requests 17 GPUs in overlay `dev`; its quota is 8: {shares}")
    assert "end some of its runs with `gen stop team/small`, or raise `gpus`" in finding.hint
    assert [(place.file, text) for place, text in finding.related] == [
        ("overlays/dev/overlay.yaml", "the quota"),
        ("jobs/team/extra.yaml", "`team/extra` requests 1"),
    ]
    (repo.root / "jobs/team/large.yaml").unlink()
    (repo.root / "jobs/team/extra.yaml").unlink()
    repo.overlay(QUOTA.replace("8", "7"))  # the platform changed, and no job did
    (finding,) = [one for one in repo.check()[0].findings if one.code == "over-quota"]
    assert str(finding.place) == "overlays/dev/overlay.yaml:2:27"
    assert finding.message.endswith("its quota is 7: `team/small` 4, `team/swept` 4")
