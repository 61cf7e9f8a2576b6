"""Retries, completions and rules for failures of Jobs."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.cases import for_each
from tests.importers.manifests.forms import EQUAL, an_object, pod
from tests.importers.manifests.proofs import messages, proof_of, read


def test_a_second_restart_policy_is_a_patch() -> None:
    body = deepcopy(EQUAL["pytorch"])
    body["spec"]["pytorchReplicaSpecs"]["Master"]["restartPolicy"] = "Never"
    proof = proof_of(body)
    assert proof.patch is not None
    assert len(proof.patch["patch"]) == 1


def indexed(restart: str = "Never", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "a/b:1", "command": ["x"]}
    template = {"spec": {"restartPolicy": restart, "containers": [container]}}
    metadata = {"name": "tasks", "namespace": "team"}
    own = {"completions": 10, "parallelism": 4, "completionMode": "Indexed", "template": template, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": own}


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({"backoffLimitPerIndex": 2}, {"workers": 10, "array": {"parallel": 4}, "retries": 2}),
        ({"backoffLimitPerIndex": 0, "parallelism": 10}, {"workers": 10, "array": True, "retries": None}),
        (
            {"backoffLimitPerIndex": 1, "maxFailedIndexes": 3},
            {"workers": 10, "array": {"parallel": 4, "maxFailed": 3}, "retries": 1},
        ),
    ],
)
def test_a_job_with_retries_of_single_tasks_is_an_array(spec: dict[str, Any], fields: dict[str, Any]) -> None:
    proof = proof_of(indexed(**spec))
    assert {name: proof.job.fields.get(name) for name in fields} == fields
    assert (proof.patch, proof.remaining) == (None, ())


@pytest.mark.parametrize(
    "spec", [{"parallelism": 10}, {"backoffLimitPerIndex": "1"}, {"backoffLimitPerIndex": 1, "restart": "OnFailure"}]
)
def test_other_jobs_are_no_array(spec: dict[str, Any]) -> None:
    jobs, _ = read(indexed(**spec))
    assert "array" not in jobs[0].fields


def job(rules: list[dict[str, Any]] | None = None, **counts: Any) -> dict[str, Any]:
    template = pod("main")
    template["spec"]["restartPolicy"] = counts.pop("restart", "Never")
    policy = {"podFailurePolicy": {"rules": rules}} if rules else {}
    return an_object("batch/v1", "Job", {"backoffLimit": 3, **counts, **policy, "template": template})


CODES = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42, 127, 3]}}


DRAINED = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}


NOT_IN = {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [127, 42, 3]}}


@for_each(
    ("rules", "expected"),
    [
        ([DRAINED], None),
        ([CODES], [{"action": "FailJob", "exitCodes": [3, 42, 127]}]),
        (
            [CODES, DRAINED],
            [{"action": "FailJob", "exitCodes": [3, 42, 127]}, {"action": "Ignore", "condition": "DisruptionTarget"}],
        ),
    ],
)
def test_rules_for_failures(rules: list[dict[str, Any]], expected: object) -> None:
    proof = proof_of(job(rules))
    assert (proof.job.fields.get("podFailurePolicy"), proof.patch, proof.remaining) == (expected, None, ())
    of_set = deepcopy(EQUAL["jobset"])
    for one in of_set["spec"]["replicatedJobs"]:
        one["template"]["spec"] |= {"backoffLimit": 0, "podFailurePolicy": {"rules": rules}}
        one["template"]["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    proof = proof_of(of_set)
    known = expected or [{"action": "Ignore", "condition": "DisruptionTarget"}]
    assert (proof.job.fields.get("podFailurePolicy"), proof.patch, proof.remaining) == (known, None, ())


def test_a_rule_without_a_field_is_a_patch() -> None:
    proof = proof_of(job([NOT_IN]))
    assert ("podFailurePolicy" in proof.job.fields, proof.remaining) == (False, ())
    assert proof.patch is not None
    (operation,) = proof.patch["patch"]
    assert operation["value"][0]["onExitCodes"]["values"] == [3, 42, 127]


COUNTED = "the number of failures holds for each task of an array, and not for all together"


RANKED = "the pods of later completions have ranks, too, as if all trained together"


@for_each(
    ("body", "fields", "expected"),
    [
        (job(completions=50, parallelism=5), {"workers": 50, "array": {"parallel": 5}, "retries": 3}, [COUNTED]),
        (
            job(completions=5, backoffLimit=0, completionMode="Indexed"),
            {"workers": 5, "array": {"parallel": 1, "maxFailed": 0}},
            [],
        ),
        (job(completions=50, parallelism=5, restart="OnFailure"), {"workers": "5"}, [RANKED]),
        (job(completions=5, parallelism=5), {"workers": "5"}, []),
    ],
)
def test_more_completions_than_pods(body: dict[str, Any], fields: dict[str, Any], expected: list[str]) -> None:
    proof = proof_of(body)
    known = {name: proof.job.fields[name] for name in ("workers", "array", "retries") if name in proof.job.fields}
    assert (known | fields, messages(body), proof.remaining) == (known, expected, ())


@for_each(
    ("kind", "version", "restart"),
    [
        ("TFJob", "v1", "Never"),
        ("XGBoostJob", "v1", "Never"),
        ("JAXJob", "v1", "Never"),
        ("MPIJob", "v1", "Never"),
        ("MPIJob", "v2beta1", None),
        ("PyTorchJob", "v1", None),
        ("PaddleJob", "v1", None),
    ],
)
def test_roles_have_the_restart_policy_of_their_operator(kind: str, version: str, restart: str | None) -> None:
    body = deepcopy(next(one for one in EQUAL.values() if one["kind"] == kind))
    body["apiVersion"] = f"kubeflow.org/{version}"
    (field,) = (name for name in body["spec"] if name.endswith("ReplicaSpecs"))
    body["spec"] = {field: body["spec"][field]}
    for fields in body["spec"][field].values():
        del fields["restartPolicy"]
    proof = proof_of(body)
    assert (proof.job.fields.get("restart"), proof.patch, proof.remaining) == (restart, None, ())


@pytest.mark.parametrize("manual", [False, True])
def test_a_selector_of_the_api_server_is_not_carried(manual: bool) -> None:
    body = job()
    labels = {"controller-uid": "u1", "batch.kubernetes.io/controller-uid": "u1"}
    body["spec"] |= {"selector": {"matchLabels": labels}, "manualSelector": manual}
    body["spec"]["template"]["metadata"] = {"labels": {**labels, "job-name": "run"}}
    proof = proof_of(body)
    assert [one.route[1] for one in proof.remaining] == ["selector", "manualSelector"] * manual


@for_each(
    ("policy", "seconds", "expected"),
    [
        ({"concurrencyPolicy": "Allow"}, None, None),
        ({}, None, None),
        ({"concurrencyPolicy": "Allow"}, 3600, "Allow"),
        ({}, 3600, "Allow"),
        ({"concurrencyPolicy": "Replace"}, None, "Replace"),
    ],
)
def test_runs_of_a_schedule_that_overlap_need_a_time_limit(
    policy: dict[str, str], seconds: int | None, expected: str | None
) -> None:
    limit = {} if seconds is None else {"activeDeadlineSeconds": seconds}
    spec = {"schedule": "0 3 * * *", **policy, "jobTemplate": {"spec": {**job()["spec"], **limit}}}
    body = an_object("batch/v1", "CronJob", spec)
    proof = proof_of(body)
    schedule = proof.job.fields["schedule"]
    assert (schedule if isinstance(schedule, str) else schedule.get("concurrency")) == (expected or "0 3 * * *")
    lost = ["the policy `Allow` is not carried: runs that overlap need a time limit"]
    assert (proof.patch, proof.remaining, messages(body)) == (None, (), [] if expected else lost)


@for_each(
    ("of_pod", "failures", "expected"),
    [
        ({}, {}, "OnFailure"),
        ({}, {"backoffLimit": 3}, "OnFailure"),
        ({}, {"backoffLimit": 0}, None),
        ({"restartPolicy": "Never"}, {"backoffLimit": 3}, None),
    ],
)
def test_failed_containers_of_a_set_start_again_by_default(
    of_pod: dict[str, Any], failures: dict[str, int], expected: str | None
) -> None:
    """Its webhook gives pods without a policy another one than that of gen."""
    template = pod("main")
    template["spec"] |= of_pod
    spec = {"parallelism": 2, "completions": 2, **failures, "template": template}
    body = an_object(
        "jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [{"name": "w", "template": {"spec": spec}}]}
    )
    proof = proof_of(body)
    assert (proof.job.fields.get("restart"), proof.remaining) == (expected, ())


@for_each(
    ("given", "expected"),
    [
        ({}, {"plugins": {}, "policies": []}),
        ({"plugins": {}}, {"plugins": {}, "policies": []}),
        ({"plugins": {"env": [], "svc": []}}, {"policies": []}),
        ({"plugins": {"svc": []}}, {"plugins": {"svc": []}, "policies": []}),
        ({"maxRetry": 5}, {"plugins": {}, "policies": [], "retries": 5}),
    ],
)
def test_a_volcano_job_without_policies_and_plugins_has_none(given: dict[str, Any], expected: dict[str, Any]) -> None:
    tasks = [{"name": "worker", "template": pod("worker")}]
    proof = proof_of(an_object("batch.volcano.sh/v1alpha1", "Job", {**given, "tasks": tasks}))
    fields = {name: proof.job.fields[name] for name in ("plugins", "policies", "retries") if name in proof.job.fields}
    assert (fields, proof.patch, proof.remaining) == (expected, None, ())
    assert [one for one in proof.added if one.startswith(("`maxRetry", "`plugins", "`policies"))] == []


SPOT = {"nodeSelector": {"cloud.google.com/gke-spot": "true"}}


@for_each(
    ("of_pod", "spec", "retries"),
    [
        (SPOT, {}, 5),
        (SPOT, {"completions": 2, "parallelism": 2, "completionMode": "Indexed"}, 2),
        ({"tolerations": [{"key": "preemptible", "operator": "Exists"}]}, {}, 5),
        (SPOT, {"backoffLimit": 0}, None),
        ({**SPOT, "restartPolicy": "Never"}, {}, None),
        ({"nodeSelector": {"pool": "a"}}, {}, None),
    ],
)
def test_a_job_on_nodes_that_are_taken_back_keeps_its_retries(
    of_pod: dict[str, Any], spec: dict[str, Any], retries: int | None
) -> None:
    template = pod("main")
    template["spec"] |= {"restartPolicy": "OnFailure", **of_pod}
    proof = proof_of(an_object("batch/v1", "Job", {**spec, "template": template}))
    assert (proof.job.fields.get("retries"), proof.patch, proof.remaining) == (retries, None, ())


def test_more_tasks_than_a_job_may_have_are_an_error_at_their_number() -> None:
    template = {"spec": {**pod("main")["spec"], "restartPolicy": "Never"}}
    _, found = read(an_object("batch/v1", "Job", {"parallelism": 8, "completions": 200_000, "template": template}))
    message = "an array has at most 100000 tasks, and this one has 200000"
    assert [one.message for one in found if one.is_error] == [message]
