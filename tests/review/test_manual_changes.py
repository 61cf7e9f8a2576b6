"""Changes that no engine applies, in a plan: projects, and settings of Argo CD."""

from __future__ import annotations

import pytest

from tests.history import JOB, UNRENDERED, History, branch
from tests.support import OVERLAY

ENGINE = "gitops: {argocd: {repoURL: https://git.example.com/a.git}}\n"
NAMED = OVERLAY.replace('  "*":', "  team:") + ENGINE
KUBECTL = "kubectl apply --server-side -f rendered/argocd/dev/"


@pytest.fixture
def merged(history: History) -> History:
    history.overlay(NAMED)
    history.job(JOB)
    branch(history)
    return history


def by_hand(history: History) -> dict[str, tuple[str, str]]:
    """Message and hint by file."""
    history.rendering()
    findings = [finding for finding in history.plan().findings if finding.code not in UNRENDERED]
    assert {(finding.code, finding.severity.value) for finding in findings} <= {("apply-by-hand", "warning")}
    prefix = "rendered/argocd/dev/"
    return {finding.place.file.removeprefix(prefix): (finding.message, finding.hint) for finding in findings}


BATCH = "kind: batch\nimage: a:1\ncommand: x\ntimeout: 1h\n"


def test_a_job_needs_no_manual_change(merged: History) -> None:
    merged.job(JOB, name="second")
    assert by_hand(merged) == {}


def test_the_first_job_of_a_listed_kind_needs_no_manual_change(history: History) -> None:
    history.overlay(NAMED + "operators: {batch: batch/v1}\n")
    history.job(JOB)
    branch(history)
    history.job(BATCH, name="first-of-its-kind")
    assert by_hand(history) == {}


def test_the_first_job_of_another_kind_is_permitted_by_hand(merged: History) -> None:
    merged.job(BATCH, name="first-of-its-kind")
    found = by_hand(merged)
    assert found["appproject-dev-jobs.yaml"][0] == "`AppProject argocd/dev-jobs` permits `Job`"
    assert sorted(found) == ["appproject-dev-jobs.yaml", "settings/argocd-cm.patch"]


def test_another_namespace_is_permitted_by_hand(merged: History) -> None:
    merged.overlay(NAMED.replace("volumes:", "  vision: {}\nvolumes:"))
    found = by_hand(merged)
    assert {path: message for path, (message, _) in found.items()} == {
        "appproject-dev-jobs.yaml": "`AppProject argocd/dev-jobs` permits `namespace vision`",
        "appproject-dev-storage.yaml": "`AppProject argocd/dev-storage` permits "
        "`PersistentVolume vision-*`, `namespace vision`",
    }
    assert all(KUBECTL in hint for _, hint in found.values())


def test_another_repository_and_cluster(merged: History) -> None:
    merged.overlay(NAMED.replace("a.git", "b.git, cluster: prod"))
    found = by_hand(merged)
    assert found["appproject-dev-jobs.yaml"][0] == (
        "`AppProject argocd/dev-jobs` permits `cluster prod`, `repository https://git.example.com/b.git` "
        "and no longer permits `cluster in-cluster`, `repository https://git.example.com/a.git`"
    )
    assert found["root.yaml"][0] == "`Application argocd/dev-root` changes, and is not applied from Git"


def test_settings(merged: History) -> None:
    merged.overlay(NAMED.replace("a.git", "a.git, notify: {slack: ml}"))
    found = by_hand(merged)
    patch = "settings/argocd-notifications-cm.patch"
    message, hint = found[patch]
    assert message == "`argocd-notifications-cm` gets settings that are not applied from Git"
    assert hint == (
        "after the merge, run `kubectl patch configmap argocd-notifications-cm --type=merge "
        f"--patch-file=rendered/argocd/dev/{patch}` in the namespace of the engine"
    )
    assert "settings/argocd-cm.patch" not in found


def test_settings_of_another_overlay_are_not_shown(merged: History) -> None:
    merged.overlay(NAMED.replace("a.git", "a.git, notify: {slack: ml}"))
    merged.overlay(NAMED, name="prod")
    merged.rendering()
    places = {finding.place.file for finding in merged.plan(overlay=("prod",)).findings}
    assert any(place.startswith("rendered/argocd/prod/settings/") for place in places)
    assert not any(place.startswith("rendered/argocd/dev/") for place in places)
