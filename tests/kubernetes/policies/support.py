"""Policies and objects of `cases.yaml` and `bases.yaml`."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from msgspec import Struct

from gen.kubernetes.policies.evaluate import verdicts
from gen.kubernetes.policies.policy_set import PolicySet, name_of
from gen.kubernetes.policies.request import request_for
from tests.support import PROJECT

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body

HERE = Path(__file__).parent
EXAMPLES = sorted((PROJECT / "gen/templates/init/examples/policies").glob("*.yaml"))
"""Policies that `gen init` offers."""
GROUP = "admissionregistration.k8s.io/v1"
GROUPS = {
    **dict.fromkeys(("deployments", "statefulsets", "daemonsets", "replicasets"), "apps"),
    **dict.fromkeys(("jobs", "cronjobs"), "batch"),
    **dict.fromkeys(("ingresses", "networkpolicies"), "networking.k8s.io"),
    "pytorchjobs": "kubeflow.org",
    "rayjobs": "ray.io",
    "jobsets": "jobset.x-k8s.io",
}
VERSIONS = {"jobsets": "v1alpha2"}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
PARAMS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "limits", "namespace": "default"},
    "data": {"maxReplicas": "7"},
}


class PolicyCase(Struct, frozen=True):
    """A policy, and an object that it denies."""

    name: str
    policy: Body
    denied: Body | None
    """None if it denies nothing."""
    accepted: Body | None
    """None if it denies the base object, too."""


class UpdateCase(Struct, frozen=True):
    """A policy about updates, an object, and the objects that replace it."""

    name: str
    policy: Body
    old: Body
    denied: Body | None
    """None if no update is denied."""
    accepted: Body | None
    """None if every update is denied."""


def bases() -> dict[str, Body]:
    found: dict[str, Body] = yaml.safe_load((HERE / "bases.yaml").read_text("utf-8"))
    return found


def merged(value: Any, patch: Any) -> Any:
    """JSON merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(value) if isinstance(value, dict) else {}
    for key, inner in patch.items():
        if inner is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), inner)
    return result


def cases() -> list[PolicyCase]:
    objects = bases()
    found = []
    for case in yaml.safe_load((HERE / "cases.yaml").read_text("utf-8")):
        base = objects[case["of"][0]]
        accepted = None if case.get("always") else base
        denied = None if case.get("never") else merged(base, case["denied"])
        found.append(PolicyCase(case["name"], policy(case), denied, accepted))
    return found


def update_cases() -> list[UpdateCase]:
    objects = bases()
    found = []
    for case in yaml.safe_load((HERE / "updates.yaml").read_text("utf-8")):
        for kind in case["of"]:
            base = merged(objects[kind], {"metadata": {"name": f"{case['name']}-{kind}"}})
            old = merged(base, case["old"])
            new, same = (merged(old, case[key]) if key in case else None for key in ("new", "same"))
            if new is not None and "data" in case["new"]:
                new = {**new, "data": case["new"]["data"]}
            found.append(UpdateCase(case["name"], policy({"operations": ["UPDATE"], **case}), old, new, same))
    return found


def policy(case: dict[str, Any]) -> Body:
    """The policy of a case."""
    rules = [
        {
            "apiGroups": [GROUPS.get(one, "")],
            "apiVersions": [VERSIONS.get(one, "v1")],
            "operations": case.get("operations", ["CREATE"]),
            "resources": [one],
        }
        for one in case["of"]
    ]
    texts = {key: case[key] for key in ("message", "messageExpression") if key in case}
    spec: Body = {
        "failurePolicy": case.get("failurePolicy", "Fail"),
        "matchConstraints": {"resourceRules": rules},
        "validations": [{"expression": case["expression"], **texts}],
    }
    if "selector" in case:
        spec["matchConstraints"]["objectSelector"] = case["selector"]
    if "variables" in case:
        spec["variables"] = [{"name": name, "expression": text} for name, text in case["variables"].items()]
    if "conditions" in case:
        spec["matchConditions"] = [{"name": name, "expression": text} for name, text in case["conditions"].items()]
    if "params" in case:
        spec["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    return {"apiVersion": GROUP, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": case["name"]}, "spec": spec}


def binding(policy: Body, action: str = "Warn") -> Body:
    name = policy["metadata"]["name"]
    spec: Body = {"policyName": name, "validationActions": [action]}
    if "paramKind" in policy["spec"]:
        spec["paramRef"] = {"name": "limits", "namespace": "default", "parameterNotFoundAction": "Deny"}
    kind = "ValidatingAdmissionPolicyBinding"
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": f"{name}-b"}, "spec": spec}


def policy_set(folder: Path, *objects: Body) -> PolicySet:
    """The set of some objects, written to a file."""
    path = folder / "policies.yaml"
    path.write_text(yaml.safe_dump_all(objects), "utf-8")
    return PolicySet(((path, "policies.yaml"),))


def findings(policies: PolicySet, body: Body, old: Body | None = None) -> dict[str, list[str]]:
    """The messages about an object, by policy."""
    found: dict[str, list[str]] = {}
    for verdict in verdicts(policies, request_for(body, old)):
        mark = "" if verdict.actions else "not evaluated: "
        found.setdefault(name_of(verdict.policy.body), []).append(mark + verdict.message)
    return found
