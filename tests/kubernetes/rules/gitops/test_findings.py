"""GitOps rules: place and severity of findings, and best practices in rendered runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from gen.base.engines import storage_annotations
from gen.base.findings import Severity
from gen.job.kinds import KINDS
from gen.kubernetes.check.objects import check
from gen.kubernetes.facts import RUNS
from gen.kubernetes.rules import RuleSource
from gen.kubernetes.rules.catalogue import RULES
from gen.kubernetes.schemas.lookup import Kinds
from tests.cases import for_each
from tests.kubernetes.rules.support import an_object, changed
from tests.support import OVERLAY, Repository, validated

if TYPE_CHECKING:
    from pathlib import Path


HEAD = "kind: pytorch\nimage: registry.example.com/train:1\ncommand: python train.py\n"
OURS = {"app.kubernetes.io/managed-by": "gen"}


def places(repo: Repository) -> list[tuple[str, int, str]]:
    report, code = repo.render()
    assert code == 0
    assert all(one.severity is Severity.WARNING for one in report.findings)
    return [(one.place.file, one.place.line, one.code) for one in report.findings]


@pytest.mark.parametrize(
    ("job", "line", "code"),
    [
        ("gpus: 1\n", 1, "no-deadline"),
        ("timeout: 1d\ncleanup: None\n", 5, "keeps-pods"),
        ("roles: {master: {image: 'registry.example.com/train:latest'}}\nworkers: 2\n", 4, "mutable-image"),
        ("workers: 2\nroles:\n  master:\n    cpu: 1\n", 1, "no-limits"),
    ],
)
def test_a_warning_is_placed_at_the_deciding_field(repo: Repository, job: str, line: int, code: str) -> None:
    repo.job(HEAD + job)
    assert places(repo) == [("jobs/team/demo.yaml", line, code)]


def test_the_remedy_of_a_role_without_limits_works(repo: Repository) -> None:
    """The head of Ray does not train, so it does not get the amounts of the job."""
    job = "kind: ray\nimage: a/ray:2.9.0\ncommand: python train.py\nworkers: 2\ncpu: 4\nmemory: 8Gi\ntimeout: 1h\n"
    repo.job(job)
    (finding,) = repo.render()[0].findings
    written = re.search(r"`(roles: .+)`", str(finding.hint))
    assert (finding.code, written is not None) == ("no-limits", True)
    repo.job(f"{job}{written[1] if written is not None else ''}\n")
    assert repo.codes() == []


def test_a_warning_about_a_default_is_placed_in_the_overlay(repo: Repository) -> None:
    repo.overlay(OVERLAY + "defaults:\n  image: registry.example.com/train\n")
    repo.job("kind: pytorch\ncommand: python train.py\n")
    assert places(repo) == [("overlays/dev/overlay.yaml", OVERLAY.count("\n") + 2, "mutable-image")]


def test_best_practices_are_checked_after_patches(repo: Repository) -> None:
    """A patch can follow a best practice that the job breaks, or break one that the job follows."""
    patch = "{spec: {runPolicy: {activeDeadlineSeconds: 60}}}"
    repo.overlay(OVERLAY + f"patches:\n  - target: {{kind: PyTorchJob}}\n    patch: {patch}\n")
    repo.job(HEAD + "gpus: 1\n")
    assert places(repo) == []
    repo.overlay(
        OVERLAY + "patches:\n  - {target: {kind: PyTorchJob}, patch: {spec: {runPolicy: {cleanPodPolicy: None}}}}\n"
    )
    repo.job(HEAD + "gpus: 1\n")
    assert {code for _, _, code in places(repo)} == {"no-deadline", "keeps-pods"}


def test_a_finished_run_has_no_warnings(repo: Repository) -> None:
    """Any change to a finished run would start a new one."""
    repo.job(HEAD + "gpus: 1\nstate: finished\n")
    assert places(repo) == []


@for_each(
    ("target", "patch", "code"),
    [
        ("PyTorchJob", "{spec: {runPolicy: {ttlSecondsAfterFinished: 60}}}", "self-deletion"),
        ("PyTorchJob", "{metadata: {annotations: {argocd.argoproj.io/hook: Sync}}}", "engine-hook"),
        ("PyTorchJob", "{metadata: {annotations: {kustomize.toolkit.fluxcd.io/force: enabled}}}", "engine-force"),
        ("Deployment", "{metadata: {labels: {app.kubernetes.io/instance: a}}}", "engine-tracking"),
        ("PersistentVolume", "{spec: {persistentVolumeReclaimPolicy: Delete}}", "reclaims-data"),
        ("PersistentVolumeClaim", "{spec: {storageClassName: null}}", "no-storage-class"),
    ],
)
def test_a_patch_that_would_lose_runs_or_data_is_an_error(repo: Repository, target: str, patch: str, code: str) -> None:
    repo.overlay(OVERLAY + f"patches:\n  - target: {{kind: {target}}}\n    patch: {patch}\n")
    repo.job(HEAD + "data: {nas: /data}\ntensorboard: true\n")
    report, status = repo.render()
    assert status == 1
    assert (code, OVERLAY.count("\n") + 3) in {(one.code, one.place.line) for one in report.findings}
    assert repo.rendered() == {}


def test_a_reason_silences_a_rule(repo: Repository) -> None:
    patch = '{metadata: {annotations: {gen/ignore-no-deadline: "it ends by itself"}}}'
    repo.overlay(OVERLAY + f"patches:\n  - target: {{kind: PyTorchJob}}\n    patch: {patch}\n")
    repo.job(HEAD + "gpus: 1\n")
    (finding,) = repo.render()[0].findings
    assert (finding.code, finding.severity) == ("no-deadline", Severity.NOTE)
    assert "it ends by itself" in finding.message


def test_gitops_rules_are_warnings_for_objects_that_gen_did_not_generate(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {{name: a, labels: {{{}}}}}\nstringData: {{b: c}}\n"
    for labels, code, severity in (("", 0, "warning"), ("app.kubernetes.io/managed-by: gen", 1, "error")):
        (tmp_path / "a.yaml").write_text(text.format(labels))
        report, status = validated(str(tmp_path / "a.yaml"))
        assert (status, [(one.code, one.severity) for one in report.findings]) == (code, [("secret-object", severity)])


def test_a_finding_does_not_contain_the_secret(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {b: 'ghp_" + "a1" * 18 + "'}\n"
    )
    (finding,) = validated(str(tmp_path / "a.yaml"))[0].findings
    assert finding.code == "literal-secret"
    assert "ghp_" not in finding.message


def test_generated_protection_satisfies_the_rules() -> None:
    for kind in ("PersistentVolume", "PersistentVolumeClaim"):
        body = changed(an_object(kind), {"metadata labels": OURS, "metadata annotations": storage_annotations()})
        assert check(body, Kinds("1.34")).problems == ()


def test_every_kind_of_gen_is_a_run() -> None:
    assert [kind for kind in KINDS.values() if kind.facts.key not in RUNS] == []


def test_gitops_rules_that_are_only_warnings() -> None:
    weights = {name: rule.severity for name, rule in RULES.items() if rule.source is RuleSource.GITOPS}
    assert {name for name, severity in weights.items() if severity is Severity.WARNING} == {
        "engine-order",
        "unwritten-default",
        "canonical-amounts",
        "server-fields",
        "no-deadline",
        "keeps-pods",
        "no-limits",
        "mutable-image",
        "folder-of-root",
        "shared-sub-path",
        "claim-across-nodes",
    }


def test_a_field_that_decides_about_several_roles_is_reported_once(repo: Repository) -> None:
    repo.job("kind: pytorch\nimage: a/b\ncommand: x\nworkers: 3\ntimeout: 1h\n")
    assert repo.codes() == ["mutable-image"]
    repo.job("kind: pytorch\nimage: a/b\ncommand: x\nworkers: 3\ntimeout: 1h\nroles: {worker: {image: a/c}}\n")
    assert repo.codes() == ["mutable-image", "mutable-image"]
