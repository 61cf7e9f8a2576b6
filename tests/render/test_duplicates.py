"""Two jobs, or objects of several, cannot have one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.base.yaml.source import Source, read
from tests.support import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from gen.base.findings import Findings

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


SWEEP = "env: {A: '{{ params.a }}'}\nsweep: {matrix: {a: [1, 2, 3, 4]}}\n"


def test_the_name_of_a_sweep_is_reported_once_and_not_for_each_run(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        repo.job(JOB + SWEEP, name=name)
    opened: list[str] = []

    def noted(root: Path, file: str, found: Findings) -> Source | None:
        opened.append(file)
        return read(root, file, found)

    monkeypatch.setattr("gen.render.crosscheck.read", noted)
    assert [(finding.place.file, finding.message) for finding in repo.render()[0].findings] == [
        (f"jobs/team/{name}.yaml", "duplicate job name `same` in namespace `team`") for name in "bc"
    ]
    assert sorted(opened) == [f"jobs/team/{name}.yaml" for name in "abc"], "each file once"


def test_names_that_runs_of_two_sweeps_share_are_reported_once_with_their_number(repo: Repository) -> None:
    job = (
        JOB.replace("same", "{name}")
        + "env: {{A: '{{{{ params.{key} }}}}'}}\nsweep: {{matrix: {{{key}: [1, 2, 3]}}}}\n"
    )
    repo.job(job.format(name="same", key="a_b"), name="a")
    repo.job(job.format(name="same-a", key="b"), name="b")
    repo.job(JOB.replace("same", "same-a-b-2"), name="c")
    assert [(finding.place.file, finding.message) for finding in repo.render()[0].findings] == [
        ("jobs/team/b.yaml", "duplicate job name `same-a-b-1` in namespace `team` (for 3 runs of the sweep)"),
        ("jobs/team/c.yaml", "duplicate job name `same-a-b-2` in namespace `team`"),
    ]


def test_a_sweep_in_two_overlays_of_a_cluster_is_reported_for_one_run_with_their_number(repo: Repository) -> None:
    for name in ("dev", "test"):
        repo.overlay('kubernetes: "1.34"\ncluster: one\n', name=name)
    repo.job(JOB + SWEEP)
    (only,) = repo.render()[0].findings
    assert only.message.startswith("PyTorchJob team/same-a-1-")
    assert only.message.endswith(
        " is rendered by the overlays `dev` and `test` of one cluster (for 4 runs of the sweep)"
    )
    repo.job(JOB.replace("kind: pytorch", "kind: batch"))
    assert repo.codes() == ["duplicate-object"] * 2, "Job and Service of one run"


DATA = "data: {nas: /data}\n"
VOLUME = "volumes: {nas: {size: 1Gi, nfs: {server: a.example.com, path: /a}}}\n"
ARGOCD = "gitops: {argocd: {repoURL: https://git.example.com/a.git, cluster: prod}}\n"


def of_cluster(repo: Repository, named: str, *names: str) -> list[tuple[str, str]]:
    """Findings for overlays that select a job each, with the same volume."""
    (repo.root / "overlays/dev/overlay.yaml").unlink()
    (repo.root / "overlays/dev").rmdir()
    for name in names:
        text = f'kubernetes: "1.34"\nselect: {{include: [team/{name}]}}\n{VOLUME}{named}'
        repo.overlay(text, name=name)
        repo.job(JOB.replace("same", name) + DATA, name=name)
    return [(finding.code, finding.message) for finding in repo.render()[0].findings]


@pytest.mark.parametrize("named", ["cluster: prod\n", ARGOCD])
def test_a_volume_of_two_overlays_of_one_cluster_is_found(repo: Repository, named: str) -> None:
    assert of_cluster(repo, named, "a", "b") == [
        ("duplicate-object", f"{kind} is rendered by the overlays `a` and `b` of one cluster")
        for kind in ("PersistentVolume team-nas", "PersistentVolumeClaim team/nas")
    ]
    assert not (repo.root / "rendered").exists()


@pytest.mark.parametrize("named", ["", ARGOCD.replace(", cluster: prod", "")])
def test_overlays_are_clusters_of_their_own_unless_they_say_so(repo: Repository, named: str) -> None:
    assert of_cluster(repo, named, "a", "b") == []


def test_a_job_of_two_overlays_of_one_cluster_is_found(repo: Repository) -> None:
    repo.job(JOB)
    for name in ("dev", "prod"):
        repo.overlay('kubernetes: "1.34"\ncluster: one\n', name=name)
    (finding,) = repo.render()[0].findings
    assert (finding.code, finding.place.file) == ("duplicate-object", "jobs/team/demo.yaml")
    assert "`dev` and `prod`" in finding.message


def test_an_overlay_that_is_called_as_a_cluster_is_another_one(repo: Repository) -> None:
    repo.job(JOB)
    repo.overlay('kubernetes: "1.34"\n', name="dev")
    repo.overlay('kubernetes: "1.34"\ncluster: dev\n', name="prod")
    assert repo.codes() == []
