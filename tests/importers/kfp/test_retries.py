"""Retries of a step are those of a job where both have the same meaning, and are reported elsewhere."""

from __future__ import annotations

from typing import Any

from tests.cases import for_each
from tests.importers.kfp.pipelines import dag, program, task, workflow
from tests.importers.kfp.test_kfp import OBJECT, read
from tests.importers.kfp.test_steps import proofs


def retried(strategy: Any, **more: Any) -> tuple[dict[str, Any], list[str]]:
    """Fields of a job with one step, and messages."""
    (job,), found = read(workflow(dag(task("x")), program("x", retryStrategy=strategy, **more)))
    return dict(job.fields), [item.message for item in found]


@for_each(
    ("strategy", "retries", "lost"),
    [
        ({"limit": 3}, 3, []),
        ({"limit": "3", "retryPolicy": "Always"}, 3, []),
        ({"limit": 3, "retryPolicy": "OnFailure", "backoff": {"duration": "1m"}}, 3, ["retryStrategy.backoff"]),
        ({"limit": 3, "affinity": {"nodeAntiAffinity": {}}}, 3, ["retryStrategy.affinity"]),
        ({"limit": 0}, None, []),
        (None, None, []),
        ({}, None, ["retryStrategy"]),
        ({"limit": "{{inputs.parameters.n}}"}, None, ["retryStrategy"]),
        ({"limit": 3, "retryPolicy": "OnError"}, None, ["retryStrategy"]),
        ({"limit": 3, "expression": "lastRetry.exitCode == 2"}, None, ["retryStrategy"]),
        ({"limit": True}, None, ["retryStrategy"]),
        ({"limit": -1}, None, ["retryStrategy"]),
        ("x", None, ["retryStrategy"]),
        ([1], None, ["retryStrategy"]),
    ],
)
def test_a_limit_is_carried_and_the_rest_reported(strategy: Any, retries: int | None, lost: list[str]) -> None:
    fields, messages = retried(strategy)
    assert fields.get("retries") == retries
    assert messages == [f"`{one}` of step `x` is not carried" for one in lost]


def test_the_time_limit_of_a_step_with_retries_is_that_of_an_attempt() -> None:
    """Argo starts a pod for each attempt, and `activeDeadlineSeconds` of a template is that of the pod."""
    assert retried({"limit": 3}, activeDeadlineSeconds=5400)[0]["attemptTimeout"] == "1h30m"
    fields, _ = retried(None, activeDeadlineSeconds=60)
    assert (fields["timeout"], "attemptTimeout" in fields) == ("1m", False)


def test_the_job_of_a_step_with_retries_renders_what_its_step_asks_for() -> None:
    steps = (program("x", retryStrategy={"limit": 3}, activeDeadlineSeconds=60), program("y"))
    (job,), _ = read(workflow(dag(task("x"), task("y")), *steps))
    assert (job.fields["steps"]["x"]["retries"], "retries" in job.fields["steps"]["y"]) == (3, False)
    assert [(one.original.step, one.patch) for one in proofs(job)] == [("x", None), ("y", None)]


def test_retries_of_a_submission_are_no_retries_of_the_job() -> None:
    made = {"name": "x", "retryStrategy": {"limit": 3}, "resource": {"action": "create", "manifest": OBJECT}}
    (job,), found = read(workflow(dag(task("x")), made))
    assert "retries" not in job.fields
    assert "`retryStrategy.limit` of step `x` is not carried: it repeats the submission" in [
        item.message for item in found
    ]


def compiled(policy: Any) -> Any:
    """The IR of two tasks with a policy: one runs a program, the other one a graph."""
    tasks = {
        "x": {"componentRef": {"name": "run"}, "retryPolicy": policy},
        "z": {"componentRef": {"name": "graph"}, "retryPolicy": policy, "dependentTasks": ["x"]},
    }
    graph = {"dag": {"tasks": {"inner": {"componentRef": {"name": "run"}}}}}
    container = {"image": "busybox:1", "command": ["run"]}
    return {
        "root": {"dag": {"tasks": tasks}},
        "components": {"run": {"executorLabel": "exec"}, "graph": graph},
        "deploymentSpec": {"executors": {"exec": {"container": container}}},
    }


def test_the_policy_of_a_task_of_the_ir_is_carried() -> None:
    waits = {"backoffDuration": "0s", "backoffFactor": 2.0, "backoffMaxDuration": "3600s"}
    (job,), found = read(compiled({"maxRetryCount": 2, **waits}))
    steps = job.fields["steps"]
    assert (steps["x"]["retries"], "retries" in steps["inner"]) == (2, False)
    assert [item.message for item in found] == [
        "`retryPolicy.maxRetryCount` of task `z` is not carried",
        "`retryPolicy.backoffMaxDuration` of step `x` is not carried",
    ]
    (job,), found = read(compiled(waits))
    assert ("retries" in job.fields, list(found)) == (False, [])
    (job,), found = read(compiled({"maxRetryCount": "many"}))
    assert {item.message for item in found} == {"`retryPolicy` of step `x` is not carried"}


def test_retries_of_a_workflow_are_those_of_its_templates() -> None:
    own = program("y", retryStrategy={"limit": 5})
    (job,), found = read(workflow(dag(task("x"), task("y")), program("x"), own, retryStrategy={"limit": 2}))
    assert {name: step["retries"] for name, step in job.fields["steps"].items()} == {"x": 2, "y": 5}
    assert [one.message for one in found] == ["`retryStrategy` of template `dag` is not carried"]
    (job,), found = read(workflow(program("x"), entrypoint="x", retryStrategy={"limit": 2}))
    assert (job.fields["retries"], found) == (2, [])


def test_templates_have_the_defaults_of_their_workflow() -> None:
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}]
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    defaults = {"container": {"image": "x", "env": env, "resources": limits}, "activeDeadlineSeconds": 9}
    step = program("x")
    step["container"]["env"] = [{"name": "B", "value": "2"}]
    (job,), found = read(workflow(step, entrypoint="x", templateDefaults={**defaults, "script": {"source": "y"}}))
    fields = {name: job.fields[name] for name in ("image", "env", "gpus", "timeout")}
    assert fields == {"image": "busybox:1", "env": {"A": "1", "B": "2"}, "gpus": "1", "timeout": "9s"}
    assert found == []
