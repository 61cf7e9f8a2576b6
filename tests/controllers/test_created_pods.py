"""The pods that gen expects of random jobs, and those of the operators: names, images, variables and devices."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base.routes import at
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.created_pods import RANDOM, created_pods
from gen.kubernetes.facts.demand import demand
from tests.controllers import jobset
from tests.controllers.workbench import RUN_KINDS, Workbench, apply, pods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.kubernetes.objects import Body
    from tests.controllers.programs import Controller, Programs
    from tests.e2e.cluster import Cluster

CASES = 15
UNITS = {"": {"nvidia.com/gpu": 1}}
ROLES = {"pytorch": ("master",), "tensorflow": ("ps", "chief"), "xgboost": ("master",), "paddle": ("master",)}
KINDS = ("batch", "jobset", "pytorch", "tensorflow", "xgboost", "paddle", "jax")


@pytest.fixture(scope="module")
def job_sets(cluster: Cluster, controllers: Programs, controller_manager: Controller) -> Iterator[None]:
    del controller_manager
    with jobset.started(cluster, controllers):
        yield


OPERATORS = {"batch": "controller_manager", "jobset": "job_sets"}


def job(kind: str, chance: random.Random) -> dict[str, Any]:
    """A random job of a kind."""
    fields: dict[str, Any] = {
        "kind": kind,
        "image": f"registry.example.com/train:{chance.randint(1, 9)}",
        "command": "python a.py",
        "workers": chance.randint(1, 4),
        "gpus": chance.choice([0, 1, 2, 8]),
        "cpu": chance.randint(1, 8),
        "memory": f"{chance.randint(1, 64)}Gi",
        **({} if kind == "jobset" else {"timeout": "1h"}),
    }
    if chance.random() < 0.5:
        fields["env"] = {"LR": chance.choice(["1e-3", "0.1"]), "B": "c"}
    if chance.random() < 0.3:
        fields["files"] = {"/etc/a.yaml": "a: 1\n"}
    roles = [role for role in ROLES.get(kind, ()) if chance.random() < 0.5 and fields["workers"] > 1]
    if roles:
        fields["roles"] = {role: {"image": "registry.example.com/lead:1"} for role in roles}
    return fields


def summary(name: str, containers: list[Body]) -> tuple[str, Any]:
    """The server sets requests from limits, and the version of fields."""

    def env(one: Body) -> list[str]:
        texts = (yaml.safe_dump(entry).replace("    apiVersion: v1\n", "") for entry in one.get("env") or ())
        return sorted(texts)

    return name, [(one["name"], one["image"], env(one), at(one, "resources", "limits")) for one in containers]


@pytest.mark.parametrize("kind", KINDS)
def test_operators_create_the_pods_that_gen_expects(
    cluster: Cluster, workbench: Callable[..., Workbench], request: pytest.FixtureRequest, kind: str
) -> None:
    request.getfixturevalue(OPERATORS.get(kind, "training_operator"))
    chance, bench = random.Random(kind), workbench(cluster)  # noqa: S311
    for number in range(CASES):
        bench.repository.job(yaml.safe_dump(job(kind, chance)), f"job-{number}", bench.namespace)
    report, code = bench.repository.render()
    assert code == 0, report
    for number in range(CASES):
        bodies = bench.rendered(f"job-{number}")
        (run,) = [body for body in bodies if body["kind"] in RUN_KINDS]
        resource = resource_of_object(run["apiVersion"], run["kind"])
        assert resource is not None
        expected = list(created_pods(run, resource))
        asked = demand(run, resource, UNITS)
        assert len(expected) == asked.pods
        assert sum(int(pod.resources.get("nvidia.com/gpu", 0)) for pod in expected) == asked.gpus
        apply(cluster, bodies)
        name = run["metadata"]["name"]
        real = pods(cluster, bench.namespace, len(expected), name)
        random_end = any(pod.name.endswith(RANDOM) for pod in expected)
        found = sorted(
            (summary(_cut(name, pod, random_end=random_end), pod["spec"]["containers"]) for name, pod in real.items()),
            key=str,
        )
        assert found == sorted((summary(pod.name, pod.containers) for pod in expected), key=str), run


def _cut(name: str, pod: Body, *, random_end: bool) -> str:
    """The name without its random characters."""
    generated = random_end and "generateName" in pod["metadata"]
    return re.sub(r"-[a-z0-9]{5}$", f"-{RANDOM}", name) if generated else name
