"""Policies about updates see the object at the base commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.history import JOB, History, branch
from tests.kubernetes.policies.support import GROUP
from tests.support import OVERLAY

if TYPE_CHECKING:
    from gen.base.findings import Diagnostic

RULE = """\
apiVersion: {group}
kind: ValidatingAdmissionPolicy
metadata: {{name: stays-suspended}}
spec:
  matchConstraints:
    resourceRules:
      - {{apiGroups: [kubeflow.org], apiVersions: [v1], operations: [UPDATE], resources: [pytorchjobs]}}
  validations:
    - expression: "{expression}"
      message: ask the platform team to resume it
---
apiVersion: {group}
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: stays-suspended}}
spec: {{policyName: stays-suspended, validationActions: [{action}]}}
"""
RESUMED = "!oldObject.spec.runPolicy.?suspend.orValue(false) || object.spec.runPolicy.?suspend.orValue(false)"


def said(history: History) -> list[Diagnostic]:
    history.rendering()
    return [finding for finding in history.plan().findings if finding.code.startswith("policy-")]


@pytest.mark.parametrize(("action", "code"), [("Deny", "policy-denied"), ("Warn", "policy-warning")])
def test_a_resumed_run_is_judged_by_what_it_was(history: History, action: str, code: str) -> None:
    policy = RULE.format(group=GROUP, expression=RESUMED, action=action)
    history.write("overlays/dev/policies/suspended.yaml", policy)
    history.overlay(OVERLAY)
    history.job(JOB + "state: suspended\n")
    history.job(JOB, name="other")
    branch(history)
    assert said(history) == []

    history.job(JOB)
    (finding,) = said(history)
    assert finding.code == code
    assert finding.place.file == "rendered/dev/jobs/team/demo/pytorchjob-demo.yaml"
    assert "ask the platform team to resume it (policy `stays-suspended`" in finding.message
    assert history.plan().refused is (action == "Deny")


def test_a_new_run_is_no_update(history: History) -> None:
    history.write("overlays/dev/policies/suspended.yaml", RULE.format(group=GROUP, expression="false", action="Deny"))
    history.overlay(OVERLAY)
    history.job(JOB)
    branch(history)
    history.job(JOB.replace("train:1", "train:2"))
    assert said(history) == []


def test_an_object_that_does_not_fit_is_left_to_the_check(history: History) -> None:
    history.write("overlays/dev/policies/suspended.yaml", RULE.format(group=GROUP, expression="false", action="Deny"))
    history.overlay(OVERLAY)
    history.job(JOB)
    branch(history)
    path = history.file("pytorchjob-")
    path.write_text(path.read_text().replace("runPolicy:", "runPolicies:"))
    assert [finding.code for finding in history.plan().findings if finding.code.startswith("policy-")] == []
    path.write_text(path.read_text().replace("runPolicies:", "runPolicy:").replace("replicas: 2", "replicas: 4"))
    assert [finding.code for finding in history.plan().findings if finding.code.startswith("policy-")] == [
        "policy-denied"
    ]
