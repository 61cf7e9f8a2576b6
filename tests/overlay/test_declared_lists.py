"""Declared kinds with pods in a list: templates, numbers, patches, demand and guards follow the roles."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.demand import demand
from tests.cases import for_each
from tests.support import OVERLAY, Repository

FLEET: dict[str, Any] = {
    "apiVersion": "acme.example.com/v1",
    "kind": "Fleet",
    "pods": {
        "lead": {"template": "spec.units[].pod.template", "replicas": "spec.units[].size", "trains": False},
        "arm": {"template": "spec.units[].pod.template", "replicas": "spec.units[].size", "runs": False},
    },
    "status": {"phase": "status.phase", "succeeded": ["Done"], "failed": ["Broken"]},
    "spec": {"speed": "fast"},
    "fields": ["color"],
}
JOB = "kind: fleet\nimage: a:1\ncommand: move\nworkers: 3\ngpus: 2\ntimeout: 1h\n"


def definition() -> str:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    unit = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "size": {"type": "integer"},
            "pod": {"type": "object", "properties": {"template": anything}},
        },
    }
    fields = {
        "speed": {"type": "string"},
        "color": {"type": "string"},
        "seconds": {"type": "integer"},
        "units": {"type": "array", "items": unit},
    }
    spec = {"type": "object", "properties": fields}
    schema = {"type": "object", "properties": {"spec": spec, "status": anything}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "Fleet", "listKind": "FleetList", "plural": "fleets", "singular": "fleet"}
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "fleets.acme.example.com"},
        "spec": {"group": "acme.example.com", "names": names, "scope": "Namespaced", "versions": [version]},
    }
    return yaml.safe_dump(body)


def declared(repo: Repository, more: str = "", **fields: Any) -> None:
    repo.write("overlays/dev/crds/fleet.yaml", definition())
    kind = {**FLEET, "deadline": "spec.seconds", **fields}
    repo.overlay(f"{OVERLAY}{yaml.safe_dump({'kinds': {'fleet': kind}}, sort_keys=False)}{more}")


def messages(repo: Repository) -> list[str]:
    return [finding.message for finding in repo.render()[0].findings]


def test_each_role_is_an_item(repo: Repository) -> None:
    declared(repo)
    repo.job(JOB)
    run = repo.one("Fleet")
    lead, arm = run["spec"]["units"]
    assert (lead["name"], lead["size"], arm["name"], arm["size"]) == ("lead", 1, "arm", 3)
    assert run["spec"]["speed"] == "fast"
    container = arm["pod"]["template"]["spec"]["containers"][0]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "2"
    assert "nvidia.com/gpu" not in str(lead)
    facts = resource_of_object(run["apiVersion"], run["kind"])
    assert facts is not None
    assert (demand(run, facts, {}).pods, demand(run, facts, {}).gpus) == (4, 6)


def test_roles_have_their_own_numbers_and_can_be_absent(repo: Repository) -> None:
    declared(repo)
    repo.job(JOB.replace("workers: 3\n", "") + "roles: {lead: {replicas: 0}, arm: {replicas: 2}}\n")
    assert [(unit["name"], unit["size"]) for unit in repo.one("Fleet")["spec"]["units"]] == [("arm", 2)]


def test_patches_name_the_role(repo: Repository) -> None:
    patch = {"target": {"pods": {"role": "arm"}}, "patch": {"spec": {"hostPID": False, "enableServiceLinks": False}}}
    declared(repo, yaml.safe_dump({"patches": [patch]}))
    repo.job(JOB)
    lead, arm = (unit["pod"]["template"]["spec"] for unit in repo.one("Fleet")["spec"]["units"])
    assert ("enableServiceLinks" in lead, "enableServiceLinks" in arm) == (False, True)


def test_a_job_cannot_write_items(repo: Repository) -> None:
    declared(repo)
    repo.job(f"{JOB}spec: {{units: [{{name: x}}]}}\n")
    assert "a job may not set `spec.units`" in messages(repo)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"fields": ["units"]}, "a job must not set `units`, because gen sets `spec.units`"),
        ({"spec": {"units": [{"name": "a"}]}}, "`spec` has a value at `spec.units`, which gen sets"),
        ({"suspend": "spec.units.paused"}, "`spec.units.paused` and `spec.units` overlap"),
    ],
)
def test_faulty_declarations(repo: Repository, fields: dict[str, Any], problem: str) -> None:
    declared(repo, **fields)
    assert any(problem in message for message in messages(repo)), messages(repo)


@for_each(
    ("arm", "problem"),
    [
        ({"template": "spec.units[].other", "replicas": "spec.units[].size"}, "`arm` has other routes than the other"),
        ({"template": "spec.units[].pod.template", "replicas": "spec.arms"}, "are not in the same item of a list"),
        ({"template": "spec.a[].t[].u"}, "expected a route of a field"),
        ({"template": "spec.units[]"}, "expected a route of a field"),
        ({"template": "spec.b[].t", "itemName": "t"}, "`itemName` of `arm` is a field of its pods"),
        ({"template": "spec.b.t", "itemName": "role"}, "`itemName` of `arm` has no effect"),
        ({"template": "spec.b[].t", "replicas": "spec.b[].t.n"}, "`template` and `replicas` of `arm` overlap"),
        ({"template": "spec.b.t", "rendezvous": {"address": "<run>-0"}}, "`arm` has one pod, which meets no other"),
        ({"template": "spec.b.t", "rendezvous": {"address": "arm-0"}}, "expected a host name of a run"),
    ],
)
def test_faulty_items(repo: Repository, arm: dict[str, Any], problem: str) -> None:
    declared(repo, pods={**FLEET["pods"], "arm": arm})
    assert any(problem in message for message in messages(repo)), messages(repo)


def test_two_roles_at_one_place_are_refused(repo: Repository) -> None:
    declared(repo, pods={"a": {"template": "spec.t"}, "b": {"template": "spec.t"}})
    assert any("`spec.t` and `spec.t` overlap" in message for message in messages(repo))
