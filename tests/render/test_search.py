"""A search is an Experiment around the run of a job, which is planned, patched and checked like any other run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from gen.job.kinds import KINDS
from gen.kubernetes.facts import held_object
from gen.kubernetes.facts.demand import any_demand, demand
from gen.kubernetes.facts.katib import EXPERIMENT, condition
from gen.review.job_list import Filters, list_jobs
from tests.render.searches import GRANT, JOB, OVERLAY, containers, experiment, job, overlay, trial
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(inner)


def test_a_trial_is_the_run_of_the_same_job(team: Repository) -> None:
    """Without the search, the job renders the object of the trial, except its name and its command."""
    job(team, "workers: 2\ngpus: 1\nqueue: research\n")
    searched = trial(team)
    assert "name" not in searched["metadata"]
    assert searched["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"
    assert "kueue.x-k8s.io/queue-name" not in experiment(team)["metadata"]["labels"]
    team.job(
        JOB.format(kind="pytorch", more="workers: 2\ngpus: 1\nparams: {lr: 1}\n", space="[1]").replace("search:", "#")
    )
    run = team.one("PyTorchJob")
    assert searched["spec"].keys() == run["spec"].keys()
    assert searched["spec"]["pytorchReplicaSpecs"].keys() == run["spec"]["pytorchReplicaSpecs"].keys()


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.facts.trial is not None])
def test_every_kind_with_a_trial_renders_one(team: Repository, kind: str) -> None:
    facts = KINDS[kind].facts
    assert condition(facts.status)
    assert condition(facts.status, failed=True)
    resource = f"{facts.kind}.{next(iter(facts.versions)).rpartition('/')[2]}.{facts.group}"
    text = OVERLAY.format(more="", grant=GRANT)
    team.overlay(text.replace("JobSet.v1alpha2.jobset.x-k8s.io", f"JobSet.v1alpha2.jobset.x-k8s.io, {resource}"))
    job(team, kind=kind)
    template = experiment(team)["spec"]["trialTemplate"]
    assert template["trialSpec"]["kind"] == facts.kind
    names = [container["name"] for text in [template["trialSpec"]] for container in containers(text)]
    assert template["primaryContainerName"] in names or not facts.pods
    for label, value in template["primaryPodLabels"].items():
        if label == "app.kubernetes.io/component":
            assert value in list(strings(template["trialSpec"]))
    assert team.render()[1] == 0


def test_patches_of_the_kind_apply_to_trials(team: Repository) -> None:
    """Nobody escapes a patch of the platform by searching."""
    patches = """\
patches:
- target: {kind: PyTorchJob}
  patch: {spec: {runPolicy: {backoffLimit: 7}}}
- target: {pods: {}}
  patch: {spec: {hostIPC: false, containers: [{name: $training, securityContext: {runAsNonRoot: true}}]}}
- target: {kind: Experiment}
  patch: [{op: replace, path: /spec/trialTemplate/retain, value: false}]
