"""Policies among manifests that are not valid objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes.check.files import ManifestChecker
from tests.cases import for_each

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
  validations: [{expression: "object.metadata.name == params.data.name"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec:
  policyName: p
  validationActions: [Deny]
  paramRef: {selector: {matchLabels: {a: b}}, parameterNotFoundAction: Allow}
"""

PARAMETERS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {a: b}}\ndata: {name: b}\n"


@for_each("metadata", ["1.5", "text", "[a]", "{name: a, labels: text}", "{name: a, namespace: [a]}"])
def test_an_object_with_invalid_metadata_is_reported(metadata: str, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "parameters.yaml").write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\n")
    found = ManifestChecker((str(tmp_path),)).run().findings
    assert "wrong-type" in {one.code for one in found if one.place.file.endswith("parameters.yaml")}


@for_each(
    ("valid", "invalid"),
    [
        ("policyName: p", "policyName: [p]"),
        ("selector: {matchLabels: {a: b}}", "selector: 1.5"),
        ("selector: {matchLabels: {a: b}}", "selector: {matchLabels: text}"),
        ("{name: p}\nspec:", "{name: p}\nspec: text\nmore:"),
        ("[{expression:", "[1, {expression:"),
    ],
)
def test_an_invalid_policy_is_reported_and_has_no_effect(valid: str, invalid: str, tmp_path: Path) -> None:
    assert valid in POLICY
    (tmp_path / "policy.yaml").write_text(POLICY.replace(valid, invalid))
    (tmp_path / "parameters.yaml").write_text(PARAMETERS)
    found = ManifestChecker((str(tmp_path),)).run().findings
    assert "wrong-type" in {one.code for one in found if one.place.file.endswith("policy.yaml")}
    assert not [one for one in found if one.place.file.endswith("parameters.yaml")]


def test_a_valid_policy_has_an_effect(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "parameters.yaml").write_text(PARAMETERS)
    found = ManifestChecker((str(tmp_path),)).run().findings
    assert {one.code for one in found if one.place.file.endswith("parameters.yaml")} == {"policy-denied"}
