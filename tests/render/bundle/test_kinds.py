"""Kinds of objects that a bundle names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from gen.job.kinds import KINDS
from gen.kubernetes.facts import RESOURCES
from tests.job.kinds.foreign import FOREIGN
from tests.render.bundle.support import BOTH, COMPANIONS, ENGINE_FOLDERS, MPI, OVERLAY, bundle, kinds_of
from tests.support import OVERLAY as EVERYTHING
from tests.support import PROJECT, Repository, copy_case, tree

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_bundle_names_the_kinds_of_its_jobs(repo: Repository) -> None:
    repo.job("kind: tensorflow\nimage: a:1\ncommand: x\n")
    objects = bundle(repo, OVERLAY + BOTH + "operators: {batch: batch/v1}\n")
    assert kinds_of(objects) == [*COMPANIONS, "CronJob", "Job", "TFJob"]
    assert list(objects["settings argocd-cm"]["data"]) == [
        "resource.customizations.health.batch_CronJob",
        "resource.customizations.health.batch_Job",
        "resource.customizations.health.kubeflow.org_TFJob",
    ]
    application = objects["ApplicationSet dev-jobs"]["spec"]["template"]["spec"]
    assert application["source"]["directory"]["include"] == "{configmap,cronjob,deployment,job,service,tfjob}-*.yaml"
    assert [ignored["kind"] for ignored in application["ignoreDifferences"]] == ["Job", "TFJob"]
    checks = objects["Kustomization dev.jobs.team.demo"]["spec"]["healthCheckExprs"]
    assert [check["kind"] for check in checks] == ["TFJob"]


def test_a_bundle_names_the_kinds_that_the_overlay_lists_under_operators(repo: Repository) -> None:
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    repo.job("kind: mpi\nimage: a:1\ncommand: x\n", name="mpi")
    objects = bundle(repo, OVERLAY + BOTH + "operators: {mpi: kubeflow.org/v1, jobset: jobset.x-k8s.io/v1alpha2}\n")
    assert kinds_of(objects) == [*COMPANIONS, "Job", "JobSet", "MPIJob"]
    (check,) = objects["Kustomization dev.jobs.team.mpi"]["spec"]["healthCheckExprs"]
    assert (check["apiVersion"], check["kind"]) == ("kubeflow.org/v1", "MPIJob")


def test_a_bundle_permits_the_first_job_of_a_listed_kind(repo: Repository) -> None:
    """Nobody has to apply a project for it."""
    listed = OVERLAY + BOTH + "operators: {batch: batch/v1}\n"
    without = bundle(repo, listed)
    assert kinds_of(without) == [*COMPANIONS, "CronJob", "Job"]
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    after = bundle(repo, listed)
    assert {key: body for key, body in after.items() if key in without} == without


def test_a_bundle_permits_workflows_if_the_overlay_has_pipelines(repo: Repository) -> None:
    """Also after the last one is removed, so that an engine can prune it."""
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    assert kinds_of(bundle(repo, EVERYTHING + BOTH)) == [*COMPANIONS, "CronWorkflow", "Workflow", "Job"]


def test_kinds_of_jobs_from_the_cache_count(repo: Repository, tmp_path: Path) -> None:
    repo.overlay(OVERLAY + BOTH + MPI)
    repo.job("kind: tensorflow\nimage: a:1\ncommand: x\n", name="one")
    for image in ("a:1", "a:2"):
        repo.job(f"kind: batch\nimage: {image}\ncommand: x\n", name="two")
        assert repo.render(cache=tmp_path / "cache")[1] == 0
        project = yaml.safe_load(repo.rendered()["argocd/dev/appproject-dev-jobs.yaml"])
        assert kinds_of({"AppProject dev-jobs": project}) == [*COMPANIONS, "Job", "MPIJob", "TFJob"]


def test_one_more_kind_changes_no_byte_of_the_example(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {path: text for path, text in tree(PROJECT / "rendered").items() if path.startswith(ENGINE_FOLDERS)}
    assert expected
    for name, model in FOREIGN.items():
        monkeypatch.setitem(KINDS, name, model)
        monkeypatch.setitem(RESOURCES, model.facts.key, model.facts)
    example = copy_case(PROJECT, repo.root / "example")
    assert example.render()[1] == 0
    assert {path: text for path, text in example.rendered().items() if path.startswith(ENGINE_FOLDERS)} == expected
