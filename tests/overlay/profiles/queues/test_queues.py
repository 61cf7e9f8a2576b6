"""Every scheduler of queues with every kind: rendered fields or refusal, and the source of a run's queue."""

from __future__ import annotations

import shutil

import pytest
import yaml

from gen.commands.new import job_text
from gen.job.queue import Gang
from gen.overlay.profiles.queues import QUEUES
from tests.cases import for_each
from tests.history import History, branch
from tests.overlay.profiles.queues.examples import EXAMPLES, PAIRS, declared, group_size, is_refused, members, queued
from tests.support import OVERLAY, Repository, validated


def test_every_scheduler_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(QUEUES)


@for_each(("kind", "name"), PAIRS)
def test_a_kind_is_queued_or_refused(kind: str, name: str, repo: Repository) -> None:
    repo.overlay(declared(name))
    if is_refused(kind, name):
        repo.job(job_text(kind, with_schema=False) + "queue: gold\n")
        errors = [one for one in repo.render()[0].findings if one.severity == "error"]
        assert [one.code for one in errors] == ["unsupported-queue"]
        assert f"queue `gold` with `{name}` cannot take" in errors[0].message
        return
    body = queued(repo, kind)
    assert body["metadata"]["labels"]["gen/queue"] == "gold"
    assert validated(repo.root / "rendered")[1] == 0
    size = group_size(body, repo.objects())
    if name == "kueue":
        assert body["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"
        assert size is None
    elif size is not None:
        assert size == sum(count for count, _ in members(body))
    elif kind != "ray":  # KubeRay counts them
        pytest.fail("no group")


def test_the_pairs_that_are_refused() -> None:
    refused = {pair for pair in PAIRS if is_refused(*pair)}
    gangs = {name for name in QUEUES if issubclass(QUEUES[name], Gang)}
    volcano = {("volcano", name) for name in QUEUES if name != "volcano"}
    assert refused == volcano | {("train", name) for name in gangs}


def test_kueue_suspends_and_git_does_not(repo: Repository) -> None:
    repo.overlay(declared("kueue"))
    assert "suspend" not in queued(repo, "batch")["spec"]
    repo.job(job_text("batch", with_schema=False) + "queue: gold\nstate: suspended\n")
    assert "suspended-in-queue" in repo.codes()


def test_an_accelerator_needs_the_scheduler_of_the_queue(repo: Repository) -> None:
    accelerators = {"accelerators": {"npu": {"ascend": "910B"}}}
    repo.job("kind: batch\nimage: a:1\ncommand: x\ngpus: 1\nqueue: gold\n")
    repo.overlay(declared("volcano", **accelerators))
    assert "invalid-value" not in repo.codes()
    repo.overlay(declared("yunikorn", **accelerators))
    messages = [one.message for one in repo.render()[0].findings]
    assert "queue `gold` schedules pods with `yunikorn`, but those with GPUs need `volcano`" in messages


def test_mpi_of_v1_is_not_queued_by_kueue(repo: Repository) -> None:
    for overlay in (declared("kueue"), OVERLAY):
        operators = "operators: {mpi: kubeflow.org/v1}\n"
        repo.overlay(overlay + operators)
        queue = "gold" if overlay is not OVERLAY else "research"
        repo.job(job_text("mpi", with_schema=False) + f"queue: {queue}\n")
        assert "unsupported-queue" in repo.codes()


def test_a_queue_of_a_run_is_part_of_its_identity(repo: Repository) -> None:
    names = set()
    for fields in ({"localQueue": "a"}, {"localQueue": "b"}, {"localQueue": "a", "priorityClass": "p"}):
        repo.overlay(declared("kueue", fields))
        shutil.rmtree(repo.root / "rendered", ignore_errors=True)  # a committed run keeps its queue
        names.add(queued(repo, "batch")["metadata"]["name"])
    assert len(names) == 3


@pytest.mark.parametrize(
    ("name", "kind", "patch", "what"),
    [
        ("volcano", "Job", "{spec: {template: {spec: {schedulerName: other}}}}", "selects another scheduler"),
        ("ack", "Job", "{spec: {template: {spec: {schedulerName: other}}}}", "selects another scheduler"),
        (
            "coscheduling",
            "Job",
            "{spec: {template: {metadata: {labels: {scheduling.x-k8s.io/pod-group: other}}}}}",
            "changes `scheduling.x-k8s.io/pod-group`",
        ),
        (
            "kueue",
            "Job",
            "{metadata: {labels: {kueue.x-k8s.io/queue-name: other}}}",
            "changes `kueue.x-k8s.io/queue-name`",
        ),
    ],
)
def test_no_patch_takes_a_run_out_of_its_queue(name: str, kind: str, patch: str, what: str, repo: Repository) -> None:
    patches = {"patches": [{"target": {"kind": kind}, "patch": yaml.safe_load(patch)}]}
    repo.overlay(declared(name, **patches))
    repo.job("kind: batch\nimage: a:1\ncommand: x\nqueue: gold\n")
    (error,) = [one for one in repo.render()[0].findings if one.severity == "error"]
    assert error.code == "patch-breaks"
    assert what in error.message


def test_a_patch_may_add_what_kueue_also_reads(repo: Repository) -> None:
    patch = {"metadata": {"labels": {"kueue.x-k8s.io/max-exec-time-seconds": "60"}}}
    repo.overlay(declared("kueue", patches=[{"target": {"kind": "Job"}, "patch": patch}]))
    assert queued(repo, "batch")["metadata"]["labels"].items() >= patch["metadata"]["labels"].items()


@for_each(
    "key",
    [
        "kueue.x-k8s.io/priority-class",
        "pod-group.scheduling.sigs.k8s.io/name",
        "queue",
        "scheduling.k8s.io/group-name",
        "scheduling.volcano.sh/queue-name",
        "scheduling.x-k8s.io/pod-group",
        "yunikorn.apache.org/queue",
    ],
)
def test_no_job_sets_what_a_scheduler_reads(key: str, repo: Repository) -> None:
    repo.overlay('kubernetes: "1.34"\nnamespaces: {"*": {metadata: ["*"]}}\n')
    for field in ("labels", "podLabels", "podAnnotations"):
        repo.job(f"kind: batch\nimage: a:1\ncommand: x\n{field}: {{{key}: other}}\n")
        assert "reserved-metadata" in repo.codes()


def test_argo_cd_ignores_differences_only_where_kueue_makes_them(repo: Repository) -> None:
    argocd = {"gitops": {"argocd": {"repoURL": "https://git.example.com/a.git"}}}
    expected = {"kueue": True, "volcano": False}
    for name, ignored in expected.items():
        repo.overlay(declared(name, **argocd))
        queued(repo, "batch")
        files = repo.rendered()
        applications = files["argocd/dev/applications/applicationset-dev-jobs.yaml"]
        assert ("ignoreDifferences" in applications) is ignored
        assert ("PodGroup" in "".join(text for path, text in files.items() if "appproject" in path)) is not ignored


def test_a_committed_run_keeps_its_queue(repo: Repository) -> None:
    repo.overlay(declared("kueue", {"localQueue": "a", "priorityClass": "low"}))
    before = queued(repo, "batch")
    repo.overlay(declared("kueue", {"localQueue": "b", "priorityClass": "high"}))
    assert queued(repo, "batch")["metadata"] == before["metadata"]
    repo.overlay(declared("volcano"))
    assert queued(repo, "batch") == before


def test_a_run_in_a_queue_that_is_declared_later_stays_the_same_run(repo: Repository) -> None:
    repo.job(job_text("batch", with_schema=False) + "queue: research\n")
    repo.overlay('kubernetes: "1.34"\nnamespaces: {team: {queues: [research]}}\n')
    before = repo.one("Job")
    repo.overlay(declared("kueue").replace("gold", "research"))
    assert "kept-run-not-granted" not in repo.codes()
    after = repo.one("Job")
    assert after["metadata"]["labels"].pop("gen/queue") == "research"
    assert after == before


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_plan_shows_the_queue_of_the_job_and_holds_its_gpus_against_the_quota(name: str, history: History) -> None:
    granted = {"namespaces": {"team": {"queues": ["gold"], "gpus": 3}}}
    history.overlay(declared(name, **granted))
    branch(history)
    history.job("kind: batch\nimage: a:1\ncommand: x\nworkers: 2\ngpus: 2\ntimeout: 1h\nqueue: gold\n")
    assert [finding.code for finding in history.render()[0].findings] == ["over-quota"]
    granted["namespaces"]["team"]["gpus"] = 4
    history.overlay(declared(name, **granted))
    history.rendering()
    review = history.plan()
    assert review.findings == ()
    (run,) = review.runs
    assert (run.latest.queue, run.latest.demand.gpus) == ("gold", 4)
    (usage,) = review.usage
    assert (usage.key.queue, usage.after.gpus) == ("gold", 4)


def test_kueue_places_a_master_and_its_workers_in_one_domain(repo: Repository) -> None:
    topology = "topology: {required: example.com/block}"
    repo.overlay(
        f'kubernetes: "1.34"\nqueues: {{gold: {{kueue: {{localQueue: research, {topology}}}}}}}\n'
        'namespaces: {"*": {queues: [gold]}}\n'
    )
    repo.job("kind: mpi\nimage: a:1\ncommand: mpirun train\nworkers: 4\nqueue: gold\n")
    specs = repo.one("MPIJob")["spec"]["mpiReplicaSpecs"].values()
    keys = [one["template"]["metadata"]["annotations"] for one in specs]
    assert {key["kueue.x-k8s.io/podset-group-name"] for key in keys} == {"run"}
    assert {key["kueue.x-k8s.io/podset-required-topology"] for key in keys} == {"example.com/block"}


@pytest.mark.parametrize(
    "name",
    [
        *("batch/job", "ray.io/rayservice", "kubeflow.org/pytorchjob"),
        *("sparkoperator.k8s.io/sparkapplication", "workload.codeflare.dev/appwrapper"),
    ],
)
def test_a_framework_that_kueue_ships_may_be_listed(repo: Repository, name: str) -> None:
    repo.overlay(f'kubernetes: "1.34"\nqueues: {{gold: {{kueue: {{localQueue: a, frameworks: ["{name}"]}}}}}}\n')
    assert repo.codes() == []
