"""A job file with two runs goes through all stages. No kind of job has two runs yet, so the tests expand it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from gen.diagnostics import Diagnostic, Location
from gen.render.expand import JobRun, expand, merge_findings
from gen.report.text import text
from tests.commands.test_set import change, codes
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from gen.render.parse.job import JobInput

JOB = """\
kind: pytorch
image: registry.example.com/train:1
command: [python, train.py]
gpus: 2
memory: 1Gi
timeout: 1h
data: {nas: /data}
"""


def two_runs(given: JobInput) -> tuple[JobRun, ...]:
    jobs = [(f"{given.name}-{rate}", given.job.model_copy(update={"args": (rate,)})) for rate in ("high", "low")]
    return tuple(JobRun(given=dataclasses.replace(given, job=job), name=name) for name, job in jobs)


def same_names(given: JobInput) -> tuple[JobRun, ...]:
    return (*expand(given), *expand(given))


@pytest.fixture
def swept(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository where every job has two runs."""
    monkeypatch.setattr("gen.render.pipeline.expand", two_runs)
    return repo


def test_both_runs_are_rendered_into_the_folder_of_the_job(swept: Repository) -> None:
    swept.job(JOB)
    workloads = {
        body["metadata"]["labels"]["gen/job"]: body for body in swept.objects() if body["kind"] == "PyTorchJob"
    }
    assert sorted(workloads) == ["demo-high", "demo-low"]
    for name, body in workloads.items():
        container = body["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
        assert container["args"] == [name.removeprefix("demo-")]
    assert {path for path in swept.rendered() if "/jobs/" in path} == {
        "dev/jobs/team/demo/pytorchjob-demo-high.yaml",
        "dev/jobs/team/demo/pytorchjob-demo-low.yaml",
    }


def test_each_run_has_its_own_hash(swept: Repository) -> None:
    swept.job(JOB)
    names = [body["metadata"]["name"] for body in swept.objects() if body["kind"] == "PyTorchJob"]
    assert len({name[-8:] for name in names}) == 2


def test_storage_that_both_runs_use_is_rendered_once(swept: Repository) -> None:
    swept.job(JOB)
    kinds = [body["kind"] for body in swept.objects()]
    assert [kinds.count(kind) for kind in ("PersistentVolume", "PersistentVolumeClaim")] == [1, 1]


def test_a_finding_of_the_job_is_reported_once(swept: Repository) -> None:
    swept.job(JOB.replace("train:1", "train"))
    assert swept.codes() == ["mutable-image"]
    swept.job(JOB.replace("nas:", "nsa:"))
    assert swept.codes() == ["unknown-volume"]


def test_a_finding_of_a_patch_is_reported_once(swept: Repository) -> None:
    swept.overlay(OVERLAY + "patches:\n- target: {kind: PyTorchJob}\n  patch: {spec: {wrong: 1}}\n")
    swept.job(JOB)
    assert swept.codes() == ["unknown-field"]


def test_a_patch_may_match_only_one_of_the_runs(swept: Repository) -> None:
    patch = "patches:\n- target: {name: demo-low}\n  patch: {metadata: {annotations: {example.com/a: b}}}\n"
    swept.overlay(OVERLAY + patch)
    swept.job(JOB)
    annotated = [body for body in swept.objects() if "example.com/a" in body["metadata"].get("annotations", {})]
    assert [body["metadata"]["labels"]["gen/job"] for body in annotated] == ["demo-low"]


@pytest.mark.parametrize(("quota", "codes"), [(4, []), (3, ["over-quota"])])
def test_the_gpus_of_all_runs_count(swept: Repository, quota: int, codes: list[str]) -> None:
    swept.overlay(OVERLAY.replace("allow:", f"gpus: {quota}\n    allow:"))
    swept.job(JOB)
    assert swept.codes() == codes


def test_another_job_cannot_have_the_name_of_a_run(swept: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    swept.job(JOB, name="demo")
    swept.job(JOB, name="demo-low")
    monkeypatch.setattr(
        "gen.render.pipeline.expand", lambda given: (two_runs if given.name == "demo" else expand)(given)
    )
    report, _ = swept.render()
    duplicate = [finding for finding in report.findings if finding.code == "duplicate-job"]
    assert [finding.message for finding in duplicate] == ["duplicate job name `demo-low` in namespace `team`"]
    assert [str(finding.place) for finding in duplicate] == ["jobs/team/demo-low.yaml:1:1"]


def test_two_runs_cannot_have_the_same_name(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gen.render.pipeline.expand", same_names)
    repo.job(JOB)
    assert repo.codes() == ["duplicate-object"]


def test_no_run_is_rendered_if_one_has_an_error(swept: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_broken(given: JobInput) -> tuple[JobRun, ...]:
        high, low = two_runs(given)
        return high, replace(low, name="x" * 80)

    monkeypatch.setattr("gen.render.pipeline.expand", one_broken)
    swept.job(JOB)
    assert swept.codes() == ["name-too-long"]
    assert not (swept.root / "rendered").exists()


def test_the_cache_keeps_all_runs(swept: Repository) -> None:
    cache = swept.root / "cache"
    swept.job(JOB.replace("train:1", "train"))
    swept.job(JOB, name="other")
    first = swept.render(cache=cache)[0]
    again = swept.render(cache=cache)[0]
    assert again.summary == first.summary.replace("wrote 6, removed 0, 0 unchanged", "wrote 0, removed 0, 6 unchanged")
    assert text(swept.check(cache=cache)[0]) == text(swept.check()[0])
    swept.job(JOB.replace("gpus: 2", "gpus: 4"), name="other")
    changed = [change.path.rpartition("/")[2] for change in swept.render(cache=cache)[0].changes]
    assert changed == ["pytorchjob-other-high.yaml", "pytorchjob-other-low.yaml"]


def test_rendering_one_job_removes_runs_that_it_no_longer_has(
    swept: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept.job(JOB)
    swept.render()
    monkeypatch.setattr("gen.render.pipeline.expand", lambda given: two_runs(given)[:1])
    assert swept.render("team/demo")[1] == 0
    assert [path for path in swept.rendered() if "/jobs/" in path] == ["dev/jobs/team/demo/pytorchjob-demo-high.yaml"]


def test_gen_set_counts_the_gpus_of_all_runs(swept: Repository) -> None:
    swept.overlay(OVERLAY.replace("allow:", "gpus: 6\n    allow:"))
    swept.job(JOB)
    assert codes(change(swept, "team/demo", "gpus=4")[0]) == ["over-quota"]
    assert codes(change(swept, "team/demo", "gpus=3")[0]) == []


def test_later_runs_add_findings_only_at_new_places_or_with_new_codes() -> None:
    here, there = Location("jobs/a.yaml", 1), Location("jobs/a.yaml", 2)
    first = [Diagnostic(here, "x", "one"), Diagnostic(here, "x", "two")]
    second = [Diagnostic(here, "x", "three"), Diagnostic(here, "y", "four"), Diagnostic(there, "x", "five")]
    assert [finding.message for finding in merge_findings([first, second])] == ["one", "two", "four", "five"]
