"""Rules of GitOps: whose fault, how bad, and that a render looks for what a job had better say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.check.objects import check
from gen.diagnostics import Severity
from gen.gitops import PROTECTION
from gen.kinds import KINDS
from gen.resources import RUNS
from gen.rules.catalogue import CATALOGUE
from gen.rules.rule import RuleSource
from gen.schemas.lookup import Kinds
from tests.rules.support import an_object, changed
from tests.support import OVERLAY, validated

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Repository

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
def test_advice_stands_at_the_field_that_decides(repo: Repository, job: str, line: int, code: str) -> None:
    repo.job(HEAD + job)
    assert places(repo) == [("jobs/team/demo.yaml", line, code)]


def test_advice_about_a_default_stands_in_the_overlay(repo: Repository) -> None:
    repo.overlay(OVERLAY + "defaults:\n  image: registry.example.com/train\n")
    repo.job("kind: pytorch\ncommand: python train.py\n")
    assert places(repo) == [("overlays/dev/overlay.yaml", OVERLAY.count("\n") + 2, "mutable-image")]


def test_advice_counts_what_a_patch_made(repo: Repository) -> None:
    """A patch may do what the job did not, or the other way round."""
    patch = "{spec: {runPolicy: {activeDeadlineSeconds: 60}}}"
    repo.overlay(OVERLAY + f"patches:\n  - target: {{kind: PyTorchJob}}\n    patch: {patch}\n")
    repo.job(HEAD + "gpus: 1\n")
    assert places(repo) == []
    repo.overlay(
        OVERLAY + "patches:\n  - {target: {kind: PyTorchJob}, patch: {spec: {runPolicy: {cleanPodPolicy: None}}}}\n"
    )
    repo.job(HEAD + "gpus: 1\n")
    assert {code for _, _, code in places(repo)} == {"no-deadline", "keeps-pods"}


def test_nothing_is_advised_about_a_finished_run(repo: Repository) -> None:
    """What one would change in it makes a new run of it."""
    repo.job(HEAD + "gpus: 1\nstate: finished\n")
    assert places(repo) == []


@pytest.mark.parametrize(
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
def test_a_patch_that_costs_runs_or_data_is_refused(repo: Repository, target: str, patch: str, code: str) -> None:
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


def test_in_manifests_of_others_it_is_advice(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {{name: a, labels: {{{}}}}}\nstringData: {{b: c}}\n"
    for labels, code, severity in (("", 0, "warning"), ("app.kubernetes.io/managed-by: gen", 1, "error")):
        (tmp_path / "a.yaml").write_text(text.format(labels))
        report, status = validated(str(tmp_path / "a.yaml"))
        assert (status, [(one.code, one.severity) for one in report.findings]) == (code, [("secret-object", severity)])


def test_no_secret_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {b: 'ghp_" + "a1" * 18 + "'}\n"
    )
    (finding,) = validated(str(tmp_path / "a.yaml"))[0].findings
    assert finding.code == "secret-value"
    assert "ghp_" not in finding.message


def test_the_protection_that_gen_writes_is_what_is_asked_for() -> None:
    for kind in ("PersistentVolume", "PersistentVolumeClaim"):
        body = changed(an_object(kind), {"metadata labels": OURS, "metadata annotations": dict(PROTECTION)})
        assert check(body, Kinds("1.34")).problems == ()


def test_every_kind_of_gen_is_a_run() -> None:
    assert [kind for kind in KINDS.values() if kind.facts.key not in RUNS] == []


def test_what_costs_runs_or_data_is_an_error() -> None:
    weights = {name: rule.severity for name, rule in CATALOGUE.items() if rule.source is RuleSource.GITOPS}
    assert {name for name, severity in weights.items() if severity is Severity.WARNING} == {
        "engine-order",
        "unwritten-default",
        "canonical-amounts",
        "server-fields",
        "no-deadline",
        "keeps-pods",
        "no-limits",
        "mutable-image",
        "shared-output",
        "one-node-claim",
    }
