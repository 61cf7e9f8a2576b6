"""Policies among manifests that are not valid objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gen.check.files import ManifestChecker

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


@pytest.mark.parametrize("metadata", ["1.5", "text", "[a]", "{name: a, labels: text}", "{name: a, namespace: [a]}"])
def test_an_object_with_invalid_metadata_is_reported(metadata: str, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "parameters.yaml").write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\n")
    found = ManifestChecker((str(tmp_path),)).run().findings
    assert "wrong-type" in {one.code for one in found if one.place.file.endswith("parameters.yaml")}
