"""A change of the platform, or of gen, neither starts nor stops a run of an unchanged job."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.job.kinds import KINDS
from gen.render.parts.pods import pod_template
from gen.review.runs import RunAction
from tests.history import History
from tests.support import OVERLAY

if TYPE_CHECKING:
    from gen.job.plan import Plan, PodPlan
    from gen.kubernetes.facts.base import Resource
    from gen.kubernetes.objects import Body

JOBS = 50
ROUTE = "/spec/template/spec/terminationGracePeriodSeconds"
PATCH = {
    "target": {"group": "batch", "kind": "Job"},
    "patch": yaml.safe_dump([{"op": "add", "path": ROUTE, "value": 45}]),
}
"""Changes every run of one kind."""
CHANGES = {
    "the image of git-sync": "codeSync: {gitImage: registry.example.com/git-sync:v5}\n",
    "a default": "defaults: {podLabels: {team: research}}\n",
    "a patch": yaml.safe_dump({"patches": [PATCH]}),
    "a mirror": "images: [{from: docker.io/, to: mirror.example.com/}, {from: registry.k8s.io/, to: b.example.com/}]\n",
}


def job_of(kind: str) -> dict[str, Any]:
    files = {"files": {"/etc/a": "b"}, "data": {"nas": "/data"}, "tensorboard": True}
    example: dict[str, Any] = dict(KINDS[kind].example)
    own = {"git": "https://git.example.com/a.git"}
    more = {**files, "code": {**own, **example.get("code", {}), "ref": "v1"}}
    unsupported = KINDS[kind].unsupported_fields()
    return {"kind": kind, **example, **{k: v for k, v in more.items() if k not in unsupported}}


WITH_PODS = sorted(kind for kind in KINDS if "code" not in KINDS[kind].unsupported_fields())
"""Kinds with pods that gen builds. Those of a TrainJob come from its runtime."""
JOB_FILES = {
    f"jobs/team-{index % 3}/job-{index}.yaml": job_of(WITH_PODS[index % len(WITH_PODS)]) for index in range(JOBS)
}


def has_a_job(fields: dict[str, Any]) -> bool:
    """Whether a run is a Job of Kubernetes, or has a step that is one."""
    steps = fields.get("steps", {}).values()
    return "batch" in {fields["kind"], *(step.get("kind") for step in steps)}


@pytest.fixture
def active(history: History) -> History:
    """50 active jobs of all kinds at the base."""
    history.git("switch", "--quiet", "main")
    for path, fields in JOB_FILES.items():
        history.write(path, yaml.safe_dump(fields, sort_keys=False))
    history.commit("jobs")
    history.git("switch", "--quiet", "--force-create", "topic")
    return history


def bump_gen(patch: pytest.MonkeyPatch) -> None:
    """A new version of gen that renders every pod differently."""

    def changed(plan: Plan, pod: PodPlan, facts: Resource) -> Body:
        body = pod_template(plan, pod, facts)
        return {**body, "spec": {**body["spec"], "terminationGracePeriodSeconds": 45}}

    patch.setattr("gen.render.build.pod_template", changed)


@pytest.mark.slow  # fifty jobs for each change
@pytest.mark.parametrize("change", [*CHANGES, "gen itself"])
def test_no_run_starts_or_stops(active: History, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = active.rendered()
    if change in CHANGES:
        active.overlay(OVERLAY + CHANGES[change])
    else:
        bump_gen(monkeypatch)
    active.rendering()
    kept = {path: text for path, text in active.rendered().items() if "tensorboard" not in path}
    assert kept == {path: text for path, text in before.items() if "tensorboard" not in path}
    review = active.plan(check=True)
    assert (review.starting, review.stopping, review.refused) == ((), (), False)
    assert review.kept == JOBS
    count = sum(has_a_job(fields) for fields in JOB_FILES.values()) if change == "a patch" else JOBS
    assert len(review.behind) == count
    report, code = active.check()
    assert code == 0, report
    assert f"{count} runs kept from an earlier platform" in report.summary

    two = sorted({run.source for run in review.behind})[:2]
    active.render(*two, restart=True)
    review = active.plan(check=True)
    assert review.run_actions == {RunAction.KEPT: JOBS - 2, RunAction.REPLACED: 2}
    replaced = [run.pair.object.path for run in review.runs if run.action is RunAction.REPLACED]
    assert sorted(path.split("/")[3:5] for path in replaced) == [
        [*PurePath(source).with_suffix("").parts[1:]] for source in two
    ]
    assert len(review.behind) == count - 2
    assert active.check()[1] == 0
