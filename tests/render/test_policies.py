"""Policies of overlays: inherited, cached, guarded like other files of overlays, and free where there are none."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gen.commands import render as command
from gen.kubernetes.policies import evaluate
from gen.render.run import render
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gen.kubernetes.policies.evaluate import Verdict
    from gen.kubernetes.policies.policy_set import PolicySet
    from gen.kubernetes.policies.request import Request

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [batch], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
  validations: [{expression: "!object.metadata.name.startsWith('bad')", message: a bad name}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
"""
JOB = "kind: batch\nimage: registry.example.com/a:1\ncommand: python a.py\nmemory: 1Gi\ntimeout: 1h\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    found = Repository.at(tmp_path / "repo")
    found.write("overlays/dev/overlay.yaml", OVERLAY)
    found.write("overlays/dev/policies/p.yaml", POLICY)
    found.write("jobs/team/good.yaml", JOB)
    return found


def codes(repo: Repository) -> list[tuple[str, str]]:
    return [(one.place.file, one.code) for one in repo.render()[0].findings]


def test_a_policy_denies_a_job(repo: Repository) -> None:
    assert codes(repo) == []
    repo.write("jobs/team/bad.yaml", JOB)
    assert codes(repo) == [("jobs/team/bad.yaml", "policy-denied")]


def test_an_overlay_inherits_policies(repo: Repository) -> None:
    repo.write("overlays/prod/overlay.yaml", "extends: dev\n")
    repo.write("jobs/team/bad.yaml", JOB)
    found = render(repo.root, ("prod",), ())
    assert [one.code for one in found.findings] == ["policy-denied"]
    own = POLICY.replace("'bad'", "'worse'")
    repo.write("overlays/prod/policies/p.yaml", own)  # replaces the inherited policy of the same name
    assert [one.code for one in render(repo.root, ("prod",), ()).findings] == []


def test_storage_is_checked(repo: Repository) -> None:
    of_claims = POLICY.replace("[batch]", '[""]').replace("startsWith('bad')", "contains('data')")
    repo.write("overlays/dev/policies/p.yaml", of_claims)
    volume = "{nfs: {server: a.example.com, path: /b}, size: 1Ti}"
    repo.write("overlays/dev/overlay.yaml", OVERLAY.replace("{claim: data}", volume))
    repo.write("jobs/team/good.yaml", f"{JOB}data: {{data: /data}}\n")
    assert set(codes(repo)) == {("overlays/dev/overlay.yaml", "policy-denied")}


def test_policies_in_a_link_are_refused(repo: Repository) -> None:
    folder = repo.root / "overlays/dev/policies"
    (repo.root / "elsewhere.yaml").write_text(POLICY)
    (folder / "link.yaml").symlink_to(repo.root / "elsewhere.yaml")
    assert ("overlays/dev/policies/link.yaml", "not-a-file") in codes(repo)


def test_without_a_change_no_policy_is_evaluated(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    counted: list[str] = []

    def counting(policies: PolicySet, request: Request) -> Iterator[Verdict]:
        counted.append(request.name)
        return evaluate.verdicts(policies, request)

    monkeypatch.setattr("gen.kubernetes.check.policies.verdicts", counting)
    cached(repo)
    first = len(counted)
    assert first > 0
    cached(repo)
    assert len(counted) == first
    repo.write("overlays/dev/policies/p.yaml", POLICY.replace("'bad'", "'good'"))
    assert cached(repo) == ["policy-denied"]


def cached(repo: Repository) -> list[str]:
    request = command.Request(root=repo.root, parallel=1)
    return [one.code for one in command.render(request, request.cache).output.findings]


@pytest.mark.slow
def test_repositories_without_policies_load_no_engine(repo: Repository) -> None:
    (repo.root / "overlays/dev/policies/p.yaml").unlink()
    (repo.root / "overlays/dev/policies").rmdir()
    code = (
        "import sys\nfrom pathlib import Path\nfrom gen.render.run import render\n"
        f"render(Path({str(repo.root)!r}), (), ())\n"
        "rooms = ('gen.kubernetes.cel', 'gen.kubernetes.policies', 're2')\n"
        "print([name for name in sys.modules if name.startswith(rooms)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
