"""What no job shows alone."""

from __future__ import annotations

from tests.support import Repository

JOB = "kind: pytorch\nname: same\nimage: registry.example.com/train:1\ncommand: python train.py\n"


def selecting(repo: Repository, **jobs: list[str]) -> None:
    """Overlays of these names, each with the jobs that it selects."""
    for name, stems in jobs.items():
        patterns = [f"team/{stem}" for stem in stems]
        repo.overlay(f'kubernetes: "1.34"\nselect: {{include: {patterns}}}\n', name=name)


def test_two_jobs_may_share_a_name_where_no_overlay_has_both(repo: Repository) -> None:
    repo.job(JOB, name="a")
    repo.job(JOB, name="b")
    selecting(repo, dev=["a"], prod=["b"])
    assert repo.codes() == []
    assert {path.split("/")[0] for path in repo.rendered()} == {"dev", "prod"}


def test_two_jobs_of_one_name_are_found_behind_a_third_elsewhere(repo: Repository) -> None:
    for name in "abc":
        repo.job(JOB, name=name)
    selecting(repo, dev=["a"], prod=["b", "c"])
    report, _ = repo.render()
    assert [(f.code, str(f.place), str(f.related[0][0])) for f in report.findings] == [
        ("duplicate-job", "jobs/team/c.yaml:2:7", "jobs/team/b.yaml:2:7")
    ]
    assert not (repo.root / "rendered").exists()


def test_a_pair_that_meets_in_several_overlays_is_reported_once_and_each_pair_is(repo: Repository) -> None:
    for name in "abc":
        repo.job(JOB, name=name)
    selecting(repo, dev=["a", "c"], prod=["b", "c"], test=["b", "c"])
    report, _ = repo.render()
    assert [(f.place.file[-6], f.related[0][0].file[-6]) for f in report.findings] == [("c", "a"), ("c", "b")]
