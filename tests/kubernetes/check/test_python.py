"""The interface for Python: `gen.kubernetes`."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from gen import kubernetes
from gen.kubernetes import Diagnostic, Severity, UsageError, check_manifests, check_objects
from tests.cases import for_each
from tests.kubernetes.rules.support import an_object, changed
from tests.support import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: ["*"], operations: ["*"], resources: ["configmaps"]}]
  validations: [{expression: "object.metadata.name != 'a'", message: not a}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p, validationActions: [Deny]}
"""
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}


def codes(found: list[Diagnostic]) -> list[tuple[str, str]]:
    return [(one.place.file, one.code) for one in found]


def test_the_example_of_the_documentation_prints_what_it_shows() -> None:
    text = (PROJECT / "docs/python.md").read_text("utf-8")
    text = text.partition("## Objects without a repository\n")[2]
    (example,), (output,) = re.findall(r"(?s)```python\n(.*?)```", text), re.findall(r"(?s)```text\n(.*?)```", text)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example, {})  # noqa: S102 - our own documentation
    assert printed.getvalue() == output


def test_findings_have_the_names_of_texts_and_objects() -> None:
    wrong = changed(an_object("CronJob"), {"spec schedule": "never"})
    assert codes(check_manifests({"a.yaml": yaml.safe_dump(wrong)})) == [("a.yaml", "cron-jobs")]
    assert codes(check_objects([an_object("CronJob"), wrong])) == [("objects[1]", "cron-jobs")]


@for_each("text", ["", "a: [", "\x00", "- 1", b"\xff", "{}"])
def test_any_text_has_findings_and_no_exception(text: str | bytes) -> None:
    assert bool(check_manifests(text)) is (text != "")


@for_each("body", [None, 1, [], {}, {"apiVersion": 1, "kind": []}, {"kind": "List", "items": [1]}])
def test_any_object_has_findings_and_no_exception(body: object) -> None:
    assert codes(check_objects([body]))


def test_objects_of_one_name_conflict() -> None:
    assert {code for _, code in codes(check_objects([CONFIG, CONFIG]))} == {"same-object"}


def test_policies_apply_from_files_and_from_the_manifests(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    expected = [("objects[0]", "policy-denied")]
    assert codes(check_objects([CONFIG], policies=[tmp_path])) == expected
    assert codes(check_objects([CONFIG, *yaml.safe_load_all(POLICY)])) == expected
    assert codes(check_manifests({"c": yaml.safe_dump(CONFIG), "p": POLICY})) == [("c", "policy-denied")]


def test_unknown_kinds_are_findings_unless_they_are_skipped(tmp_path: Path) -> None:
    robot = {"apiVersion": "example.com/v1", "kind": "Robot", "metadata": {"name": "a"}}
    assert codes(check_objects([robot])) == [("objects[0]", "unknown-api")]
    assert check_objects([robot], skip_unknown_kinds=True) == []
    schema = {"type": "object", "properties": {"spec": {"type": "object"}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Robot", "plural": "robots"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    (tmp_path / "crd.yaml").write_text(yaml.safe_dump({"kind": "CustomResourceDefinition", "spec": spec}))
    assert codes(check_objects([robot | {"more": 1}], definitions=[tmp_path])) == [("objects[0]", "undefined-field")]


def test_versions_and_paths_that_do_not_exist_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unsupported Kubernetes version `1\.99`"):
        check_objects([CONFIG], "1.99")
    with pytest.raises(UsageError, match="does not exist"):
        check_objects([CONFIG], definitions=[tmp_path / "none"])


def test_a_silenced_problem_is_a_note() -> None:
    silent = changed(an_object("CronJob"), {"spec schedule": "never"})
    silent["metadata"]["annotations"] = {"gen/ignore-cron-jobs": "a test"}
    assert [one.severity for one in check_objects([silent])] == [Severity.NOTE]


def test_the_interface_is_loaded_when_it_is_used() -> None:
    program = "import sys, gen.kubernetes.quantity\nprint('gen.kubernetes.check.files' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        _ = kubernetes.other
