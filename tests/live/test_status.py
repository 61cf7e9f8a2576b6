"""`gen status` against a real API server, with statuses as controllers and kubelets write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gen.base.findings import UsageError
from tests.live.world import RUNNING, World, unscheduled, waiting

if TYPE_CHECKING:
    from collections.abc import Callable

    from gen.kubernetes.objects import Body

    Make = Callable[[str], World]


def test_a_run_from_its_file_to_its_end(world: Make) -> None:
    here = world("life")
    run = here.job(more="workers: 2\ngpus: 1\n", apply=False)
    name = run["metadata"]["name"]
    (missing,) = here.answer()["runs"]
    assert (missing["run"], missing["phase"], missing["git"], missing["file"]) == (
        name,
        "missing",
        "active",
        "jobs/life/demo.yaml",
    )
    assert here.code == 1

    here.cluster.apply(run)
    row = here.runs()[name]
    assert (row["phase"], row["pods"], row["gpus"]) == ("pending", {"running": 0, "total": 2}, 2)
    assert (here.code, row["drift"]) == (0, [])

    here.pod(run, "master", 0, RUNNING)
    here.pod(run, "worker", 0, waiting("ImagePullBackOff", 'Back-off pulling image "a:1"'))
    row = here.runs()[name]
    assert (row["phase"], row["reason"], row["message"]) == (
        "running",
        "ImagePullBackOff",
        f'{name}-worker-0: Back-off pulling image "a:1"',
    )
    assert (row["pods"], row["restarts"]) == ({"running": 1, "total": 2}, 2)

    here.ends(run, "Succeeded")
    assert here.runs()[name]["phase"] == "succeeded"
    assert here.code == 0
    here.ends(run, "Failed", "it broke")
    assert (here.runs()[name]["phase"], here.runs()[name]["message"]) == ("failed", "it broke")
    assert here.code == 1


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (unscheduled("0/4 nodes are available: 4 Insufficient nvidia.com/gpu."), "Unschedulable"),
        (unscheduled("pod group is not ready, 2 Pending, 2 minAvailable"), "Gang"),
        (waiting("CreateContainerConfigError", 'secret "token" not found'), "CreateContainerConfigError"),
        (waiting("ContainerCreating", ""), None),
    ],
)
def test_why_a_run_is_pending(world: Make, status: dict[str, object], reason: str | None) -> None:
    here = world("pending")
    run = here.job(name=f"why-{reason or 'none'}".lower())
    here.pod(run, "master", 0, status)
    row = here.runs()[run["metadata"]["name"]]
    assert (row["phase"], row["reason"]) == ("pending", reason)


def crashed(reason: str) -> Body:
    """A container that failed before, and runs again or waits for its next start."""
    state = {"running": {}} if reason == "OOMKilled" else {"waiting": {"reason": reason, "message": "back-off 5m0s"}}
    last = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    one = {"name": "main", "image": "a:1", "imageID": "", "ready": False, "restartCount": 3}
    return {"phase": "Running", "containerStatuses": [{**one, "state": state, "lastState": last}]}


def test_a_present_blocker_comes_before_an_earlier_failure(world: Make) -> None:
    here = world("blocked")
    run = here.job(more="workers: 3\n")
    name = run["metadata"]["name"]
    here.pod(run, "master", 0, crashed("OOMKilled"))
    here.pod(run, "worker", 0, RUNNING)
    assert here.runs()[name]["reason"] == "OOMKilled"
    here.pod(run, "worker", 1, unscheduled("0/4 nodes are available"))
    row = here.runs()[name]
    assert (row["reason"], row["message"]) == ("Unschedulable", f"{name}-worker-1: 0/4 nodes are available")


def test_waiting_until_all_pods_run(world: Make) -> None:
    here = world("settled")
    run = here.job(more="workers: 2\n")
    name = run["metadata"]["name"]

    def settled() -> tuple[int, dict[str, int]]:
        here.gen("status", "--wait", "running", "--timeout", "1s")
        return here.code, here.runs()[name]["pods"]

    here.pod(run, "master", 0, RUNNING)
    assert settled() == (1, {"running": 1, "total": 2}), "one of two pods"
    pod = here.pod(run, "worker", 0, crashed("CrashLoopBackOff"))
    assert settled() == (1, {"running": 1, "total": 2}), "a pod that crashes again and again"
    here.status(pod, RUNNING)
    assert settled() == (0, {"running": 2, "total": 2})


def test_a_file_of_contexts_that_is_missing(world: Make) -> None:
    here = world("nofile")
    here.job(apply=False)
    here.kubeconfig.unlink()
    with pytest.raises(UsageError, match="the file cannot be read"):
        here.gen("status")


def test_an_unknown_context_has_no_count(world: Make) -> None:
    here = world("nocontext")
    here.job(apply=False)
    output = here.gen("status", context="nope")
    assert (here.code, "unknown context `nope`" in output, "0 runs" in output) == (1, True, False)


def test_a_quota_that_keeps_the_pods_away(world: Make) -> None:
    here = world("quota")
    run = here.job()
    uid = here.cluster.client.get(here.cluster.path(run)).body["metadata"]["uid"]
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "demo.1", "namespace": "quota"},
        "involvedObject": {"kind": "PyTorchJob", "namespace": "quota", "name": run["metadata"]["name"], "uid": uid},
        "type": "Warning",
        "reason": "FailedCreatePod",
        "message": 'pods "demo-master-0" is forbidden: exceeded quota: gen, requested: pods=1, used: pods=4',
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }
    assert here.cluster.client.create("/api/v1/namespaces/quota/events", event).status == 201
    row = here.runs()[run["metadata"]["name"]]
    assert (row["phase"], row["reason"]) == ("pending", "QuotaExceeded")


def test_a_run_that_waits_in_a_queue(world: Make) -> None:
    here = world("queued")
    run = here.job(kind="batch", more="queue: research\n")
    live = here.cluster.client.get(here.cluster.path(run)).body
    assert here.cluster.client.merge(here.cluster.path(run), {"spec": {"suspend": True}}).status == 200
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": "job-demo",
            "namespace": "queued",
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": run["metadata"]["name"],
                    "uid": live["metadata"]["uid"],
                    "controller": True,
                }
            ],
        },
        "spec": {
            "queueName": "research",
            "podSets": [{"name": "main", "count": 1, "template": run["spec"]["template"]}],
        },
    }
    body = here.cluster.apply(workload)
    condition = {
        "type": "QuotaReserved",
        "status": "False",
        "reason": "Pending",
        "message": "couldn't assign flavors to pod set main: insufficient unused quota",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    here.status(body, {"conditions": [condition]})
    row = here.runs()[run["metadata"]["name"]]
    assert (row["phase"], row["queue"], row["reason"]) == ("queued", "research", "Pending")
    assert "insufficient unused quota" in row["message"]
    assert row["drift"] == [], "Kueue suspends it"


def test_drift_names_fields_and_no_values(world: Make) -> None:
    here = world("drift")
    run = here.job(more="env: {LEVEL: hidden-in-git}\n")
    path = here.cluster.path(run)
    template = run["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    template["spec"]["containers"][0]["env"][0]["value"] = "hidden-in-cluster"
    changed = {"spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": template}}}}
    assert here.cluster.client.merge(path, changed).status == 200
    output = here.gen("status")
    assert here.code == 1
    assert "[drift]" in output
    assert "spec.pytorchReplicaSpecs.Master.template.spec.containers[0].env[0].value" in output
    assert "hidden" not in output


def test_runs_that_git_does_not_have(world: Make) -> None:
    here = world("orphan")
    here.job()
    orphan = here.job(name="other")
    (here.repository.root / "jobs/orphan/other.yaml").unlink()
    here.repository.render()
    assert here.runs()[orphan["metadata"]["name"]]["git"] is None
    assert here.code == 1
    assert "not in Git" in here.gen("status")
    assert set(here.runs("orphan/demo")) == {here.rendered()[0]["metadata"]["name"]}, "only the named jobs"


def test_a_finished_run(world: Make) -> None:
    here = world("finished")
    run = here.job(kind="batch")
    here.ends(run, "SuccessCriteriaMet")
    here.job(kind="batch", more="state: finished\n", apply=False)
    assert here.runs()[run["metadata"]["name"]]["git"] == "finished"
    assert here.cluster.client.delete(here.cluster.path(run)).status == 200
    assert here.runs()[run["metadata"]["name"]]["phase"] == "gone"
    assert here.code == 0


def test_every_kind_has_a_state_in_its_status(world: Make) -> None:
    here = world("kinds")
    tests: dict[str, dict[str, Any]] = {
        "tensorflow": {"conditions": [{"type": "Succeeded", "status": "True"}]},
        "ray": {"jobDeploymentStatus": "Complete"},
        "volcano": {"state": {"phase": "Completed"}},
        "jobset": {"conditions": [{"type": "Completed", "status": "True", "reason": "a", "message": "b"}]},
    }
    names = {}
    for kind, status in tests.items():
        run = here.job(name=kind, kind=kind)
        for one in status.get("conditions", ()):
            one["lastTransitionTime"] = "2026-01-01T00:00:00Z"
        here.status(run, status)
        names[kind] = run["metadata"]["name"]
    rows = here.runs()
    assert {kind: rows[name]["phase"] for kind, name in names.items()} == dict.fromkeys(tests, "succeeded")


def test_a_ray_job_between_two_attempts_has_not_failed(world: Make) -> None:
    here = world("ray-retry")
    run = here.job(kind="ray", more="retries: 2\n")
    phases = {}
    for deployment in ("Running", "Retrying", "Failed"):
        here.status(run, {"jobDeploymentStatus": deployment, "jobStatus": "FAILED", "failed": 1, "reason": "AppFailed"})
        phases[deployment] = here.runs()[run["metadata"]["name"]]["phase"]
    assert phases == {"Running": "pending", "Retrying": "pending", "Failed": "failed"}


def test_an_ended_ray_job_shows_the_gpus_of_its_cluster(world: Make) -> None:
    """The cluster lives on, and holds them."""
    here = world("ray-kept")
    run = here.job(kind="ray", more="workers: 2\ngpus: 4\nkeepCluster: 1h\n")
    here.status(run, {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"})
    row = here.runs()[run["metadata"]["name"]]
    assert (row["phase"], row["gpus"]) == ("succeeded", 8)


def test_a_sweep_has_a_row_for_each_run(world: Make) -> None:
    here = world("sweep")
    here.job(more="env: {RATE: '{{ params.rate }}'}\nsweep: {matrix: {rate: [1, 2]}}\n", apply=False)
    first, second = here.rendered()
    for run in (first, second):
        here.cluster.apply(run)
    here.ends(first, "Succeeded")
    rows = here.runs()
    assert {name: row["phase"] for name, row in rows.items()} == {
        first["metadata"]["name"]: "succeeded",
        second["metadata"]["name"]: "pending",
    }
    assert [row["values"] for row in rows.values()] == [{"rate": "1"}, {"rate": "2"}]


def test_a_schedule_is_followed_by_its_runs(world: Make) -> None:
    here = world("schedule")
    schedule = here.job(kind="batch", more='timeout: 1h\nschedule: "0 3 * * *"\n')
    uid = here.cluster.client.get(here.cluster.path(schedule)).body["metadata"]["uid"]
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "demo", "uid": uid, "controller": True}
    started = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            **schedule["spec"]["jobTemplate"]["metadata"],
            "name": "demo-29333",
            "namespace": "schedule",
            "ownerReferences": [owner],
        },
        "spec": schedule["spec"]["jobTemplate"]["spec"],
    }
    here.cluster.apply(started)
    rows = here.runs()
    assert (rows["demo"]["phase"], rows["demo-29333"]["phase"]) == ("scheduled", "pending")
    assert (rows["demo-29333"]["git"], rows["demo-29333"]["file"]) == ("schedule", "jobs/schedule/demo.yaml")


def test_a_job_that_is_not_rendered(world: Make) -> None:
    here = world("unrendered")
    here.job()
    here.repository.job("kind: pytorch\nimage: a:1\ncommand: x\n", "new", "unrendered")
    with pytest.raises(UsageError, match="no run of `unrendered/new` is rendered"):
        here.gen("status", "unrendered/new", "--wait", "succeeded")


def test_hostile_text_from_the_cluster_is_neutral(world: Make) -> None:
    here = world("hostile")
    run = here.job()
    here.pod(run, "master", 0, waiting("Image\x1b[2JPull", "gone\x1b]0;title\x07\u202e\r\nnext ::error::x"))
    output = here.gen("status")
    assert not any(char in output for char in "\x1b\x07\r\u202e")
    assert "\x1b" not in here.gen("status", "--output", "json")
