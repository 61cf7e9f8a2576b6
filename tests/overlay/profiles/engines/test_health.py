"""Health checks as the engines run them: Lua in Lua 5.1, CEL in a CEL library, over statuses that operators write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from lupa.lua51 import LuaRuntime

from gen.job.kinds import KINDS
from gen.kubernetes.cel.environment import Environment
from gen.kubernetes.cel.program import compile_expression
from gen.kubernetes.cel.values import DYN, CelError
from gen.kubernetes.facts.base import Conditions, Phases, Resource
from gen.kubernetes.facts.builtin import CRONJOB
from gen.kubernetes.facts.katib import EXPERIMENT
from gen.overlay.profiles.engines.base import Workload
from gen.overlay.profiles.engines.flux import health_check
from tests.cases import for_each
from tests.support import OVERLAY, Repository

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS = {**{str(kind.facts): kind.facts for kind in KINDS.values()}, str(EXPERIMENT): EXPERIMENT}
RESOURCES = {name: facts for name, facts in RUNS.items() if not facts.known_to_engines}
VERSIONS = ", ".join(f"{name}: {kind.facts.served[0]}" for name, kind in KINDS.items())
ALL = f"operators: {{{VERSIONS}}}\n"
GITOPS = "gitops: {argocd: {repoURL: https://a.example/b.git}, flux: {repoURL: https://a.example/b.git}}\n"
SHARING = sorted(
    name for name, facts in RESOURCES.items() if isinstance(facts.status, Conditions) and facts.status.suspended
)
"""Kinds with the same conditions."""
RUNNER = """
return function(script, object)
  local check = assert(loadstring(script))
  setfenv(check, {
    obj = object, ipairs = ipairs, pairs = pairs, next = next, select = select, type = type,
    tostring = tostring, tonumber = tonumber, unpack = unpack, table = table,
  })
  return check()
