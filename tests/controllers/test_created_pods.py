"""The pods that gen expects of random jobs, and those of the operators: names, images, variables and devices."""

from __future__ import annotations

import random
import re
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gen.base.findings import Findings
from gen.base.routes import at
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.demand import demand
from gen.kubernetes.facts.pods import RANDOM, CreatedPod, created_pods
from gen.overlay.read import OverlayReader
from tests.controllers import jobset, kuberay, trainer, volcano
from tests.controllers.kubelet import Kubelet
from tests.controllers.waiting import wait
from tests.controllers.workbench import OVERLAY, RUN_KINDS, Workbench, apply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.kubernetes.facts.runtimes import Runtimes
    from gen.kubernetes.objects import Body
    from tests.controllers.programs import Controller, Programs
    from tests.e2e.cluster import Cluster

CASES = 42
"""For each kind: 504 in all."""
UNITS = {"": {"nvidia.com/gpu": 1}}
ROLES = {
    "pytorch": ("master",),
    "tensorflow": ("ps", "chief"),
    "xgboost": ("master",),
    "paddle": ("master",),
    "mpi": ("launcher",),
    "mpi-v1": ("launcher",),
    "ray": ("head",),
    "volcano": ("master",),
}
V1 = "mpi-v1"
"""The kind `mpi` in a cluster with the MPIJob of the training operator."""
KINDS = ("batch", "jobset", "pytorch", "tensorflow", "xgboost", "paddle", "jax", "mpi", V1, "volcano", "ray", "train")
RUNTIMES = {
    "torch-distributed": True,
    "jax-distributed": True,
    "xgboost-distributed": True,
    "deepspeed-distributed": False,
}
"""Whether a job sets the image: that of an MPI runtime would only reach the launcher."""


PLUGINS: dict[str, dict[str, list[str]]] = {
    "none": {},
    "torch": {"pytorch": []},
    "torch on a port": {"pytorch": ["--port=29500"], "env": []},
    "tensorflow": {"tensorflow": []},
    "mpi": {"mpi": []},
}
"""Of Volcano."""


