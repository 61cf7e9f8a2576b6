"""A committed run whose job did not change is kept; only metadata and suspension follow the job."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.kinds import KINDS
from gen.kubernetes import at
from gen.render.run import render
from gen.rules.gitops.best_practices import BEST_PRACTICES
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from gen.render.results import RenderedJob
    from gen.report.report import Report

JOB = "kind: {kind}\nimage: a:1\ncommand: x\nworkers: 2\ngpus: 1\n"
MORE = (
    "files: {/etc/a: b}\ndata: {nas: /data}\ntensorboard: true\n"
    f"code: {{git: https://git.example.com/a.git, ref: {'c' * 40}}}\n"
)
BUMP = "codeSync: {gitImage: registry.example.com/git-sync:v5}\ntensorboard: {image: registry.example.com/tb:9}\n"
FOLDER = "dev/jobs/team/demo/"


def runs(repo: Repository) -> dict[str, dict[str, Any]]:
    """Objects of the run on disk, by kind."""
    bodies = (yaml.safe_load(text) for path, text in repo.rendered().items() if path.startswith(FOLDER))
    return {body["kind"]: body for body in bodies if "gen/run" in body["metadata"]["labels"]}


def content(body: dict[str, Any], suspend: tuple[str, ...] | None) -> dict[str, Any]:
    """The object without metadata but its name, and without the field that suspends it."""
    copied = copy.deepcopy({**body, "metadata": body["metadata"]["name"]})
    if suspend is not None and (holder := at(copied, *suspend[:-1])) is not None:
        holder.pop(suspend[-1], None)
    return copied


def job_of(kind: str) -> str:
    """A job with many fields."""
    more = {k: v for k, v in yaml.safe_load(MORE).items() if k not in KINDS[kind].unsupported_fields()}
    fields = {**KINDS[kind].example, **more}
    return yaml.safe_dump({"kind": kind, **fields}, sort_keys=False)


def rendered(repo: Repository) -> list[str]:
    """Render without errors; the codes of the warnings, but for best practices of jobs."""
    report, code = repo.render()
    assert code == 0, report
    return codes(report)


def codes(report: Report) -> list[str]:
    return [item.code for item in report.findings if item.code not in {rule.name for rule in BEST_PRACTICES}]


def behind(repo: Repository) -> tuple[RenderedJob, ...]:
    return render(repo.root, (), ()).behind


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "code" not in KINDS[kind].unsupported_fields()])
def test_suspension_end_and_metadata_follow_the_job(repo: Repository, kind: str) -> None:
    job, facts = job_of(kind), KINDS[kind].facts
    repo.job(job)
    rendered(repo)
    before = runs(repo)
    repo.overlay(OVERLAY + BUMP)
    states = {"suspended": True, "active": None, "finished": None}
    for state, suspend in states.items():
        if state == "suspended" and facts.suspend is None:
            continue
        repo.job(f"{job}state: {state}\nlabels: {{cost: {state}}}\nannotations: {{note: {state}}}\n")
        rendered(repo)
        after = runs(repo)
        old, new = ({one: content(body, facts.suspend) for one, body in objects.items()} for objects in (before, after))
        assert new == old
        assert facts.suspend is None or at(after[facts.kind], *facts.suspend) is suspend
        for body in after.values():
            assert body["metadata"]["labels"]["cost"] == state
            assert body["metadata"]["annotations"]["note"] == state
            assert ("argocd.argoproj.io/hook" in body["metadata"]["annotations"]) is (state == "finished")
    repo.job(job)
    rendered(repo)
    assert runs(repo) == before
    assert len(behind(repo)) == 1


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("naming", ["hash", "stable"])
def test_what_belongs_to_no_run_follows_the_overlay(repo: Repository, kind: str, naming: str) -> None:
    repo.job(job_of(kind))
    repo.overlay(OVERLAY + f"runs: {{naming: {naming}}}\n")
    rendered(repo)
    before = repo.rendered()
    repo.overlay(
        OVERLAY.replace("size: 10Gi,", "size: 10Gi, mountOptions: [nolock],") + BUMP + f"runs: {{naming: {naming}}}\n"
    )
    rendered(repo)
    changed = {
        path.rpartition("/")[2].partition("-")[0] for path, text in repo.rendered().items() if before[path] != text
    }
    assert changed == {"deployment", "persistentvolume"}
    assert rendered(repo) == []


@pytest.mark.parametrize("change", ["workers: 3\n", "attempt: 2\n", "env: {A: b}\n"])
def test_an_edited_job_gets_the_new_platform(repo: Repository, change: str) -> None:
    repo.job(JOB.format(kind="pytorch") + MORE)
    rendered(repo)
    repo.overlay(OVERLAY + BUMP)
    repo.job(JOB.replace("workers: 2\n", "").format(kind="pytorch") + MORE + change)
    rendered(repo)
    assert "git-sync:v5" in str(runs(repo))
    assert behind(repo) == ()


def test_only_the_named_jobs_are_restarted(repo: Repository) -> None:
    for name in ("demo", "other"):
        repo.job(JOB.format(kind="batch") + MORE, name=name)
    rendered(repo)
    repo.overlay(OVERLAY + BUMP)
    rendered(repo)
    before = repo.rendered()
    repo.render("team/demo", restart=True)
    changed = {path for path, text in repo.rendered().items() if text != before.get(path)}
    assert changed == {FOLDER + name for name in ("configmap-demo-files.yaml", "job-demo.yaml", "service-demo.yaml")}
    repo.render(restart=True)
    assert behind(repo) == ()


def test_an_overlay_takes_all_runs_along_but_finished_ones(repo: Repository) -> None:
    repo.job(JOB.format(kind="pytorch") + MORE)
    repo.job(JOB.format(kind="pytorch") + MORE + "state: finished\n", name="old")
    rendered(repo)
    before = repo.rendered()["dev/jobs/team/old/pytorchjob-old.yaml"]
    repo.overlay(OVERLAY + BUMP + "runs: {restartedFor: CVE-2026-1234}\n")
    rendered(repo)
    assert "git-sync:v5" in str(runs(repo))
    assert repo.rendered()["dev/jobs/team/old/pytorchjob-old.yaml"] == before
    repo.overlay(OVERLAY + "runs: {restartedFor: CVE-2026-1234}\n")
    rendered(repo)
    assert "git-sync:v5" in str(runs(repo)), "later changes are kept again"


def test_a_job_that_is_removed_and_added_again_starts_anew(repo: Repository) -> None:
    job = repo.job(JOB.format(kind="pytorch") + MORE)
    repo.job(JOB.format(kind="pytorch"), name="other")
    rendered(repo)
    text = job.read_text("utf-8")
    repo.overlay(OVERLAY + BUMP)
    job.unlink()
    rendered(repo)
    job.write_text(text, "utf-8")
    rendered(repo)
    assert "git-sync:v5" in str(runs(repo))


def test_a_kept_run_keeps_its_queue(repo: Repository) -> None:
    repo.overlay(OVERLAY + "defaults: {queue: research}\n")
    repo.job(JOB.format(kind="pytorch"))
    rendered(repo)
    before = runs(repo)
    repo.overlay(OVERLAY)
    assert rendered(repo) == []
    assert runs(repo) == before
    repo.job(JOB.format(kind="pytorch") + "state: suspended\n")
    report, code = repo.render()
    assert code == 1
    assert codes(report) == ["suspended-in-queue"]


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
    assert any("queue `research`, priority `high`" in item.message for item in report.findings)
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
    from gen.render.emit import digest_of, header  # noqa: PLC0415

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


def test_an_edited_file_stops_the_render_only_if_the_run_is_behind(repo: Repository) -> None:
    repo.job(JOB.format(kind="pytorch") + MORE)
    rendered(repo)
    path = repo.root / "rendered" / FOLDER / "pytorchjob-demo.yaml"
    good = path.read_text("utf-8")
    path.write_text(good.replace("a:1", "b:1"), "utf-8")
    rendered(repo)
    assert path.read_text("utf-8") == good
    repo.overlay(OVERLAY + BUMP)
    path.write_text(good.replace("a:1", "b:1"), "utf-8")
    report, code = repo.render()
    assert (code, codes(report)) == (1, ["hand-edited"])
    path.write_bytes(good.replace("\n", "\r\n").encode())
    rendered(repo)
    assert path.read_text("utf-8") == good, "line ends are not an edit"


def test_a_job_of_another_naming_is_kept(repo: Repository) -> None:
    repo.job(JOB.format(kind="pytorch") + "queue: research\n")
    rendered(repo)
    before = runs(repo)
    repo.overlay(OVERLAY + "runs: {naming: stable}\n")
    rendered(repo)
    assert runs(repo) == before


def test_rendering_the_result_again_changes_nothing(repo: Repository) -> None:
    for kind in KINDS:
        repo.job(job_of(kind), name=kind)
    rendered(repo)
    repo.overlay(OVERLAY + BUMP)
    rendered(repo)
    before = repo.rendered()
    rendered(repo)
    assert repo.rendered() == before
    assert repo.render(parallel=2)[1] == 0
    assert repo.rendered() == before
