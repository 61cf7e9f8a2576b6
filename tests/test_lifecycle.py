"""Permissions of GitOps engines and queues are written on the object."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cases import for_each
from tests.lifecycle import ENGINES, JOB
from tests.support import OVERLAY, Repository

KINDS = {"pytorch": "PyTorchJob", "tensorflow": "TFJob", "mpi": "MPIJob", "batch": "Job"}
FORBIDDEN = (
    "app.kubernetes.io/instance",
    "argocd.argoproj.io/tracking-id",
    "argocd.argoproj.io/sync-wave",
    "argocd.argoproj.io/hook",
    "Force=true",
    "Replace=true",
    "PruneLast=true",
    "CreateNamespace=true",
    "/force: enabled",
    "kind: Namespace",
    "kind: Secret",
    "ownerReferences",
    "finalizers",
    "ttlSecondsAfterFinished",
    "generateName",
    "creationTimestamp",
    "\nstatus:",
    "null",
)


SKIP = {"argocd.argoproj.io/hook": "Skip"}
IGNORE = {"kustomize.toolkit.fluxcd.io/ssa": "Ignore"}
ONCE = {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}


def run_objects(repo: Repository, kind: str, more: str, overlay: str = "") -> list[dict[str, Any]]:
    repo.overlay(OVERLAY + overlay)
    repo.job(JOB.format(kind=kind) + more)
    return [body for body in repo.objects() if "gen/run" in body["metadata"].get("labels", {})]


def marks(objects: list[dict[str, Any]]) -> dict[str, str]:
    """Metadata that all objects have in common."""
    (first, *others) = [body["metadata"].get("annotations", {}) for body in objects]
    assert all(other == first for other in others)
    found: dict[str, str] = first
    return found


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("engine", ["", "argocd", "flux"])
def test_a_finished_run_is_left_alone_by_every_engine(repo: Repository, kind: str, engine: str) -> None:
    """D5, also for an engine that the overlay does not name: it may take over (D13).

    Argo CD makes no sync task of an object with this hook, and neither prunes, compares nor counts it in health
    (`gitops-engine/pkg/sync/sync_phase.go`, `controller/state.go`, `controller/health.go`). Flux neither applies nor
    health-checks one with this value (`fluxcd/pkg/ssa/manager_apply.go`, `shouldSkipApply`).
    """
    objects = run_objects(repo, kind, "state: finished\n", ENGINES[engine])
    assert marks(objects) == {**SKIP, **IGNORE}
    assert suspended(objects, kind) is None


@for_each("kind", list(KINDS))
@for_each("engine", ["", "flux"])
def test_flux_creates_a_run_of_a_queue_and_then_leaves_it_to_the_queue(
    repo: Repository, kind: str, engine: str
) -> None:
    """D4. Flux skips an object that is there (`shouldSkipApply`), so it never takes back what Kueue set in it."""
    objects = run_objects(repo, kind, "queue: research\n", ENGINES[engine])
    assert marks(objects) == ONCE
    assert marks(run_objects(repo, kind, "queue: research\n", ENGINES["argocd"])) == {}


@for_each("kind", list(KINDS))
@for_each("engine", ["", "argocd", "flux"])
@for_each(("state", "expected"), [("active", None), ("suspended", True)])
def test_a_run_without_a_queue_is_suspended_and_resumed_from_git(
    repo: Repository, kind: str, engine: str, state: str, expected: bool | None
) -> None:
    """`IfNotPresent` would have Flux skip either change, since the object is there."""
    objects = run_objects(repo, kind, f"state: {state}\n", ENGINES[engine])
    assert marks(objects) == {}
    assert suspended(objects, kind) is expected


def suspended(objects: list[dict[str, Any]], kind: str) -> bool | None:
    (spec,) = [body["spec"] for body in objects if body["kind"] == KINDS[kind]]
    found: bool | None = spec.get("runPolicy", spec).get("suspend")
    return found


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_run_is_bounded_in_time_and_frees_what_still_runs(repo: Repository, kind: str) -> None:
    """D2: the operator's own default keeps the pods, and no time to live deletes the object (`CleanupJob`)."""
    objects = run_objects(repo, kind, "timeout: 12h\n")
    (spec,) = [body["spec"] for body in objects if body["kind"] == KINDS[kind]]
    policy = spec.get("runPolicy", spec)
    assert policy["activeDeadlineSeconds"] == 12 * 3600
    assert policy.get("cleanPodPolicy") == (None if kind == "batch" else "Running")
    assert "ttlSecondsAfterFinished" not in str(objects)


@pytest.mark.parametrize("naming", ["hash", "stable"])
def test_the_config_map_of_a_run_is_its_own_and_cannot_change(repo: Repository, naming: str) -> None:
    """D10: pods that start late would otherwise read the settings of a later run."""
    names = set()
    for content in ("one", "two"):
        objects = run_objects(repo, "pytorch", f"params: {{}}\nargs: []\nenv: {{A: {content}}}\n", RUNS[naming])
        by_kind = {body["kind"]: body for body in objects}
        assert by_kind["ConfigMap"]["immutable"] is True
        digest = by_kind["ConfigMap"]["metadata"]["labels"]["gen/run"]
        names.add(by_kind["ConfigMap"]["metadata"]["name"])
        assert by_kind["ConfigMap"]["metadata"]["name"] == f"demo-{digest}-files"
        assert f"demo-{digest}-files" in str(by_kind["PyTorchJob"]["spec"])
    assert len(names) == 2


RUNS = {"hash": "", "stable": "runs: {naming: stable}\n"}


