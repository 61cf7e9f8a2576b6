"""GPUs and GPU-hours of namespaces and queues, compared with their quotas."""

from __future__ import annotations

import json

import pytest

from gen.job.kinds import KINDS
from gen.report.plan.html import usage_bars
from tests.history import JOB, History, branch, reported
from tests.support import OVERLAY


def test_queues_limits_and_time(history: History) -> None:
    history.overlay(OVERLAY.replace('  "*":\n', '  "*":\n    gpus: 64\n'))
    history.job(JOB + "queue: research\n", name="queued")
    branch(history)
    history.job(JOB.replace("timeout: 12h\n", ""), name="endless")
    report = history.report()
    rows = {row["queue"]: row for row in report["gpus"]}
    queued = {"gpus": 24, "gpuHours": 288.0, "unboundedRuns": 0}
    assert rows["research"] | {"after": None} == {
        "overlay": "dev",
        "namespace": "team",
        "queue": "research",
        "limit": 64,
        "namespaceGpus": {"before": 24, "after": 48},
        "before": queued,
        "after": None,
    }
    assert rows[None]["after"] == {"gpus": 24, "gpuHours": 0.0, "unboundedRuns": 1}
    text = history.report("text")
    assert "GPUs  24 → 48 (starting runs request 24 GPUs, 1 run without a time limit)\n" in text
    assert "dev      team       none   0 → 24  48 of 64    0 → unbounded" in text


def test_a_queue_is_not_compared_with_the_quota_of_its_namespace(history: History) -> None:
    history.overlay(OVERLAY.replace('  "*":\n', '  "*":\n    gpus: 64\n'))
    history.job(JOB, name="outside")
    branch(history)
    history.job(JOB + "queue: research\n", name="queued")
    assert "  dev      team       research  0 → 24  48 of 64    0 → 288" in history.report("text").splitlines()
    assert "| `dev` | `team` | `research` | 0 → 24 | 48 of 64 | 0 → 288 |" in history.report("markdown")
    bars = {bar.names[2]: (bar.amount, bar.limit_text, bar.limit >= 0) for bar in usage_bars(history.plan())}
    assert bars == {
        "all queues": ("24 → 48", "64", True),
        "": ("24 → 24", "", False),
        "research": ("0 → 24", "", False),
    }


def test_a_quota_covers_all_queues(history: History) -> None:
    history.job(JOB + "queue: research\n", name="a")
    branch(history)
    history.job(JOB, name="b")
    history.rendering()
    history.overlay(OVERLAY.replace('  "*":\n', '  "*":\n    gpus: 40\n'))
    (finding,) = history.plan().findings
    assert (finding.code, finding.place.file) == ("over-quota", "jobs/team/b.yaml")
    assert [str(place) for place, _ in finding.related] == ["overlays/dev/overlay.yaml:4:11"]
    message = "would request 48 GPUs in overlay `dev`; its quota is 40: `team/a` 24, `team/b` 24 (changed)"
    assert message in finding.message


def test_an_unreadable_overlay_has_unknown_quotas(history: History) -> None:
    history.job(JOB)
    branch(history)
    history.overlay(OVERLAY + "unknown: 1\n")
    assert sorted(history.codes()) == [
        ("limits-unknown", "warning"),
        ("not-rendered", "warning"),
        ("unknown-field", "error"),
    ]


def test_a_plan_without_the_jobs_that_have_errors_is_refused(history: History) -> None:
    history.overlay(OVERLAY.replace('  "*":\n', '  "*":\n    gpus: 40\n'))
    history.job(JOB)
    branch(history)
    history.job(JOB.replace("gpus: 8", "gpus: 99"), name="large")
    plan = history.plan()
    assert plan.incomplete
    assert {(finding.code, finding.severity.value) for finding in plan.findings} >= {("over-quota", "error")}
    first = reported("text", plan).splitlines()[0]
    assert first.startswith("refused: over-quota; incomplete plan, because jobs with errors are not rendered")
    heading, _, errors = reported("markdown", plan).partition("\n\n")[0:3]
    assert "Refused: `over-quota`; incomplete plan" in heading
    assert errors.startswith("- `over-quota` at "), "errors are directly below the heading"


def test_the_gpu_resource_of_the_overlay_is_counted(history: History) -> None:
    history.overlay(OVERLAY + "gpu: {resource: example.com/accelerator}\n")
    history.job(JOB)
    branch(history)
    assert history.plan().usage[0].after.gpus == 24


def test_a_demand_that_cannot_be_read_is_reported(history: History) -> None:
    history.job(JOB)
    branch(history)
    history.job(JOB, name="other")
    history.rendering()
    file = next((history.root / "rendered/dev/jobs/team/other").glob("pytorchjob-*"))
    file.write_text(file.read_text().replace('nvidia.com/gpu: "8"', "nvidia.com/gpu: many"))
    assert ("unknown-usage", "error") in history.codes()