"""
    overlay(team, patches)
    job(team)
    (container,) = containers(trial(team))
    assert container["securityContext"] == {"runAsNonRoot": True}
    assert trial(team)["spec"]["runPolicy"]["backoffLimit"] == 7
    assert experiment(team)["spec"]["trialTemplate"]["retain"] is False


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ("{kind: PyTorchJob}\n  patch: {spec: {runPolicy: {unknown: 1}}}", "undefined-field"),
        ("{kind: Experiment}\n  patch: {spec: {unknown: 1}}", "undefined-field"),
        ("{kind: Experiment}\n  patch: {spec: {parallelTrialCount: 9}}", "experiment-counts"),
        ("{kind: Experiment}\n  patch: {spec: {objective: null}}", "experiment-parts"),
        ("{kind: Experiment}\n  patch: {metadata: {labels: {gen/run: other}}}", "patch-breaks"),
        ("{kind: Experiment}\n  patch: [{op: replace, path: /metadata/name, value: other}]", "patch-renames"),
        ("{kind: Experiment, name: other}\n  patch: {spec: {maxTrialCount: 1}}", "unmatched-patch"),
    ],
)
def test_patches_that_break_a_search_are_found(team: Repository, patch: str, code: str) -> None:
    overlay(team, f"patches:\n- target: {patch}\n")
    job(team)
    assert code in team.codes()


def test_the_hash_covers_the_search_and_the_metrics(team: Repository) -> None:
    def name(more: str = "", space: str = "[0.1, 0.2]", metrics: str = "[loss]") -> str:
        team.job(JOB.format(kind="pytorch", more=more, space=space).replace("[loss]", metrics))
        found: str = experiment(team)["metadata"]["name"]
        return found

    first = name()
    assert len({first, name(space="[0.1, 0.3]"), name(metrics="[loss, accuracy]"), name("attempt: 2\n")}) == 4
    assert name("labels: {cost-center: '1'}\nannotations: {note: a}\n") == first
    assert name("state: finished\n") == first


def test_a_change_of_the_metrics_replaces_a_committed_search(team: Repository) -> None:
    job(team)
    first = experiment(team)["metadata"]["name"]
    job(team, "labels: {a: b}\n")
    assert experiment(team)["metadata"]["name"] == first
    team.job(JOB.format(kind="pytorch", more="", space="[0.1, 0.2]").replace("[loss]", "[loss, accuracy]"))
    team.render()
    assert experiment(team)["metadata"]["name"] != first
    assert experiment(team)["spec"]["objective"]["additionalMetricNames"] == ["accuracy"]


def test_a_committed_search_is_kept_when_the_platform_changes(team: Repository) -> None:
    job(team, "queue: research\nlabels: {a: b}\n")
    assert team.render()[1] == 0
    before = experiment(team)
    overlay(team, "defaults: {env: {NEW: a}}\n")
    report, code = team.render()
    assert (code, [finding.code for finding in report.findings]) == (0, [])
    assert experiment(team) == before
    job(team, "queue: research\nlabels: {a: c}\n")
    assert team.render()[1] == 0
    assert experiment(team)["spec"] == before["spec"]
    assert experiment(team)["metadata"]["labels"]["a"] == "c"


def test_trials_at_the_same_time_count(team: Repository) -> None:
    job(team, "workers: 2\ngpus: 4\ntimeout: 2h\n")
    text = JOB.format(kind="pytorch", more="workers: 2\ngpus: 4\ntimeout: 2h\n", space="[0.1, 0.2]")
    text = text.replace("python", "torchrun")
    team.job(text.replace("maxTrials: 4", "maxTrials: 4, parallelTrials: 3"))
    asked = demand(experiment(team), EXPERIMENT, {})
    assert (asked.pods, asked.gpus, asked.seconds) == (6, 24, 2 * 7200)
    assert any_demand(experiment(team)).gpus == 24
    overlay(team, grant=f"{GRANT}, gpus: 23")
    assert team.codes() == ["over-quota"]
    overlay(team, grant=f"{GRANT}, gpus: 24")
    assert team.codes() == []


@pytest.mark.parametrize("count", [None, "a", -1, [], 10**30])
def test_the_demand_of_any_experiment_is_a_number(team: Repository, count: Any) -> None:
    job(team, "gpus: 1\n")
    body = json.loads(json.dumps(experiment(team)))
    body["spec"]["parallelTrialCount"] = body["spec"]["maxTrialCount"] = count
    assert any_demand(body).gpus >= 1
    nested = {**body, "spec": {"trialTemplate": {"trialSpec": body}}}
    assert held_object(nested) == body
    assert any_demand(nested).gpus == 0


def test_a_trial_has_a_gang_of_its_own_or_no_queue(team: Repository) -> None:
    queues = "queues: {research: {%s}}\n"
    for profile, refused in (
        ("kueue: research", False),
        ("volcano: research", False),
        ("yunikorn: root.a", True),
        ("ack: {}", True),
    ):
        overlay(team, queues % profile)
        job(team, "queue: research\n", kind="xgboost")
        codes = team.codes()
        assert ("unsupported-queue" in codes) is refused or profile == "kueue: research", (profile, codes)


def test_the_name_leaves_room_for_trials_and_their_pods(team: Repository) -> None:
    job(team, f"name: {'a' * 31}\n")
    assert team.codes() == []
    assert len(experiment(team)["metadata"]["name"]) == 40
    job(team, f"name: {'a' * 32}\n")
    assert team.codes() == ["name-too-long"]


def test_a_trial_is_no_array(team: Repository) -> None:
    job(team, "workers: 3\narray: true\n", kind="batch")
    assert "invalid-value" in team.codes()
    job(team, "workers: 1\n", kind="batch")
    assert team.codes() == []


def test_lists_show_trials_at_the_same_time(team: Repository) -> None:
    text = JOB.format(kind="pytorch", more="gpus: 2\n", space="[0.1, 0.2]")
    team.job(text.replace("maxTrials: 4", "maxTrials: 4, parallelTrials: 3"))
    (row,) = list_jobs(team.root, (), (), Filters()).rows
    assert (row.gpus, row.workers, row.errors) == (6, 3, ())


def test_the_metrics_of_an_mpi_runtime_are_in_the_log_of_its_launcher(team: Repository) -> None:
    written = JOB.format(kind="train", more="runtime: deepspeed-distributed\n", space="[0.1, 0.2]").splitlines()
    team.job("\n".join(line for line in written if not line.startswith("image:")))
    labels = experiment(team)["spec"]["trialTemplate"]["primaryPodLabels"]
    assert labels["jobset.sigs.k8s.io/replicatedjob-name"] == "launcher"