end
"""
"""Argo CD opens the base and the table library alone (`util/lua/lua.go`), and a check may not load code."""


def condition(kind: str, status: str = "True", **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, **more}


RUNNING = [condition("Created"), condition("Running")]
AFTER = [condition("Created"), condition("Running", "False")]
STATUSES: list[tuple[str, dict[str, Any] | None, str, str]] = [
    ("the operator has not seen it", None, "Progressing", "waiting for the run to end"),
    ("no conditions yet", {}, "Progressing", "waiting for the run to end"),
    ("empty conditions", {"conditions": []}, "Progressing", "waiting for the run to end"),
    ("it runs", {"conditions": RUNNING}, "Progressing", "waiting for the run to end"),
    ("it restarts", {"conditions": [*AFTER, condition("Restarting")]}, "Progressing", "waiting for the run to end"),
    ("it waits in a queue", {"conditions": [condition("Suspended", message="in a queue")]}, "Suspended", "in a queue"),
    ("it was resumed", {"conditions": [condition("Suspended", "False"), *RUNNING]}, "Progressing", "waiting for"),
    ("it succeeded", {"conditions": [*AFTER, condition("Succeeded", message="done")]}, "Healthy", "done"),
    ("it failed", {"conditions": [*AFTER, condition("Failed", reason="OOM")]}, "Degraded", "OOM"),
    ("it says no more", {"conditions": [condition("Failed")]}, "Degraded", "Failed"),
    ("it was suspended before", {"conditions": [condition("Suspended"), condition("Succeeded")]}, "Healthy", "Succ"),
    ("one pod had run", {"conditions": [*RUNNING, condition("Failed")]}, "Degraded", "Failed"),
    ("it may still succeed", {"conditions": [condition("Succeeded", "Unknown")]}, "Progressing", "waiting for"),
]
"""Conditions of the training operator, as an example of other kinds."""
OTHERS: dict[str, list[tuple[str, dict[str, Any], str]]] = {
    # `pkg/controllers/{jobset_controller,success_policy,failure_policy}.go` of kubernetes-sigs/jobset 0.12
    "jobset.x-k8s.io/JobSet": [
        ("it starts", {"conditions": [condition("StartupPolicyInProgress")], "restarts": 0}, "Progressing"),
        ("it has restarted", {"restarts": 1, "restartsCountTowardsMax": 1}, "Progressing"),
        ("it is suspended", {"conditions": [condition("Suspended", reason="SuspendedJobs")]}, "Suspended"),
        ("it goes on", {"conditions": [condition("Suspended", "False", reason="ResumeJobs")]}, "Progressing"),
        (
            "all have succeeded",
            {"conditions": [condition("Completed", reason="AllJobsCompleted")], "terminalState": "Completed"},
            "Healthy",
        ),
        (
            "it has no restart left",
            {"conditions": [condition("Failed", reason="ReachedMaxRestarts")], "terminalState": "Failed"},
            "Degraded",
        ),
    ],
    # `pkg/apis/workflow/v1alpha1/workflow_phase.go` of argoproj/argo-workflows 4.1
    "argoproj.io/Workflow": [
        ("it was not seen", {}, "Progressing"),
        ("it waits", {"phase": "Pending"}, "Progressing"),
        ("it runs", {"phase": "Running", "conditions": [condition("PodRunning")]}, "Progressing"),
        ("it succeeded", {"phase": "Succeeded", "conditions": [condition("Completed")]}, "Healthy"),
        ("a step failed", {"phase": "Failed", "conditions": [condition("Completed")]}, "Degraded"),
        ("it is invalid", {"phase": "Error", "message": "invalid spec"}, "Degraded"),
    ],
    # `ray-operator/controllers/ray/rayjob_controller.go` of ray-project/kuberay 1.7
    "ray.io/RayJob": [
        ("the cluster starts", {"jobDeploymentStatus": "Initializing", "rayClusterName": "a-x"}, "Progressing"),
        ("it runs", {"jobDeploymentStatus": "Running", "jobStatus": "RUNNING", "jobId": "a-y"}, "Progressing"),
        ("its submitter has not ended", {"jobDeploymentStatus": "Running", "jobStatus": "FAILED"}, "Progressing"),
        (
            "it tries again",
            {"jobDeploymentStatus": "Retrying", "jobStatus": "FAILED", "failed": 1, "reason": "AppFailed"},
            "Progressing",
        ),
        ("its second attempt begins", {"jobDeploymentStatus": "", "jobStatus": "", "failed": 1}, "Progressing"),
        ("it is being suspended", {"jobDeploymentStatus": "Suspending", "jobStatus": "RUNNING"}, "Progressing"),
        ("it waits in a queue", {"jobDeploymentStatus": "Suspended"}, "Suspended"),
        ("it succeeded", {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED", "succeeded": 1}, "Healthy"),
        ("it failed", {"jobDeploymentStatus": "Failed", "jobStatus": "FAILED", "reason": "AppFailed"}, "Degraded"),
        ("it was stopped", {"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}, "Degraded"),
        ("it took too long", {"jobDeploymentStatus": "Failed", "reason": "DeadlineExceeded"}, "Degraded"),
        ("it is invalid", {"jobDeploymentStatus": "ValidationFailed", "reason": "ValidationFailed"}, "Degraded"),
    ],
    # `pkg/controller.v1beta1/experiment/util/status_util.go` of kubeflow/katib 0.19
    "kubeflow.org/Experiment": [
        ("it was created", {"conditions": [condition("Created")], "completionTime": None}, "Progressing"),
        ("trials run", {"conditions": [condition("Created"), condition("Running")], "trialsRunning": 3}, "Progressing"),
        ("it starts again", {"conditions": [condition("Running", "False"), condition("Restarting")]}, "Progressing"),
        ("it reached its goal", {"conditions": [*AFTER, condition("Succeeded", reason="GoalReached")]}, "Healthy"),
        ("too many trials failed", {"conditions": [*AFTER, condition("Failed")], "trialsFailed": 3}, "Degraded"),
    ],
    # `pkg/controller/trainjob_controller.go` of kubeflow/trainer 2.3
    "trainer.kubeflow.org/TrainJob": [
        ("its jobs run", {"jobsStatus": [{"name": "node", "active": 1, "ready": 1}]}, "Progressing"),
        ("it was resumed", {"conditions": [condition("Suspended", "False", reason="Resumed")]}, "Progressing"),
        ("it waits in a queue", {"conditions": [condition("Suspended", reason="Suspended")]}, "Suspended"),
        ("it succeeded", {"conditions": [condition("Complete", reason="AllJobsCompleted")]}, "Healthy"),
        ("it took too long", {"conditions": [condition("Failed", reason="DeadlineExceeded")]}, "Degraded"),
    ],
    # `pkg/controllers/job/state` of volcano-sh/volcano 1.15
    "batch.volcano.sh/Job": [
        ("it waits for its gang", {"state": {"phase": "Pending"}, "minAvailable": 4, "pending": 4}, "Progressing"),
        ("it runs", {"state": {"phase": "Running"}, "running": 4}, "Progressing"),
        ("it restarts", {"state": {"phase": "Restarting"}, "retryCount": 1}, "Progressing"),
        ("its master is done", {"state": {"phase": "Completing"}, "succeeded": 1}, "Progressing"),
        ("it succeeded", {"state": {"phase": "Completed"}, "succeeded": 4}, "Healthy"),
        ("it has no retries left", {"state": {"phase": "Failed"}, "retryCount": 3}, "Degraded"),
        ("it was aborted", {"state": {"phase": "Aborted"}}, "Degraded"),
        ("a policy ended it", {"state": {"phase": "Terminated", "reason": "TerminateJob"}}, "Degraded"),
    ],
}
"""Statuses that other operators write, by their source."""


def of_kind(resource: Resource, status: dict[str, Any] | None) -> dict[str, Any] | None:
    """A status of the training operator with the conditions of another kind."""
    known = resource.status
    if not isinstance(known, Conditions) or status is None:
        return status
    names = {"Succeeded": known.succeeded, "Failed": known.failed, "Suspended": known.suspended}
    renamed = [{**one, "type": names.get(one["type"], one["type"])} for one in status.get("conditions", ())]
    return {**status, "conditions": renamed} if "conditions" in status else status


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    repo = Repository.at(tmp_path_factory.mktemp("health") / "repo")
    grant = "    search: {maxTrials: 1}\nvolumes:"
    repo.overlay(OVERLAY.replace("volumes:", grant) + GITOPS + ALL)
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    assert repo.render()[1] == 0
    files = {path: yaml.safe_load(text) for path, text in repo.rendered().items() if not path.startswith("dev/")}
    settings = files.pop("argocd/dev/settings/argocd-cm.patch")
    return {"settings": settings, **{f"{body['kind']} {body['metadata']['name']}": body for body in files.values()}}


def lua_health(script: str, status: dict[str, Any] | None, body: dict[str, Any] | None = None) -> tuple[str, str]:
    lua = LuaRuntime()
    body = {**(body or {}), **({} if status is None else {"status": status})}
    health = lua.execute(RUNNER)(script, lua.table_from(body, recursive=True))
    return health["status"], health["message"]


@for_each("resource", SHARING)
@for_each(("about", "status", "health", "message"), STATUSES, ids=[one[0] for one in STATUSES])
def test_argo_cd_sees_what_became_of_a_run(
    rendered: dict[str, dict[str, Any]],
    resource: str,
    about: str,
    status: dict[str, Any] | None,
    health: str,
    message: str,
) -> None:
    facts = RESOURCES[resource]
    found, said = lua_health(health_script(rendered, facts), of_kind(facts, status))
    if message in ("Succ", "Failed"):  # the name of the condition
        message = said
    assert (found, said[: len(message)]) == (health, message), about


def health_script(rendered: dict[str, dict[str, Any]], facts: Resource) -> str:
    key = f"resource.customizations.health.{facts.group}_{facts.kind}"
    return str(rendered["settings"]["data"][key])


JOB_STATUSES: list[tuple[list[dict[str, str]], str]] = [
    ([condition("Suspended", "False", message="Job resumed")], "Progressing"),
    ([condition("Suspended", message="Job suspended")], "Suspended"),
    ([condition("Suspended", "False"), condition("SuccessCriteriaMet"), condition("Complete")], "Healthy"),
    ([condition("Suspended", "False"), condition("FailureTarget"), condition("Failed")], "Degraded"),
    ([condition("FailureTarget")], "Progressing"),
]


@for_each(("conditions", "health"), JOB_STATUSES)
def test_a_job_that_was_resumed_is_not_complete(
    rendered: dict[str, dict[str, Any]], conditions: list[dict[str, str]], health: str
) -> None:
    """The check of Argo CD (`gitops-engine/pkg/health/health_job.go`) looks at no status of the condition."""
    script = rendered["settings"]["data"]["resource.customizations.health.batch_Job"]
    assert lua_health(script, {"conditions": conditions})[0] == health


NIGHT, MORNING = "2026-01-02T02:00:00Z", "2026-01-02T03:00:00Z"
SCHEDULED: list[tuple[str, dict[str, Any], bool, str, str]] = [
    # `pkg/controller/cronjob/cronjob_controllerv2.go`; the last column is for schedules of others
    ("none has started", {}, False, "Suspended", "Healthy"),
    ("the first runs", {"lastScheduleTime": NIGHT, "active": [{}]}, False, "Progressing", "Healthy"),
    ("the first failed", {"lastScheduleTime": NIGHT}, False, "Degraded", "Healthy"),
    ("it succeeded", {"lastScheduleTime": NIGHT, "lastSuccessfulTime": MORNING}, False, "Healthy", "Healthy"),
    ("and then suspended", {"lastScheduleTime": NIGHT, "lastSuccessfulTime": MORNING}, True, "Healthy", "Healthy"),
    ("the next failed", {"lastScheduleTime": MORNING, "lastSuccessfulTime": NIGHT}, False, "Degraded", "Degraded"),
    ("and then suspended", {"lastScheduleTime": MORNING, "lastSuccessfulTime": NIGHT}, True, "Degraded", "Healthy"),
]


@pytest.mark.parametrize(("about", "status", "suspended", "own", "other"), SCHEDULED)
def test_argo_cd_sees_what_became_of_the_last_run_of_a_schedule(
    rendered: dict[str, dict[str, Any]], about: str, status: dict[str, Any], suspended: bool, own: str, other: str
) -> None:
    script = health_script(rendered, CRONJOB)
    found = []
    for labels in ({"app.kubernetes.io/managed-by": "gen"}, {}):
        body = {"metadata": {"labels": labels}, "spec": {"suspend": suspended}}
        found.append(lua_health(script, status, body)[0])
    assert found == [own, other], about


def test_every_kind_of_run_has_a_check(rendered: dict[str, dict[str, Any]]) -> None:
    checks = {key.removeprefix("resource.customizations.health.") for key in rendered["settings"]["data"]}
    assert checks == {name.replace("/", "_") for name in (*RUNS, str(CRONJOB))}


def cel_health(expressions: dict[str, str], status: dict[str, Any] | None) -> str:
    """As Flux goes through them (`fluxcd/pkg/runtime/cel`): the first that holds counts, an error is not yet."""
    environment = Environment({"status": DYN})
    values = {} if status is None else {"status": status}
    for name, health in (("inProgress", "Progressing"), ("failed", "Degraded"), ("current", "Healthy")):
        if name not in expressions:
            continue
        try:
            if compile_expression(expressions[name], environment).evaluate(values)[0]:
                return health
        except CelError:
            return "Progressing"
    return "Progressing"


@for_each("resource", SHARING)
@for_each(("about", "status", "health", "message"), STATUSES, ids=[one[0] for one in STATUSES])
def test_flux_sees_what_became_of_a_run(
    resource: str,
    about: str,
    status: dict[str, Any] | None,
    health: str,
    message: str,
) -> None:
    facts = RESOURCES[resource]
    expected = "Progressing" if health == "Suspended" else health  # Flux has no such word
    assert cel_health(flux_check(facts), of_kind(facts, status)) == expected, (about, message)


def flux_check(facts: Resource) -> dict[str, str]:
    return health_check(Workload(api_version=facts.api_version(facts.served[0]), resource=facts))


def of_phases() -> Iterator[tuple[str, str, dict[str, Any], str]]:
    """A status for each word of a kind with phases."""
    for name, known in ((name, facts.status) for name, facts in RESOURCES.items()):
        if isinstance(known, Phases):
            states = {"Healthy": known.succeeded, "Degraded": known.failed, "Suspended": known.suspended}
            for health, field, word in (
                (health, one.field, word) for health, phases in states.items() for one in phases for word in one.values
            ):
                status: Any = word
                for step in reversed(field[1:]):
                    status = {step: status}
                yield name, word, status, health


WRITTEN = [*((resource, *one) for resource, statuses in OTHERS.items() for one in statuses), *of_phases()]


@for_each(("resource", "about", "status", "health"), WRITTEN, ids=[f"{one[0]}-{one[1]}" for one in WRITTEN])
def test_both_engines_know_what_other_operators_write(
    rendered: dict[str, dict[str, Any]], resource: str, about: str, status: dict[str, Any], health: str
) -> None:
    facts = RESOURCES[resource]
    assert lua_health(health_script(rendered, facts), status)[0] == health, about
    expected = "Progressing" if health == "Suspended" else health
    assert cel_health(flux_check(facts), status) == expected, about


def test_every_kind_has_statuses() -> None:
    assert set(RESOURCES) - {resource for resource, *_ in WRITTEN} <= set(SHARING)


def test_flux_has_a_check_for_the_version_that_the_cluster_serves(repo: Repository) -> None:
    repo.overlay(OVERLAY + GITOPS + "operators: {mpi: kubeflow.org/v1}\n")
    repo.job("kind: mpi\nimage: a:1\ncommand: x\n")
    repo.render()
    body = yaml.safe_load(repo.rendered()["flux/dev/kustomization-dev.jobs.team.demo.yaml"])
    assert {one["kind"]: one["apiVersion"] for one in body["spec"]["healthCheckExprs"]}["MPIJob"] == "kubeflow.org/v1"
