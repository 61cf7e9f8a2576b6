"""Health checks as the engines run them: Lua in Lua 5.1, CEL in a CEL library, over statuses that operators write."""

from __future__ import annotations

from typing import Any

import celpy
import pytest
import yaml
from celpy.adapter import json_to_cel
from celpy.evaluation import CELEvalError
from lupa.lua51 import LuaRuntime

from gen.kinds import KINDS
from tests.support import OVERLAY, Repository

RESOURCES = {kind.facts.kind: kind.facts for kind in KINDS.values() if not kind.facts.known_to_engines}
ALL = "operators: {batch: batch/v1, mpi: kubeflow.org/v2beta1, pytorch: kubeflow.org/v1, tensorflow: kubeflow.org/v1}\n"
GITOPS = "gitops: {argocd: {repoURL: https://a.example/b.git}, flux: {repoURL: https://a.example/b.git}}\n"
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


@pytest.fixture
def rendered(repo: Repository) -> dict[str, dict[str, Any]]:
    repo.overlay(OVERLAY + GITOPS + ALL)
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    assert repo.render()[1] == 0
    bodies = [yaml.safe_load(text) for path, text in repo.rendered().items() if not path.startswith("dev/")]
    return {f"{body['kind']} {body['metadata']['name']}": body for body in bodies}


def lua_health(script: str, status: dict[str, Any] | None) -> tuple[str, str]:
    lua = LuaRuntime()
    body = {} if status is None else {"status": status}
    health = lua.execute(RUNNER)(script, lua.table_from(body, recursive=True))
    return health["status"], health["message"]


@pytest.mark.parametrize("resource", sorted(RESOURCES))
@pytest.mark.parametrize(("about", "status", "health", "message"), STATUSES, ids=[one[0] for one in STATUSES])
def test_argo_cd_sees_what_became_of_a_run(
    rendered: dict[str, dict[str, Any]],
    resource: str,
    about: str,
    status: dict[str, Any] | None,
    health: str,
    message: str,
) -> None:
    script = rendered["ConfigMap argocd-cm"]["data"][f"resource.customizations.health.kubeflow.org_{resource}"]
    found, said = lua_health(script, status)
    assert (found, said[: len(message)]) == (health, message), about


def test_every_kind_that_argo_cd_does_not_know_has_a_check(rendered: dict[str, dict[str, Any]]) -> None:
    """Its own are in `gitops-engine/pkg/health` and `resource_customizations/`; a Job is among them, ours are not."""
    checks = {key.rpartition("_")[2] for key in rendered["ConfigMap argocd-cm"]["data"]}
    assert checks == set(RESOURCES) == {kind.facts.kind for kind in KINDS.values()} - {"Job"}


def cel_health(expressions: dict[str, str], status: dict[str, Any] | None) -> str:
    """As Flux goes through them (`fluxcd/pkg/runtime/cel`): the first that holds counts, an error is not yet."""
    environment = celpy.Environment()
    activation = {} if status is None else {"status": json_to_cel(status)}
    for name, health in (("inProgress", "Progressing"), ("failed", "Degraded"), ("current", "Healthy")):
        if name not in expressions:
            continue
        try:
            if environment.program(environment.compile(expressions[name])).evaluate(activation):
                return health
        except CELEvalError:
            return "Progressing"
    return "Progressing"


@pytest.mark.parametrize("resource", sorted(RESOURCES))
@pytest.mark.parametrize(("about", "status", "health", "message"), STATUSES, ids=[one[0] for one in STATUSES])
def test_flux_sees_what_became_of_a_run(
    rendered: dict[str, dict[str, Any]],
    resource: str,
    about: str,
    status: dict[str, Any] | None,
    health: str,
    message: str,
) -> None:
    checks = rendered["Kustomization dev.jobs.team"]["spec"]["healthCheckExprs"]
    (expressions,) = [one for one in checks if one["kind"] == resource]
    assert expressions["apiVersion"] in RESOURCES[resource].versions
    expected = "Progressing" if health == "Suspended" else health  # Flux has no such word
    assert cel_health(expressions, status) == expected, (about, message)


def test_flux_has_a_check_for_the_version_that_the_cluster_serves(repo: Repository) -> None:
    repo.overlay(OVERLAY + GITOPS + "operators: {mpi: kubeflow.org/v1}\n")
    repo.job("kind: batch\nimage: a:1\ncommand: x\n")
    repo.render()
    body = yaml.safe_load(repo.rendered()["flux/dev/kustomization-dev.jobs.team.yaml"])
    assert {one["kind"]: one["apiVersion"] for one in body["spec"]["healthCheckExprs"]}["MPIJob"] == "kubeflow.org/v1"
