"""The policies that `gen init` offers."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import yaml

from gen.base.findings import Findings
from gen.kubernetes.check.policies import check_policy_files
from gen.kubernetes.policies.evaluate import verdicts
from gen.kubernetes.policies.policy_set import PolicySet
from gen.kubernetes.policies.request import request_for
from gen.kubernetes.schemas.lookup import Kinds
from tests.cases import for_each
from tests.kubernetes.policies.support import EXAMPLES, findings
from tests.support import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from gen.kubernetes.objects import Body

(RUN,) = [
    yaml.safe_load(path.read_text("utf-8"))
    for path in sorted((PROJECT / "rendered").glob("*/jobs/*/pytorch-dist/pytorchjob-*.yaml"))[:1]
]


def good() -> Body:
    """A run that all examples accept."""
    body: Body = copy.deepcopy(RUN)
    body["metadata"].setdefault("labels", {})["example.com/cost-center"] = "a"
    master = body["spec"]["pytorchReplicaSpecs"]["Master"]
    for container in master["template"]["spec"]["containers"]:
        container["image"] = "registry.example.com/a:1"
    master["template"]["spec"].pop("volumes", None)
    body["spec"] = {"pytorchReplicaSpecs": {"Master": master}, "runPolicy": {"activeDeadlineSeconds": 60}}
    return body


MASTER = ("spec", "pytorchReplicaSpecs", "Master")
DENIED = {
    "approved-registries": (
        (*MASTER, "template", "spec", "containers", 0, "image"),
        "docker.io/a:1",
        "images must come from one of: registry.example.com/ ghcr.io/your-org/",
    ),
    "cost-center": (
        ("metadata", "labels", "example.com/cost-center"),
        None,
        "the label `example.com/cost-center` is required",
    ),
    "deadline": (("spec", "runPolicy"), None, "set a deadline, such as `timeout` of the job"),
    "no-host-access": (
        (*MASTER, "template", "spec", "hostPID"),
        True,
        "namespaces of the host are not allowed",
    ),
    "pods-at-most": ((*MASTER, "replicas"), 100, "100 pods are more than 64"),
}


def of(path: Path) -> PolicySet:
    return PolicySet(((path, path.name),))


def test_every_example_has_a_case() -> None:
    assert [path.stem for path in EXAMPLES] == sorted(DENIED)


def test_the_cause_is_the_image_of_the_role_that_is_denied() -> None:
    body = good()
    route, value, _ = DENIED["approved-registries"]
    worker = copy.deepcopy(body["spec"]["pytorchReplicaSpecs"]["Master"])
    worker["template"]["spec"]["containers"][0]["image"] = value
    body["spec"] = {"runPolicy": {}, "pytorchReplicaSpecs": {**body["spec"]["pytorchReplicaSpecs"], "Worker": worker}}
    (path,) = [path for path in EXAMPLES if path.stem == "approved-registries"]
    (verdict,) = verdicts(of(path), request_for(body))
    assert verdict.cause == tuple("Worker" if step == "Master" else step for step in route)


@for_each("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_valid(path: Path) -> None:
    found = Findings()
    check_policy_files(of(path), Kinds("1.34"), found)
    assert list(found) == []


@for_each("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_denies_its_documented_objects(path: Path) -> None:
    route, value, message = DENIED[path.stem]
    bad = good()
    holder: Any = bad
    for step in route[:-1]:
        holder = holder[step]
    if value is None:
        del holder[route[-1]]
    else:
        holder[route[-1]] = value
    assert findings(of(path), good()) == {}
    assert findings(of(path), bad) == {path.stem: [message]}
