"""Findings about steps: their places, and each once."""

from __future__ import annotations

import pytest

from tests.support import OVERLAY, Repository

PIPELINE = """\
kind: pipeline
image: registry.example.com/a:1
command: x
timeout: 1h
memory: 1Gi
steps:
  first: {kind: batch}
  second:
    kind: batch
    image: registry.example.com/b:1
    needs: [first]
"""


def policy(expression: str) -> str:
    return f"""\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: p}}
spec:
  matchConstraints:
    resourceRules: [{{apiGroups: [batch], apiVersions: ["*"], operations: ["*"], resources: ["*"]}}]
  validations: [{{expression: "{expression}"}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: b}}
spec: {{policyName: p, validationActions: [Deny]}}
"""


@pytest.mark.parametrize(
    ("expression", "places"),
    [
        ("object.spec.template.spec.containers.all(c, !c.image.contains('/b:'))", [(10, 12)]),
        ("object.spec.template.spec.containers.all(c, !c.image.contains('/a:'))", [(2, 8)]),
        ("object.spec.template.spec.containers.all(c, c.resources.limits.memory == '2Gi')", [(5, 9)]),
    ],
)
def test_a_policy_about_a_step_is_placed_at_the_field_of_the_step(
    repo: Repository, expression: str, places: list[tuple[int, int]]
) -> None:
    repo.overlay(OVERLAY)
    repo.write("overlays/dev/policies/p.yaml", policy(expression))
    repo.job(PIPELINE)
    found = [one for one in repo.render()[0].findings if one.code == "policy-denied"]
    assert [(one.place.line, one.place.column) for one in found] == places
    repo.job(PIPELINE.replace("/a:1", "/c:1").replace("/b:1", "/c:1").replace("1Gi", "2Gi"))
    assert repo.codes() == []


def test_a_job_with_the_name_of_the_object_of_a_step(repo: Repository) -> None:
    repo.overlay(OVERLAY)
    repo.job(PIPELINE)
    run = repo.one("Workflow")["metadata"]["name"]
    repo.overlay(OVERLAY + "runs: {naming: stable}\n")
    alone = PIPELINE.partition("timeout")[0].replace("pipeline", "batch") + "timeout: 1h\nmemory: 1Gi\n"
    repo.job(alone, name=f"{run}-second")
    found = [one for one in repo.render()[0].findings if "of a step of `demo`" in one.message]
    assert [(one.code, one.place.file) for one in found] == [("duplicate-object", f"jobs/team/{run}-second.yaml")]
    repo.job(alone.replace("batch", "pytorch"), name=f"{run}-second")
    assert repo.codes() == [], "another kind"


def test_a_search_of_a_pipeline_is_refused_with_a_step_that_has_a_service(repo: Repository) -> None:
    repo.job(
        PIPELINE.replace("{kind: batch}", "{kind: batch, workers: 2}")
        + "search: {maximize: accuracy, params: {lr: [1, 2]}, maxTrials: 2}\n"
    )
    errors = [one.message for one in repo.render()[0].findings if one.is_error]
    assert any(message.startswith("`search` is not supported for `kind: pipeline`") for message in errors)


@pytest.mark.parametrize("more", ["", "env: {A: '{{ params.a }}'}\nsweep: {matrix: {a: [1, 2, 3]}}\n"])
def test_a_namespace_without_a_grant_is_reported_once(repo: Repository, more: str) -> None:
    repo.overlay('kubernetes: "1.34"\nnamespaces: {other: {}}\npipelines: {argo: {serviceAccount: a}}\n')
    repo.job(f"{more}{PIPELINE}")
    (finding,) = repo.render()[0].findings
    assert (finding.code, str(finding.place)) == ("unknown-namespace", "jobs/team/demo.yaml:1:1")
    repo.job(f"{more}kind: batch\nimage: registry.example.com/a:1\ncommand: x\ntimeout: 1h\n")
    assert repo.codes() == ["unknown-namespace"]