RELEASES = [(kind, served) for kind, model in KINDS.items() for served in model.facts.served]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "served"), RELEASES)
def test_gpus_are_counted_by_accelerator(history: History, kind: str, served: str) -> None:
    """Quotas of a render and of a plan count the same devices, also for pods without a template."""
    declared = "accelerators: {h100: {nvidia: H100}, mig: {mig: 1g.10gb}}\n"
    quota = OVERLAY + f"operators: {{{kind}: '{served}'}}\n" + declared
    job = {**KINDS[kind].example, "kind": kind, "workers": 2, "gpus": 3, "accelerator": "h100", "timeout": "1h"}
    job = {field: value for field, value in job.items() if field not in KINDS[kind].unsupported_fields()}
    if served in ("2.0", "2.1"):
        del job["timeout"]
    history.overlay(quota.replace('  "*":\n', '  "*":\n    accelerators: {h100: 6}\n'))
    branch(history)
    history.job(json.dumps(job))
    history.rendering()
    assert [code for code, severity in history.codes() if severity == "error"] == []
    history.overlay(quota.replace('  "*":\n', '  "*":\n    accelerators: {h100: 5}\n'))
    expected = "namespace `team` {} 6 GPUs of accelerator `h100` in overlay `dev`; its quota is 5"
    assert expected.format("would request") in [finding.message for finding in history.plan().findings]
    assert expected.format("requests") in [finding.message for finding in history.render()[0].findings]


def limited(grant: str) -> str:
    return OVERLAY.replace('  "*":\n', f'  "*":\n    {grant}\n')


ENDED = JOB + "state: finished\n"


def test_a_run_that_a_cluster_reported_as_ended_has_no_warning(history: History) -> None:
    history.overlay(limited("gpus: 40"))
    history.job(JOB)
    branch(history)
    (run,) = history.plan().runs
    annotation = "annotations: {{gen/ignore-may-still-run: {} succeeded in dev}}\n"
    history.job(ENDED + annotation.format(run.latest.name))
    history.rendering()
    assert history.codes() == []
    assert [row.after.gpus for row in history.plan().usage] == [24], "the quota of this plan still counts it"
    history.job(ENDED + annotation.format("demo-12345678"))
    history.rendering()
    assert history.codes() == [("may-still-run", "warning")], "which is about this run alone"


@pytest.mark.parametrize(("grant", "amount"), [("gpus: 40", "48 GPUs"), ("pods: 5", "6 pods")])
@pytest.mark.slow
def test_a_quota_cannot_be_freed_by_finished(history: History, grant: str, amount: str) -> None:
    history.overlay(limited(grant))
    history.job(JOB, name="a")
    branch(history)
    history.job(ENDED, name="a")
    history.job(JOB, name="b")
    history.rendering()
    assert sorted(history.codes()) == [("may-still-run", "warning"), ("over-quota", "error")]
    (finding,) = [finding for finding in history.plan().findings if finding.code == "over-quota"]
    assert f"would request {amount} in overlay `dev`" in finding.message
    history.overlay(limited(grant.replace(": ", ": 1")))
    assert history.codes() == [("may-still-run", "warning")]
    assert [row.after.gpus for row in history.plan().usage] == [48]


def test_a_quota_is_freed_by_finished_if_the_overlay_trusts_it(history: History) -> None:
    history.overlay(limited("gpus: 40"))
    history.job(JOB, name="a")
    branch(history)
    history.job(ENDED, name="a")
    history.job(JOB, name="b")
    history.overlay(limited("gpus: 40\n    trustFinished: true"))
    history.rendering()
    assert history.codes() == []


def test_a_quota_is_freed_by_finished_if_the_run_was_suspended(history: History) -> None:
    history.overlay(limited("gpus: 40"))
    history.job(JOB + "state: suspended\n", name="a")
    branch(history)
    history.job(ENDED, name="a")
    history.job(JOB, name="b")
    history.rendering()
    assert history.codes() == []


def test_a_quota_is_freed_by_removing_a_run(history: History) -> None:
    history.overlay(limited("gpus: 40"))
    history.job(JOB, name="a")
    branch(history)
    (history.root / "jobs/team/a.yaml").unlink()
    history.job(JOB, name="b")
    history.rendering()
    assert history.codes() == []


def merged(history: History) -> None:
    """Commit the pull request, merge it, and begin another."""
    history.commit("change")
    history.git("switch", "--quiet", "main")
    history.git("merge", "--quiet", "--ff-only", "topic")
    history.git("switch", "--quiet", "topic")


@pytest.mark.parametrize(
    "second", ["starts others", "removes the job and starts others", "removes the job, then starts others"]
)
@pytest.mark.slow
def test_two_changes_free_a_quota_in_git_and_not_in_the_cluster(history: History, second: str) -> None:
    """The limit of a check of files, which `docs/security.md` describes, and the wall behind it."""
    named = limited("gpus: 40\n    resourceQuota: true").replace('  "*":', "  team:")
    history.overlay(named)
    history.job(JOB, name="a")
    branch(history)
    limit = history.file("resourcequota-gen").read_bytes()

    history.job(ENDED, name="a")
    history.rendering()
    assert history.codes() == [("may-still-run", "warning")], "the first change is visible"
    assert [row.after.gpus for row in history.plan().usage] == [24]
    merged(history)

    if "removes" in second:
        (history.root / "jobs/team/a.yaml").unlink()
    if "then" in second:
        history.rendering()
        assert history.codes() == []
        merged(history)
    history.job(JOB, name="b")
    history.rendering()
    assert history.codes() == [], "48 GPUs of a quota of 40, if the first run has not ended"

    assert b'requests.nvidia.com/gpu: "40"' in limit
    assert history.file("resourcequota-gen").read_bytes() == limit, "the API server still counts its pods"
    assert "ResourceQuota" not in history.report("text")
