"""Checking files in batches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gen.kubernetes.check import files
from gen.kubernetes.check.files import ManifestChecker, check_batch
from gen.kubernetes.manifests.files import read_bytes
from gen.kubernetes.manifests.read import Manifests, read_manifests
from gen.kubernetes.policies import policy_set

if TYPE_CHECKING:
    import pytest

    from gen.base.findings import Findings

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: a}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
  validations: [{expression: "true"}]
"""
BINDING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: a}
spec: {policyName: a, validationActions: [Deny]}
"""


def test_a_large_file_does_not_wait_in_memory_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abcd":
        (tmp_path / name).write_text(f"{CONFIG}# {name}\n")
    (tmp_path / "c").write_text(CONFIG + f"data: {{a: {'b' * 200_000}}}\n")
    batches = []

    def noted(examine: Any, read: Any) -> object:
        batches.append(len(read))
        return check_batch(examine, read)

    monkeypatch.setattr(files, "check_batch", noted)
    counts: list[int] = []
    paths = [str(tmp_path / name) for name in "abcd"]
    checked = ManifestChecker(tuple(paths)).check_files(paths, counts.append)
    assert ([one.objects for one in checked], batches, counts) == ([1, 1, 1, 1], [2, 1, 1], [4])


def test_copies_are_checked_once_each_with_findings_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def noted(raw: bytes, file: str, found: Findings) -> Manifests | None:
        parsed.append(file)
        return read_manifests(raw, file, found)

    monkeypatch.setattr(files, "read_manifests", noted)
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(CONFIG.replace("name: a", "name: A, name: b"))
    found = files.ManifestChecker((str(tmp_path),)).run().findings.items
    assert parsed == [str(tmp_path / "a.yaml")]
    places = [(Path(one.place.file).name, one.place.column, one.code) for one in found]
    assert places == [
        ("a.yaml", 21, "duplicate-key"),
        ("b.yaml", 21, "duplicate-key"),
        ("b.yaml", 27, "same-object"),
    ]
    assert [Path(at.file).name for one in found[:2] for at, _ in one.related] == ["a.yaml", "b.yaml"]


def test_only_namespaces_are_read_again_and_only_for_bound_policies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []

    def noted(raw: bytes, file: str, found: Findings) -> Manifests | None:
        parsed.append(Path(file).name)
        return read_manifests(raw, file, found)

    monkeypatch.setattr(policy_set, "read_manifests", noted)
    (tmp_path / "binding.yaml").write_text(BINDING)
    (tmp_path / "config.yaml").write_text(f"{CONFIG}data: {{a: Namespace}}\n")
    (tmp_path / "namespace.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n")
    files.ManifestChecker((str(tmp_path),)).run()
    assert sorted(set(parsed)) == ["binding.yaml"]
    (tmp_path / "policy.yaml").write_text(POLICY)
    files.ManifestChecker((str(tmp_path),)).run()
    assert sorted(set(parsed)) == ["binding.yaml", "namespace.yaml", "policy.yaml"]


def test_a_file_that_only_names_policies_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files are read again for policies and what these refer to."""
    reads: list[str] = []

    def noted(file: str) -> bytes:
        reads.append(file)
        return read_bytes(file)

    monkeypatch.setattr(files, "read_bytes", noted)
    path = tmp_path / "a.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: ValidatingAdmissionPolicy}\n")
    assert files.ManifestChecker((str(path),)).run().findings.items == []
    assert reads == [str(path)]


def test_only_files_with_a_kind_of_a_bound_policy_are_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "policies").mkdir()
    policy = tmp_path / "policies/policy.yaml"
    denying = POLICY.replace('resources: ["*"]', "resources: [configmaps]").replace('"true"', '"false"')
    policy.write_text(f"{denying}---\n{BINDING}")
    (tmp_path / "config.yaml").write_text(CONFIG)
    (tmp_path / "service.yaml").write_text("apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {type: None}\n")
    reads: list[str] = []

    def noted(file: str) -> bytes:
        reads.append(Path(file).name)
        return read_bytes(file)

    monkeypatch.setattr(files, "read_bytes", noted)
    paths = tuple(str(tmp_path / name) for name in ("config.yaml", "service.yaml"))
    found = files.ManifestChecker(paths, policies=(policy,)).run().findings.items
    assert [Path(one.place.file).name for one in found if one.code == "policy-denied"] == ["config.yaml"]
    assert sorted(reads) == ["config.yaml", "config.yaml", "service.yaml"]
