"""Fields of a job that have no effect are refused; defaults of the overlay are not, because other jobs use them."""

from __future__ import annotations

import pytest

from tests.support import OVERLAY, Repository

HEAD = "image: registry.example.com/train:1\ncommand: python train.py\n"


def unused(repo: Repository, job: str) -> list[tuple[str, int]]:
    """Message and line of each finding about a field without effect, which must be all findings."""
    repo.job(job)
    findings = repo.render()[0].findings
    assert {finding.code for finding in findings} <= {"no-effect"}, findings
    return [(finding.message, finding.place.line) for finding in findings]


@pytest.mark.parametrize("field", ["image: a:1", "env: {A: b}", "placement: {zone: a}", "podLabels: {a: b}"])
def test_a_field_of_a_role_without_pods(repo: Repository, field: str) -> None:
    name = field.split(":", 1)[0]
    message = f"`{name}` has no effect: the job has no pods with the role"
    assert unused(repo, f"kind: pytorch\n{HEAD}roles: {{worker: {{{field}}}}}\n") == [(f"{message} `worker`", 4)]
    job = f"kind: tensorflow\n{HEAD}roles:\n  worker: {{replicas: 2}}\n  ps: {{replicas: 0, {field}}}\n"
    assert unused(repo, job) == [(f"{message} `ps`", 6)]
    assert unused(repo, job.replace("replicas: 0", "replicas: 1")) == []


def test_a_role_that_the_overlay_leaves_without_pods_is_no_mistake_of_the_job(repo: Repository) -> None:
    repo.overlay(OVERLAY + "defaults: {kinds: {tensorflow: {roles: {ps: {replicas: 0}, worker: {replicas: 1}}}}}\n")
    assert unused(repo, f"kind: tensorflow\n{HEAD}roles: {{ps: {{cpu: 2}}}}\n") == []
    repo.overlay(OVERLAY + "defaults: {workers: 1}\n")
    assert unused(repo, f"kind: pytorch\n{HEAD}roles: {{worker: {{cpu: 2}}}}\n") == []
    assert len(unused(repo, f"kind: pytorch\n{HEAD}workers: 1\nroles: {{worker: {{cpu: 2}}}}\n")) == 1


def test_a_default_for_a_role_without_pods_is_no_mistake(repo: Repository) -> None:
    repo.overlay(
        OVERLAY
        + "defaults: {cpu: 1, kinds: {pytorch: {roles: {worker: {cpu: 3}}}, batch: {roles: {worker: {cpu: 3}}}}}\n"
    )
    assert unused(repo, f"kind: pytorch\n{HEAD}") == []
    assert unused(repo, f"kind: batch\n{HEAD}") == []


@pytest.mark.parametrize("kind", ["batch", "mpi"])
def test_a_field_that_every_role_overrides(repo: Repository, kind: str) -> None:
    head = HEAD.replace("python", "mpirun python") if kind == "mpi" else HEAD
    job = f"kind: {kind}\n{head}cpu: 2\nroles: {{worker: {{cpu: 4}}}}\n"
    assert unused(repo, job) == [("`cpu` has no effect: no role with pods uses it", 4)]
    assert unused(repo, f"kind: pytorch\n{HEAD}workers: 2\ncpu: 2\nroles: {{worker: {{cpu: 4}}}}\n") == []


def test_resources_of_a_job_without_training_pods(repo: Repository) -> None:
    job = f"kind: tensorflow\n{HEAD}memory: 8Gi\nroles: {{worker: {{replicas: 0}}, ps: {{replicas: 1}}}}\n"
    assert unused(repo, job) == [("`memory` has no effect: no role with pods uses it", 4)]


def test_a_variable_that_every_role_sets_itself(repo: Repository) -> None:
    job = f"kind: pytorch\n{HEAD}env: {{A: b, C: d}}\nroles: {{master: {{env: {{A: e}}}}}}\n"
    assert unused(repo, job) == [("`A` has no effect: every role with pods sets its own value", 4)]
    assert unused(repo, job + "workers: 2\n") == []


def test_workers_with_replicas(repo: Repository) -> None:
    job = f"kind: tensorflow\n{HEAD}roles: {{worker: {{replicas: 2}}}}\n"
    assert unused(repo, job) == []
    assert unused(repo, job + "workers: 2\n") == [("`workers` has no effect together with `roles.worker.replicas`", 5)]
    repo.overlay(OVERLAY + "defaults: {workers: 2}\n")
    assert unused(repo, job) == []


def test_fields_of_git_with_rsync(repo: Repository) -> None:
    repo.overlay(OVERLAY + 'pins: off\ncodeSync: {rsyncImage: "rsync:1"}\n')
    job = f'kind: pytorch\n{HEAD}code:\n  rsync: "host::module/train"\n'
    assert unused(repo, job) == []
    for field in ("ref: v1", "depth: 2", "submodules: 'off'", "credentials: token", "name: src"):
        name = field.split(":", 1)[0]
        assert unused(repo, f"{job}  {field}\n") == [(f"`{name}` has no effect together with `rsync`", 6)]


def test_a_writable_mount_of_a_read_only_volume(repo: Repository) -> None:
    job = f"kind: pytorch\n{HEAD}data: {{sets: {{path: /sets, readOnly: false}}}}\n"
    volumes = OVERLAY.replace("volumes:\n", "volumes:\n  sets: {claim: sets, mountReadOnly: true}\n")
    repo.overlay(volumes)
    assert unused(repo, job) == []
    repo.overlay(volumes.replace("mountReadOnly", "readOnly"))
    assert unused(repo, job) == [("volume `sets` is read-only in overlay `dev`", 4)]
