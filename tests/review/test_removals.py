"""The limit on removed objects, removed Applications, and the options and exit codes of `gen plan`."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from gen.base.findings import Findings, UsageError
from gen.review.compare import RemovalLimit
from tests.cases import for_each
from tests.history import JOB, History, branch
from tests.processes import gen
from tests.support import OVERLAY

if TYPE_CHECKING:
    from pathlib import Path


@for_each(
    ("most", "removed", "before", "refused"),
    [
        (None, 100, 100, False),
        ("0", 0, 0, False),
        ("0", 1, 10, True),
        ("3", 3, 10, False),
        ("3", 4, 10, True),
        ("30%", 3, 10, False),
        ("30%", 4, 10, True),
        ("0.5%", 1, 100, True),
        ("100%", 10, 10, False),
    ],
)
def test_the_limit(most: str | None, removed: int, before: int, *, refused: bool) -> None:
    found = Findings()
    RemovalLimit.parse(most).check(removed, before, found)
    assert [finding.code for finding in found] == (["too-many-removed"] if refused else [])


@for_each("text", ["", "-1", "many", "1e3", "101%", "%", "1%%", "\u0661", "1.5"])
def test_an_invalid_limit_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--max-removed"):
        RemovalLimit.parse(text)


def test_replaced_objects_do_not_count_as_removed(history: History) -> None:
    for name in ("a", "b", "c"):
        history.job(JOB, name=name)
    branch(history)
    for name in ("a", "b"):
        history.job(JOB.replace("train:1", "train:2"), name=name)
    history.rendering()
    assert history.codes(max_removed="0") == []
    (history.root / "jobs/team/c.yaml").unlink()
    history.rendering()
    assert history.codes(max_removed="0") == [("too-many-removed", "error")]
    assert history.codes(max_removed="33%") == [("too-many-removed", "error")]
    assert history.codes(max_removed="34%") == []


def test_a_removed_application_is_a_warning(history: History) -> None:
    path = history.root / "rendered/argocd/dev/application-jobs.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: jobs, namespace: argocd}\n")
    history.git("add", "--all")
    history.git("commit", "--quiet", "--message", "base")
    shutil.rmtree(path.parents[1])
    assert history.codes(base="HEAD") == [("delivery-removed", "warning")]


def test_a_project_that_no_longer_permits_the_last_run_is_a_warning(history: History) -> None:
    engine = "gitops: {argocd: {repoURL: https://git.example.com/a.git}}\n"
    history.overlay(OVERLAY + engine + "operators: {pytorch: kubeflow.org/v1}\n")
    history.job(JOB, name="kept")
    history.job("kind: batch\nimage: a:1\ncommand: x\n", name="last")
    branch(history)
    (history.root / "jobs/team/last.yaml").unlink()
    history.rendering()
    assert ("kind-no-longer-permitted", "warning") in history.codes()
    history.overlay(OVERLAY + engine + "operators: {batch: batch/v1, pytorch: kubeflow.org/v1}\n")
    history.rendering()
    project, settings = history.plan().findings
    assert {project.code, settings.code} == {"apply-by-hand"}
    assert project.message == "`AppProject argocd/dev-jobs` permits `CronJob`", "for schedules"
    assert settings.message == "`argocd-cm` gets settings that are not applied from Git", "their health"


def test_exit_codes_and_formats(history: History, tmp_path: Path) -> None:
    history.job(JOB + "data: {nas: /data}\n")
    branch(history)
    done = gen("plan", cwd=history.root / "jobs/team")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("no errors: no run starts or stops, no data is lost\n")
    history.job(JOB)
    history.rendering(prune_storage=True)
    refused = gen("plan", "--output", "json", cwd=history.root)
    assert (refused.returncode, json.loads(refused.stdout)["refused"]) == (1, True)
    assert (
        gen("plan", "--output", "markdown", cwd=history.root)
        .stdout.splitlines()[1]
        .startswith("### Refused: `data-removed`; ")
    )
    assert gen("plan", "--allow-data-removal", cwd=history.root).returncode == 0
    for arguments in (["--base", "nowhere"], ["--max-removed", "x"], ["--overlay", "dve"], ["--root", str(tmp_path)]):
        wrong = gen("plan", *arguments, cwd=history.root)
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert wrong.stderr.startswith("gen: ")


def test_a_large_change(history: History) -> None:
    for number in range(80):
        history.job(JOB, name=f"job-{number:04}")
    branch(history)
    for number in range(8):
        history.job(JOB.replace("train:1", "train:2"), name=f"job-{number:04}")
    for number in range(8, 12):
        (history.root / f"jobs/team/job-{number:04}.yaml").unlink()
    for number in range(4):
        history.job(JOB, name=f"new-{number:04}")
    history.rendering()
    done = gen("plan", "--output", "json", cwd=history.root)
    runs = json.loads(done.stdout)["summary"]["runs"]
    assert (runs["started"], runs["stopped"], runs["kept"], runs["replaced"]) == (12, 12, 68, 8)
