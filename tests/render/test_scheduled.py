"""Pipelines with a schedule: each run is a workflow with a name of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gen.job.kinds import KINDS
from tests.cases import for_each
from tests.support import OVERLAY, Repository

PIPELINE = """\
kind: pipeline
image: a:1
command: "x --out /data/{{ run.id }}"
data: {nas: {path: /data, subPath: "{{ run.id }}"}}
metrics: [loss]
schedule: "0 3 * * *"
timeout: 2h
steps:
  train: {kind: pytorch, workers: 2, gpus: 4, results: {best: checkpoint}}
  evaluate:
    kind: batch
    needs: [train]
    command: python evaluate.py --from {{ steps.train.results.best }}
"""
ALLOWED = {"CronWorkflow", "PersistentVolume", "PersistentVolumeClaim"}


def manifest(body: dict[str, Any], step: str) -> dict[str, Any]:
    (template,) = [one for one in body["spec"]["workflowSpec"]["templates"] if one["name"] == step]
    found: dict[str, Any] = json.loads(template["resource"]["manifest"])
    return found


def test_a_pipeline_is_the_workflow_of_its_schedule(repo: Repository) -> None:
    repo.job(PIPELINE)
    body = repo.one("CronWorkflow")
    assert {one["kind"] for one in repo.objects()} == ALLOWED
    assert (body["metadata"]["name"], body["spec"]["schedules"]) == ("demo", ["0 3 * * *"])
    assert body["spec"]["concurrencyPolicy"] == "Forbid"
    assert "gen/metrics" in body["metadata"]["annotations"]
    for step in ("train", "evaluate"):
        assert manifest(body, step)["metadata"]["name"] == f"{{{{workflow.name}}}}-{step}"
        (wait,) = [one for one in body["spec"]["workflowSpec"]["templates"] if one["name"] == f"{step}-wait"]
        assert wait["resource"]["flags"][1] == f"{{{{workflow.name}}}}-{step}"
    (container,) = manifest(body, "train")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"]
    assert container["command"][-1] == "x --out /data/{{workflow.name}}"
    assert container["volumeMounts"][0]["subPath"] == "{{workflow.name}}"


@for_each("kind", [kind for kind, model in KINDS.items() if not model.own_fields])
def test_no_other_object_than_the_schedule_belongs_to_one_run(kind: str, repo: Repository) -> None:
    """It would be the same for all runs, or be removed from those that are running."""
    fields = {name: value for name, value in KINDS[kind].example.items() if name != "workers"}
    repo.job(f'kind: pipeline\nschedule: "@daily"\nsteps: {{only: {json.dumps({"kind": kind, **fields})}}}\n')
    assert {one["kind"] for one in repo.objects()} <= ALLOWED
    assert "trial-" not in json.dumps(repo.one("CronWorkflow"))


def test_copies_of_each_run_have_a_folder_of_its_own(repo: Repository) -> None:
    repo.job(PIPELINE.replace("{kind: pytorch,", "{kind: pytorch, outputs: {/out: {volume: nas, path: results}},"))
    workload = json.dumps(manifest(repo.one("CronWorkflow"), "train"))
    assert '{"name": "GEN_RUN", "value": "{{workflow.name}}-train"}' in workload
    assert "results/$(GEN_RUN)/" in workload


@pytest.mark.parametrize(("gpus", "codes"), [(8, []), (7, ["over-quota"])])
def test_the_quota_counts_one_run(repo: Repository, gpus: int, codes: list[str]) -> None:
    repo.overlay(OVERLAY.replace("allow:", f"gpus: {gpus}\n    allow:"))
    for more in ("", "state: suspended\n"):
        repo.job(PIPELINE + more)
        assert repo.codes() == codes


@pytest.mark.parametrize(("length", "codes"), [(41, set()), (42, {"name-too-long"})])
def test_the_limit_of_names(repo: Repository, length: int, codes: set[str]) -> None:
    """`<job>-<10 digits>-evaluate-0` is the longest name of a pod."""
    repo.job(PIPELINE.replace("train", "t"), name="d" * length)
    assert set(repo.codes()) == codes


def test_an_edit_changes_the_schedule_in_place(repo: Repository) -> None:
    repo.job(PIPELINE)
    first = repo.one("CronWorkflow")
    repo.job(PIPELINE.replace("gpus: 4", "gpus: 2"))
    second = repo.one("CronWorkflow")
    assert first["metadata"]["name"] == second["metadata"]["name"]
    assert first["spec"] != second["spec"]


def test_results_are_those_of_the_workflow(repo: Repository) -> None:
    """All runs have the same hash, and the pods of the last ones are still there."""
    repo.job(PIPELINE)
    body = repo.one("CronWorkflow")
    (reader,) = [one for one in body["spec"]["workflowSpec"]["templates"] if one["name"] == "train-results"]
    labels = dict(one.split("=") for one in reader["container"]["args"][1].split(","))
    assert labels["gen/workflow"] == "{{workflow.name}}"
    master = manifest(body, "train")["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["metadata"]["labels"]
    assert labels.items() <= master.items()