@pytest.fixture(scope="module")
def running() -> Iterator[ExitStack]:
    """The operators that only this module needs."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="module")
def job_sets(cluster: Cluster, controllers: Programs, controller_manager: Controller, running: ExitStack) -> None:
    del controller_manager
    running.enter_context(jobset.started(cluster, controllers))


@pytest.fixture(scope="module")
def train_jobs(cluster: Cluster, controllers: Programs, job_sets: None, running: ExitStack) -> None:
    del job_sets
    running.enter_context(trainer.started(cluster, controllers))


@pytest.fixture(scope="module")
def ray_jobs(cluster: Cluster, controllers: Programs, controller_manager: Controller, running: ExitStack) -> None:
    del controller_manager
    running.enter_context(kuberay.started(cluster, controllers))


@pytest.fixture(scope="module")
def volcano_jobs(cluster: Cluster, controllers: Programs, running: ExitStack) -> None:
    running.enter_context(volcano.created(cluster, controllers))


OPERATORS = {
    "batch": "controller_manager",
    "jobset": "job_sets",
    "mpi": "mpi_operator",
    "ray": "ray_jobs",
    "train": "train_jobs",
    "volcano": "volcano_jobs",
}
STAGED = {"mpi", "ray", "train", "volcano"}
"""Kinds whose later pods wait for earlier ones, or for a scheduler."""


def job(kind: str, chance: random.Random) -> dict[str, Any]:
    """A random job of a kind."""
    fields: dict[str, Any] = {
        "kind": kind.removesuffix("-v1"),
        "image": f"registry.example.com/train:{chance.randint(1, 9)}",
        "command": "python a.py",
        "workers": chance.randint(1, 4),
        "gpus": chance.choice([0, 1, 2, 8]),
        "cpu": chance.randint(1, 8),
        "memory": f"{chance.randint(1, 64)}Gi",
        **({} if kind in ("jobset", "volcano") else {"timeout": "1h"}),
    }
    if chance.random() < 0.5:
        fields["env"] = {"LR": chance.choice(["1e-3", "0.1"]), "B": "c"}
    if chance.random() < 0.3:
        fields["files"] = {"/etc/a.yaml": "a: 1\n"}
    roles = [role for role in ROLES.get(kind, ()) if chance.random() < 0.5 and fields["workers"] > 1]
    if roles:
        fields["roles"] = {role: {"image": "registry.example.com/lead:1"} for role in roles}
    return MORE.get(kind, _nothing)(fields, chance)


def _nothing(fields: dict[str, Any], _chance: random.Random) -> dict[str, Any]:
    return fields


def _mpi(fields: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    more = {"implementation": chance.choice(["OpenMPI", "Intel", "MPICH"])} if chance.random() < 0.6 else {}
    return {**fields, **more, **({"slotsPerWorker": chance.randint(1, 4)} if chance.random() < 0.3 else {})}


def _volcano(fields: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    fields["workers"] = max(fields["workers"], 2)
    chosen = chance.choice(list(PLUGINS.values()))
    return {**fields, **({"plugins": chosen} if chosen else {})}


def _ray(fields: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    mode = chance.choice(["HTTPMode", "K8sJobMode", "SidecarMode"])
    more: dict[str, Any] = {"submissionMode": mode}
    if chance.random() < 0.3:
        more["autoscaler"] = chance.choice([True, {"version": "v2"}, {"version": "v1"}])
    if chance.random() < 0.3:
        head = {
            **fields.get("roles", {}).get("head", {}),
            "rayStartParams": {"num-cpus": "0", "include-dashboard": "false"},
        }
        more["roles"] = {**fields.get("roles", {}), "head": head}
    return {**fields, **more}


def _train(fields: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    runtime = chance.choice(list(RUNTIMES))
    if not RUNTIMES[runtime]:
        del fields["image"]
    more = {"processesPerNode": chance.randint(1, 8)} if chance.random() < 0.4 and runtime[0] in "td" else {}
    return {**fields, **more, "runtime": runtime}


MORE = {"mpi": _mpi, "volcano": _volcano, "ray": _ray, "train": _train}


def summary(name: str, spec: Body) -> tuple[str, Any]:
    """The server sets requests from limits, and the version of fields; it leaves out empty values."""

    def env(one: Body) -> list[str]:
        entries = ({key: value for key, value in entry.items() if value != ""} for entry in one.get("env") or ())
        texts = (yaml.safe_dump(entry).replace("    apiVersion: v1\n", "") for entry in entries)
        return sorted(texts)

    containers = [one for field in ("containers", "initContainers") for one in spec.get(field) or ()]
    return name, [(one["name"], one["image"], env(one), at(one, "resources", "limits")) for one in containers]


@pytest.mark.parametrize("kind", KINDS)
def test_operators_create_the_pods_that_gen_expects(
    workbench: Callable[..., Workbench], controllers: Programs, request: pytest.FixtureRequest, kind: str
) -> None:
    if kind != V1:
        request.getfixturevalue(OPERATORS.get(kind, "training_operator"))
    cluster: Cluster = request.getfixturevalue("cluster_v1" if kind == V1 else "cluster")
    version = "kubeflow.org/v1" if kind == V1 else "kubeflow.org/v2beta1"
    chance, bench = random.Random(kind), workbench(cluster, mpi=version)  # noqa: S311
    runtimes = declared_runtimes(bench, controllers, version) if kind == "train" else None
    for number in range(CASES):
        bench.repository.job(yaml.safe_dump(job(kind, chance)), f"job-{number}", bench.namespace)
    report, code = bench.repository.render()
    assert code == 0, report
    for number in range(CASES):
        bodies = bench.rendered(f"job-{number}")
        (run,) = [body for body in bodies if body["kind"] in RUN_KINDS]
        resource = resource_of_object(run["apiVersion"], run["kind"])
        assert resource is not None
        given = (runtimes,) if runtimes is not None else ()
        expected = list(created_pods(run, resource, *given))
        asked = demand(run, resource, UNITS, *given)
        assert len(expected) == asked.pods
        assert sum(int(pod.resources.get("nvidia.com/gpu", 0)) for pod in expected) == asked.gpus
        apply(cluster, bodies)
        name = run["metadata"]["name"]
        real = created(bench, name, len(expected), kind)
        found = sorted((of_real(name, pod, expected, inside=kind == "ray") for pod in real), key=str)
        assert found == sorted((summary(pod.name, pod.spec) for pod in expected), key=str), run
        bench.cluster.client.delete(bench.cluster.path(run))


def declared_runtimes(bench: Workbench, controllers: Programs, version: str) -> Runtimes:
    """Those of the cluster, in the folder of the overlay."""
    bench.repository.overlay(OVERLAY.format(mpi=version))
    for file, text in trainer.shipped_runtimes(controllers).items():
        bench.repository.write(f"overlays/dev/runtimes/{file}", text)
    (overlay,) = OverlayReader(bench.repository.root, Findings()).read()
    return overlay.runtimes


def created(bench: Workbench, run: str, count: int, kind: str) -> list[Body]:
    """The pods of a run, once there are so many. With stages, the earlier ones run until the others follow."""
    kubelet, seen = Kubelet(bench.cluster), set[str]()

    def found() -> tuple[list[Body]] | None:
        live = bench.cluster.live("", "Pod", bench.namespace)
        own = [pod for pod in live if "deletionTimestamp" not in pod["metadata"] and run in pod["metadata"]["name"]]
        if len(own) == count:
            return (own,)
        if kind == "volcano":
            volcano.let_in(bench.cluster, bench.namespace)
        if kind in STAGED:
            new = [pod for pod in own if pod["metadata"]["uid"] not in seen]
            kubelet.run(*new)
            seen.update(pod["metadata"]["uid"] for pod in new)
        return None

    return wait(found, f"{count} pods of {run}")[0]


def of_real(run: str, pod: Body, expected: list[CreatedPod], *, inside: bool) -> tuple[str, Any]:
    """A pod with `RANDOM` in place of the random characters of its name, and of the name of a Ray cluster."""
    name, spec = pod["metadata"]["name"], pod["spec"]
    if any(one.name.endswith(RANDOM) for one in expected) and "generateName" in pod["metadata"]:
        name = re.sub(r"-[a-z0-9]{5}$", f"-{RANDOM}", name)
    if inside:
        known = re.compile(re.escape(run) + r"-[a-z0-9]{5}\b")
        name = known.sub(f"{run}-{RANDOM}", name)
        spec = yaml.safe_load(known.sub(f"{run}-{RANDOM}", yaml.safe_dump(spec)))
    return summary(name, spec)
