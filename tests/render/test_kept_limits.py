"""Grants, rules and quotas of an overlay, and the claims of a run, after it was committed."""

from __future__ import annotations

from tests.render.demo import FOLDER, JOB, behind, codes, rendered, runs
from tests.support import OVERLAY, Repository


def test_a_withdrawn_grant_is_not_avoided(repo: Repository) -> None:
    repo.overlay(OVERLAY + "defaults: {queue: research, priority: high}\n")
    repo.job(JOB.format(kind="pytorch"))
    repo.job(JOB.format(kind="pytorch") + "serviceAccount: trainer\n", name="own")
    rendered(repo)
    none = OVERLAY.replace("queues: [research]", "queues: []").replace("priorities: [high]", "priorities: []")
    repo.overlay(none)
    report, code = repo.render()
    assert code == 0
    assert codes(report) == ["kept-run-not-granted"] * 2
    assert any("priority `high`, queue `research`" in item.message for item in report.findings)
    repo.overlay(none.replace("serviceAccounts: [trainer]", "serviceAccounts: []"))
    report, code = repo.render()
    assert code == 1
    assert "unknown-service-account" in codes(report)


def test_a_priority_that_the_overlay_declares_later_is_still_granted(repo: Repository) -> None:
    """A run has the class of the priority, which no grant names."""
    repo.overlay(OVERLAY + "defaults: {priority: high}\n")
    repo.job(JOB.format(kind="pytorch"))
    rendered(repo)
    classes = "priorities: {high: {className: class-of-old}, urgent: {className: high}}\n"
    repo.overlay(OVERLAY.replace("priorities: [high]", "priorities: [high, urgent]") + classes)
    repo.job(JOB.format(kind="pytorch") + "priority: urgent\n", name="other")
    assert rendered(repo) == []
    repo.overlay(OVERLAY + classes.replace("high}", "higher}"))
    (repo.root / "jobs/team/other.yaml").unlink()
    report, _ = repo.render()
    assert codes(report) == ["kept-run-not-granted"]


def test_rules_that_refuse_a_kept_run_are_warnings(repo: Repository) -> None:
    """A kind that the cluster of today does not know."""
    repo.overlay(OVERLAY + "operators: {mpi: kubeflow.org/v1}\n")
    repo.job(JOB.format(kind="mpi"))
    rendered(repo)
    path = repo.root / "rendered" / FOLDER / "mpijob-demo.yaml"
    repo.overlay(OVERLAY + "operators: {mpi: kubeflow.org/v2beta1}\n")
    assert rendered(repo) == []
    assert runs(repo)["MPIJob"]["apiVersion"] == "kubeflow.org/v1"
    from gen.render.emit import digest_of, header

    text = path.read_text("utf-8").partition("\n")[2].replace("slotsPerWorker: 1", "slotsPerWorker: one")
    assert "one" in text
    record = behind(repo)[0].files[0].record
    path.write_text(header("jobs/team/demo.yaml", digest_of(text), record) + text, "utf-8")
    report, code = repo.render()
    assert code == 0
    (warning,) = [item for item in report.findings if item.code == "kept-run-invalid"]
    assert "slotsPerWorker" in warning.message


def test_quotas_count_the_values_of_kept_runs(repo: Repository) -> None:
    repo.overlay(OVERLAY + "defaults: {gpus: 4}\n")
    repo.job(JOB.format(kind="pytorch").replace("gpus: 1\n", ""))
    rendered(repo)
    repo.overlay(OVERLAY.replace('"*":\n', '"*":\n    gpus: 6\n') + "defaults: {gpus: 1}\n")
    report, code = repo.render()
    assert code == 1
    assert any("requests 8 GPUs" in item.message for item in report.findings)
    assert codes(report) == ["over-quota"]
    assert repo.render(restart=True)[1] == 0


def test_quotas_count_the_accelerator_of_kept_runs(repo: Repository) -> None:
    """The default accelerator changed, so the kept run holds devices that a new run would not request."""
    declared = "accelerators: {npu: {ascend: 910B}, h100: {nvidia: H100}}\n"
    repo.overlay(OVERLAY + declared + "defaults: {accelerator: npu}\n")
    repo.job(JOB.format(kind="pytorch").replace("gpus: 1\n", "gpus: 8\n"))
    rendered(repo)
    quota = OVERLAY.replace('"*":\n', '"*":\n    accelerators: {npu: 15, h100: 0}\n')
    repo.overlay(quota + declared + "defaults: {accelerator: h100}\n")
    report, _ = repo.render()
    assert [item.message for item in report.findings if item.code == "over-quota"] == [
        "namespace `team` requests 16 GPUs of accelerator `npu` in overlay `dev`; its quota is 15"
    ]


def test_a_claim_of_a_kept_run_is_not_removed(repo: Repository) -> None:
    repo.overlay(OVERLAY + "defaults: {data: {nas: /data}}\n")
    repo.job(JOB.format(kind="pytorch"))
    rendered(repo)
    storage = {path for path in repo.rendered() if "/storage/" in path}
    assert len(storage) == 2
    repo.overlay(OVERLAY)
    report, _ = repo.render(prune_storage=True)
    assert codes(report) == ["unused-storage"] * 2
    assert any("kept from an earlier platform" in item.message for item in report.findings)
    assert {path for path in repo.rendered() if "/storage/" in path} == storage
    repo.render(restart=True, prune_storage=True)
    assert {path for path in repo.rendered() if "/storage/" in path} == set()
