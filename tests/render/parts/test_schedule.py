"""Decisions for schedules; `tests/errors` has the mistakes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import yaml

from gen.job.kinds import KINDS
from tests.cases import for_each
from tests.support import OVERLAY, Repository

JOB = "kind: batch\nimage: a:1\ncommand: x\nworkers: 2\ngpus: 4\nmemory: 1Gi\ntimeout: 1h\n"


@pytest.mark.parametrize(
    ("schedule", "gpus"),
    [
        ("'*/20 * * * *'", 8),
        ("{cron: '*/20 * * * *', concurrency: Replace}", 8),
        ("{cron: '*/20 * * * *', concurrency: Allow}", 24),
        ("{cron: '@daily', concurrency: Allow}", 8),
    ],
)
def test_the_quota_counts_the_runs_that_can_overlap(repo: Repository, schedule: str, gpus: int) -> None:
    repo.job(f"{JOB}schedule: {schedule}\n")
    for quota, codes in ((gpus, []), (gpus - 1, ["over-quota"])):
        repo.overlay(OVERLAY.replace("allow:", f"gpus: {quota}\n    allow:"))
        assert repo.codes() == codes


def test_a_suspended_schedule_still_counts(repo: Repository) -> None:
    """A run that it has started goes on, so suspending it must not free the quota for another job."""
    repo.overlay(OVERLAY.replace("allow:", "gpus: 0\n    allow:"))
    repo.job(f"{JOB}schedule: '@daily'\nstate: suspended\n")
    assert repo.codes() == ["over-quota"]
    repo.overlay(OVERLAY)
    assert repo.one("CronJob")["spec"]["suspend"] is True


def test_the_name_stays_and_the_pods_have_that_of_their_run(repo: Repository) -> None:
    repo.job(f"{JOB}schedule: '@daily'\n")
    first = repo.one("CronJob")
    repo.job(f"{JOB.replace('a:1', 'a:2')}schedule: '@daily'\n")
    second = repo.one("CronJob")
    assert (first["metadata"]["name"], second["metadata"]["name"]) == ("demo", "demo")
    assert first["metadata"]["labels"]["gen/run"] != second["metadata"]["labels"]["gen/run"]
    env = second["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert [entry["name"] for entry in env][:2] == ["JOB_NAME", "MASTER_ADDR"], "a variable can refer to earlier ones"
    assert env[1]["value"] == "$(JOB_NAME)-0.demo"


def test_a_sweep_has_a_schedule_for_each_combination(repo: Repository) -> None:
    sweep = "sweep: {matrix: {lr: [0.1, 0.01]}}\nenv: {LR: '{{ params.lr }}'}\n"
    repo.job(f"{JOB}schedule: '@daily'\n{sweep}")
    names = {body["metadata"]["name"] for body in repo.objects() if body["kind"] == "CronJob"}
    assert names == {"demo-lr-0p1", "demo-lr-0p01"}


def test_a_change_of_the_platform_reaches_a_schedule(repo: Repository) -> None:
    repo.job(f"{JOB}schedule: '@daily'\n")
    before = repo.one("CronJob")
    repo.overlay(OVERLAY + "defaults: {env: {NEW: a}}\n")
    assert repo.one("CronJob")["spec"] != before["spec"]


def test_rendering_imports_no_rule_of_the_server() -> None:
    """They take as long as rendering a hundred jobs, and only patches and manifests need them."""
    code = "import sys, gen.render.pipeline; print([name for name in sys.modules if 'rules.server' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


OTHERS = [kind for kind, model in KINDS.items() if not model.own_fields and kind != "batch"]


@for_each("kind", OTHERS)
def test_other_kinds_have_a_workflow_for_each_time(repo: Repository, kind: str) -> None:
    job = {"kind": kind, **KINDS[kind].example, "env": {"RUN": "{{ run.id }}"}}
    repo.job(yaml.safe_dump(job))
    once = next(body for body in repo.objects() if body["kind"] == KINDS[kind].facts.kind)
    repo.job(yaml.safe_dump({**job, "schedule": "0 3 * * *"}))
    (body,) = repo.objects()
    assert (body["kind"], body["metadata"]["name"]) == ("CronWorkflow", "demo")
    _, create, wait = body["spec"]["workflowSpec"]["templates"]
    inner = json.loads(create["resource"]["manifest"])
    assert (inner["kind"], inner["metadata"]["name"]) == (once["kind"], "{{workflow.name}}")
    assert wait["resource"]["flags"][1] == "{{workflow.name}}"
    run, hashed = once["metadata"]["labels"]["gen/run"], body["metadata"]["labels"]["gen/run"]
    plain = json.dumps(inner["spec"]).replace("{{workflow.name}}", f"demo-{run}").replace(hashed, run)
    assert plain == json.dumps(once["spec"])


def test_the_state_of_a_schedule_is_not_that_of_its_runs(repo: Repository) -> None:
    repo.job(f"{JOB.replace('batch', 'pytorch')}schedule: '@daily'\nstate: suspended\n")
    (body,) = repo.objects()
    assert body["spec"]["suspend"] is True
    inner = json.loads(body["spec"]["workflowSpec"]["templates"][1]["resource"]["manifest"])
    assert "suspend" not in inner["spec"].get("runPolicy", {})


def test_an_edit_keeps_the_name_of_the_schedule(repo: Repository) -> None:
    repo.job(f"{JOB.replace('batch', 'pytorch')}schedule: '@daily'\n")
    (first,) = repo.objects()
    repo.job(f"{JOB.replace('batch', 'pytorch').replace('a:1', 'a:2')}schedule: '@daily'\n")
    (second,) = repo.objects()
    assert first["metadata"]["name"] == second["metadata"]["name"] == "demo"
    assert first["metadata"]["labels"]["gen/run"] != second["metadata"]["labels"]["gen/run"]