@pytest.mark.parametrize("naming", ["hash", "stable"])
def test_an_output_path_with_the_run_in_it_is_the_runs_own(repo: Repository, naming: str) -> None:
    """D11: a new run starts before the old one is gone, and both would write to one place."""
    seen = set()
    for lr in ("1", "2"):
        repo.overlay(OVERLAY + RUNS[naming])
        more = f"env: {{LR: {lr}, OUT: '/out/{{{{ run.id }}}}'}}\n"
        repo.job(
            "kind: batch\nimage: a:1\ncommand: x\n"
            "data: {nas: {path: /ckpt, subPath: 'out/{{ run.id }}'}, data: '/in/{{ run.hash }}'}\n" + more
        )
        body = repo.one("Job")
        digest = body["metadata"]["labels"]["gen/run"]
        (container,) = body["spec"]["template"]["spec"]["containers"]
        mounts = {mount["name"]: mount for mount in container["volumeMounts"]}
        assert mounts["nas"]["subPath"] == f"out/demo-{digest}"
        assert mounts["data"]["mountPath"] == f"/in/{digest}"
        assert {"name": "OUT", "value": f"/out/demo-{digest}"} in container["env"]
        seen.add(digest)
    assert len(seen) == 2


@for_each(
    ("data", "logdir", "mount", "shown"),
    [
        ("{nas: /data}", "/data/logs/{{ run.id }}/tb", {"mountPath": "/data"}, "/data/logs"),
        ("{nas: /data}", "/data/run-{{ run.hash }}", {"mountPath": "/data"}, "/data"),
        ("{nas: {path: /d, subPath: 'o/{{ run.id }}'}}", "/d/tb", {"mountPath": "/d", "subPath": "o"}, "/d"),
        ("{nas: {path: /d, subPath: '{{ run.id }}'}}", "/d", {"mountPath": "/d"}, "/d"),
        ("{nas: '/o/{{ run.id }}'}", "/o/{{ run.id }}/tb", {"mountPath": "/nas"}, "/nas/tb"),
    ],
)
def test_a_tensorboard_shows_all_runs(
    repo: Repository, data: str, logdir: str, mount: dict[str, str], shown: str
) -> None:
    more = f"data: {data}\ntensorboard: {{logdir: '{logdir}'}}\n"
    repo.job("kind: batch\nimage: a:1\ncommand: x\n" + more)
    body = repo.one("Deployment")
    container = body["spec"]["template"]["spec"]["containers"][0]
    assert container["args"][0] == f"--logdir={shown}"
    assert container["volumeMounts"][0] == {"name": "nas", "readOnly": True, **mount}


@pytest.mark.parametrize(
    ("volume", "mount", "read_only"),
    [
        ("mountReadOnly: true", "/in", True),
        ("mountReadOnly: true", "{path: /in, readOnly: false}", None),
        ("mountReadOnly: false", "{path: /in, readOnly: true}", True),
        ("readOnly: false", "/in", None),
    ],
)
def test_an_overlay_marks_volumes_as_datasets(
    repo: Repository, volume: str, mount: str, read_only: bool | None
) -> None:
    repo.overlay(f'kubernetes: "1.34"\nvolumes: {{imagenet: {{claim: imagenet, {volume}}}}}\n')
    repo.job(f"kind: batch\nimage: a:1\ncommand: x\ndata: {{imagenet: {mount}}}\n")
    (container,) = repo.one("Job")["spec"]["template"]["spec"]["containers"]
    assert container["volumeMounts"][0].get("readOnly") is read_only


@pytest.mark.parametrize("kind", list(KINDS))
def test_what_is_never_rendered(repo: Repository, kind: str) -> None:
    repo.job(JOB.format(kind=kind))
    repo.render()
    text = "".join(repo.rendered().values()).replace("/dev/null", "")
    assert [word for word in FORBIDDEN if word in text] == []


def test_a_queue_is_a_label_of_the_job_and_of_nothing_else(repo: Repository) -> None:
    repo.job(JOB.format(kind="pytorch") + "queue: research\n")
    body = repo.one("PyTorchJob")
    assert body["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"
    assert "suspend" not in body["spec"]["runPolicy"]
    assert "kueue" not in str(body["spec"])


def test_metrics_are_an_annotation_of_the_run(repo: Repository) -> None:
    repo.job(JOB.format(kind="mpi") + "metrics: [{name: images/sec}, {name: accuracy, format: percentage}]\n")
    listed = json.loads(repo.one("MPIJob")["metadata"]["annotations"]["gen/metrics"])
    assert [(one["name"], one["format"]) for one in listed] == [("images/sec", "raw"), ("accuracy", "percentage")]
    assert "gen/metrics" not in str(repo.one("MPIJob")["spec"])


def test_only_kinds_with_an_operator_clean_up(repo: Repository) -> None:
    repo.job(JOB.format(kind="pytorch") + "cleanup: All\n")
    assert repo.one("PyTorchJob")["spec"]["runPolicy"]["cleanPodPolicy"] == "All"
    repo.job(JOB.format(kind="batch") + "cleanup: All\n")
    assert repo.codes() == ["unknown-field"]


def test_labels_of_a_job_are_on_its_objects_and_not_on_its_pods(repo: Repository) -> None:
    repo.job(JOB.format(kind="batch") + "labels: {cost-center: '42'}\npodLabels: {app: demo}\n")
    for body in repo.objects():
        of_job = "gen/job" in body["metadata"]["labels"]
        assert (body["metadata"]["labels"].get("cost-center") == "42") is of_job
    pod = repo.one("Job")["spec"]["template"]["metadata"]["labels"]
    assert pod["app"] == "demo"
    assert "cost-center" not in pod
