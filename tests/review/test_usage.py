"""GPUs and GPU-hours, read from rendered objects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gen.commands.new import job_text
from gen.diagnostics import Findings
from gen.kinds import KINDS
from gen.review.demand import Demand, demand
from gen.review.matching import workload
from gen.review.rendered_object import RenderedObject, generated_object, parse_object
from tests.history import JOB, History, branch
from tests.support import OVERLAY, Repository


def asked(path: str, text: str, found: Findings | None = None) -> Demand:
    item = parse_object(text.encode(), path, Findings())
    assert isinstance(item, RenderedObject)
    kind = workload(item)
    assert kind is not None
    return demand(item, kind, {}, Findings() if found is None else found)


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_demand_of_each_kind_matches_its_job(repo: Repository, kind: str) -> None:
    limited = "timeout" not in KINDS[kind].unsupported_fields()
    repo.job(job_text(kind, with_schema=False) + ("timeout: 90m\n" if limited else ""))
    assert repo.render()[1] == 0
    (text,) = [text for text in repo.rendered().values() if f"\nkind: {KINDS[kind].facts.kind}\n" in text]
    found = asked("rendered/dev/jobs/team/demo/x.yaml", text)
    assert (found.gpus, found.seconds) == (2, 5400 if limited else None), "two workers with one each"
    assert found.pods == (3 if kind in ("mpi", "ray") else 2), "one more that leads"


@pytest.mark.parametrize("kind", list(KINDS))
def test_unchanged_runs_are_counted_from_an_outline(repo: Repository, kind: str) -> None:
    fields = {"timeout": "1h", "env": {"A": "b"}, "files": {"/a": "b"}, "data": {"nas": "/data"}, "network": "host"}
    fields = {name: value for name, value in fields.items() if name not in KINDS[kind].unsupported_fields()}
    if not KINDS[kind].uses_host_network:
        del fields["network"]
    command = ["sh", "  env:\n - x\n y\n\n", "\n- limits:", "a\n  command:\n  - b\n"]
    repo.job(json.dumps({"kind": kind, **KINDS[kind].example, **fields, "command": command}))
    assert repo.render()[1] == 0
    resource = KINDS[kind].facts.kind
    (text,) = [text for text in repo.rendered().values() if f"\nkind: {resource}\n" in text]
    item = generated_object(text.encode(), "rendered/dev/jobs/team/demo/x.yaml")
    assert item is not None
    words = ("'env'", "'command'", "'args'", "'volumes'", "'volumeMounts'")
    assert [word for word in words if word in str(item.outline)] == []
    expected = words[:1] if kind == "ray" else words[:2]  # Ray's command is a string
    assert [word for word in words[:2] if word in str(item.body)] == list(expected)
    whole = RenderedObject(item.key, item.path, item.text, parsed=item.body)
    assert demand(item, KINDS[kind].facts, {}, Findings()) == demand(whole, KINDS[kind].facts, {}, Findings())


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
        "before": queued,
        "after": None,
    }
    assert rows[None]["after"] == {"gpus": 24, "gpuHours": 0.0, "unboundedRuns": 1}
    text = history.report("text")
    assert "GPUs          24 → 48; starting runs request 24 GPUs, 1 run without a time limit\n" in text
    assert "dev      team       none   0 → 24  64     0 → unbounded" in text


def test_a_quota_covers_all_queues(history: History) -> None:
    history.job(JOB + "queue: research\n", name="a")
    branch(history)
    history.job(JOB, name="b")
    history.rendering()
    history.overlay(OVERLAY.replace('  "*":\n', '  "*":\n    gpus: 40\n'))
    (finding,) = history.plan().findings
    assert (finding.code, str(finding.place)) == ("over-quota", "overlays/dev/overlay.yaml:4:11")
    assert "would request 48 GPUs in overlay `dev`; its quota is 40" in finding.message


def test_an_unreadable_overlay_has_unknown_quotas(history: History) -> None:
    history.job(JOB)
    branch(history)
    history.overlay(OVERLAY + "unknown: 1\n")
    assert sorted(history.codes()) == [("limits-unknown", "warning"), ("not-rendered", "warning")]


def test_the_gpu_resource_of_the_overlay_is_counted(history: History) -> None:
    history.overlay(OVERLAY + "gpu: {resource: example.com/accelerator}\n")
    history.job(JOB)
    branch(history)
    assert history.plan().usage[0].after.gpus == 24


def pod(**spec: Any) -> str:
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}
    return json.dumps({**body, "spec": {"parallelism": 2, "template": {"spec": spec}}})


def container(count: object, **more: Any) -> dict[str, Any]:
    return {"name": f"c{count}", "resources": {"limits": {"nvidia.com/gpu": count, "cpu": "8"}}, **more}


@pytest.mark.parametrize(
    ("spec", "gpus"),
    [
        ({"containers": [container(1), container("2")]}, 3),
        ({"containers": [container(1)], "initContainers": [container(4), container(2)]}, 4),
        ({"containers": [container(1)], "initContainers": [container(1, restartPolicy="Always"), container(1)]}, 2),
        ({"containers": [container(1)], "initContainers": [container(1, restartPolicy="Always"), container(4)]}, 5),
        ({"containers": [{}], "initContainers": [container(1, restartPolicy="Always")]}, 1),
        ({"containers": [{"resources": {"requests": {"nvidia.com/gpu": "1"}}}]}, 1),
        ({"containers": "none", "initContainers": [3]}, 0),
        ({}, 0),
    ],
)
def test_a_pod_counts_as_the_scheduler_counts_it(spec: dict[str, Any], gpus: int) -> None:
    assert asked("rendered/dev/a.yaml", pod(**spec)).gpus == 2 * gpus


@pytest.mark.parametrize("amount", ["many", -1, {}, [1], "1e99"])
def test_an_invalid_amount_is_reported(amount: object) -> None:
    found = Findings()
    assert asked("rendered/dev/a.yaml", pod(containers=[container(amount)]), found) == Demand()
    assert [(finding.code, finding.place.file) for finding in found] == [("unknown-usage", "rendered/dev/a.yaml")]


@pytest.mark.parametrize("spec", ["spec: 3", "spec: {pytorchReplicaSpecs: [1]}", "spec: {pytorchReplicaSpecs: {a: b}}"])
def test_malformed_specs_are_read(spec: str) -> None:
    asked("rendered/dev/a.yaml", f"apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: a}}\n{spec}\n")


def limited(grant: str) -> str:
    return OVERLAY.replace('  "*":\n', f'  "*":\n    {grant}\n')


ENDED = JOB + "state: finished\n"


@pytest.mark.parametrize(("grant", "amount"), [("gpus: 40", "48 GPUs"), ("pods: 5", "6 pods")])
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
