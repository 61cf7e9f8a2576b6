"""No engine sees a difference between Git and what an operator and its webhooks made of an object.

Argo CD compares by its own package (`tests/argocdref`), Flux by a dry run of an apply
(`ssa/manager_diff.go` of fluxcd/pkg). The objects are those of the golden cases, after their creation, another label, a
suspension, a resumption and their end.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
import yaml

from gen.base.routes import at, set_value
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.builtin import CRONJOB, JOB
from gen.kubernetes.facts.jobset import JOBSET
from gen.kubernetes.facts.katib import EXPERIMENT
from gen.kubernetes.facts.kubeflow import JAXJOB, MPIJOB, PADDLEJOB, PYTORCHJOB, TFJOB, XGBOOSTJOB
from gen.kubernetes.facts.ray import RAYJOB
from gen.kubernetes.facts.state import State, state_of
from gen.kubernetes.objects import QUEUE_LABEL
from gen.overlay.profiles.engines.argocd import ignored_differences
from gen.overlay.profiles.engines.base import Site, Workload
from tests.controllers import jobset, katib, kuberay
from tests.controllers.kubelet import Kubelet
from tests.controllers.waiting import wait
from tests.support import HERE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gen.kubernetes.objects import Body
    from tests.controllers.programs import Controller, Programs
    from tests.e2e.cluster import Cluster

TRAINING = (PYTORCHJOB, TFJOB, XGBOOSTJOB, PADDLEJOB, JAXJOB)
KINDS = (RAYJOB, EXPERIMENT, JOB, CRONJOB, JOBSET, *TRAINING, MPIJOB)
_SETTLED = 20
"""Looks in a row, a tenth of a second each, without a change."""


def objects(resource: Resource) -> list[Any]:
    """The objects of a kind in the golden cases, each with the name of its case and file."""
    found = {}
    for path in sorted((HERE / "golden").glob(f"*/rendered/*/jobs/*/*/{resource.kind.lower()}-*.yaml")):
        body = yaml.safe_load(path.read_bytes())
        key = f"{path.relative_to(HERE / 'golden').parts[0]}-{path.stem}"
        # a cluster has the MPIJob of one operator
        own = body["kind"] == resource.kind and body["apiVersion"] == resource.api_version(resource.served[0])
        if own and at(body, "metadata", "annotations", "argocd.argoproj.io/hook") != "Skip":
            found[key] = body
    return [pytest.param(resource, body, id=key) for key, body in found.items()]


_STARTED = {RAYJOB: kuberay.started, EXPERIMENT: katib.started, JOBSET: jobset.started}
_SHARED = {**dict.fromkeys(TRAINING, "training_operator"), MPIJOB: "mpi_operator"}
"""Fixtures with the operators that other tests use as well."""


@pytest.fixture(scope="module")
def running() -> Iterator[ExitStack]:
    """The operators that run, in the order of their start."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="module")
def operator(
    cluster: Cluster, controllers: Programs, controller_manager: Controller, running: ExitStack
) -> Callable[[Resource, pytest.FixtureRequest], None]:
    """Start the operator of a kind when its first object needs it."""
    del controller_manager
    known: set[Resource] = set()

    def start(resource: Resource, request: pytest.FixtureRequest) -> None:
        if resource in _SHARED:
            request.getfixturevalue(_SHARED[resource])
        elif resource in _STARTED and resource not in known:
            running.enter_context(_STARTED[resource](cluster, controllers))
        known.add(resource)

    return start


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that has applied an object, and what it sees."""

    program: ClassVar[str]
    """What its differences need."""

    cluster: Cluster
    programs: Programs
    resource: Resource

    def apply(self, body: Body) -> Body:
        return self.cluster.apply(body, self.manager)

    @property
    def manager(self) -> str:
        raise NotImplementedError

    def differences(self, body: Body, live: Body) -> object:
        """Changes that the engine would make; none if it sees no difference."""
        raise NotImplementedError


class ArgoCD(Engine):
    program = "argocd-diff"

    @property
    def manager(self) -> str:
        return "argocd-controller"

    def differences(self, body: Body, live: Body) -> object:
        workload = Workload(api_version=body["apiVersion"], resource=self.resource)
        site = Site(
            overlay="dev",
            granted=None,
            jobs={},
            stored=(),
            storage_kinds=(),
            queues=True,
            workloads=(workload,),
            kinds=(),
        )
        ignored = [path for one in ignored_differences(site) for path in one["jqPathExpressions"]]
        request = json.dumps({"desired": body, "live": live, "ignored": ignored})
        environment = {**os.environ, "KUBECONFIG": str(self.programs.kubeconfig(self.cluster))}
        program = self.programs.path("argocd-diff")
        done = subprocess.run(
            [program], input=request + "\n", env=environment, capture_output=True, text=True, check=True
        )
        if done.stdout.strip() != "true":
            return None
        predicted, compared = (json.loads(line.partition(" ")[2]) for line in done.stderr.strip().splitlines()[-2:])
        return list(_differing(predicted, compared))


class Flux(Engine):
    program = "kube-controller-manager"

    @property
    def manager(self) -> str:
        return "kustomize-controller"

    def differences(self, body: Body, live: Body) -> object:
        # with the mark, it creates an object once, and ignores it from then on
        if at(body, "metadata", "annotations", "kustomize.toolkit.fluxcd.io/ssa") == "IfNotPresent":
            return None
        path = self.cluster.path(body)
        tried = self.cluster.client.apply(path, body, fieldManager=self.manager, force="true", dryRun="All")
        assert tried.status == 200, tried.message
        seen = [_compared(one) for one in (tried.body, live)]
        return seen if seen[0] != seen[1] else None


def _compared(body: Body) -> Body:
    labels = {field: at(body, "metadata", field) or {} for field in ("labels", "annotations")}
    return {**{key: value for key, value in body.items() if key not in ("metadata", "status")}, **labels}


def _differing(one: object, other: object, place: str = "") -> Iterator[str]:
    """The deepest places with another value, for messages."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from _differing(one.get(key), other.get(key), f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from _differing(first, second, f"{place}[{index}]")
    elif one != other:
        yield f"{place}: {one} != {other}"


def settled(cluster: Cluster, body: Body) -> Body:
    """The object when nothing changes it any more."""
    seen: list[str] = []

    def quiet() -> Body | None:
        live = cluster.client.get(cluster.path(body)).body
        seen.append(json.dumps([live.get("spec"), live["metadata"].get("finalizers")]))
        return live if len(seen) >= _SETTLED and len(set(seen[-_SETTLED:])) == 1 else None

    return wait(quiet, f"settled {body['kind']}")


def changes(resource: Resource, body: Body) -> Iterator[tuple[str, Body]]:
    """The object in Git over time."""
    yield "created", body
    labelled = copy.deepcopy(body)
    labelled["metadata"]["labels"]["example.com/team"] = "a"
    yield "another label", labelled
    if resource.suspend is not None and at(body, "metadata", "labels", QUEUE_LABEL) is None:
        suspended = copy.deepcopy(labelled)
        set_value(suspended, resource.suspend, value=True)
        yield "suspended", suspended
        yield "resumed", labelled


@pytest.mark.parametrize("engine", [ArgoCD, Flux])
@pytest.mark.parametrize(("resource", "body"), [one for kind in KINDS for one in objects(kind)])
def test_no_engine_sees_a_difference(
    cluster: Cluster,
    controllers: Programs,
    operator: Callable[[Resource, pytest.FixtureRequest], None],
    request: pytest.FixtureRequest,
    resource: Resource,
    body: Body,
    engine: type[Engine],
) -> None:
    controllers.path(engine.program)
    operator(resource, request)
    own = engine(cluster, controllers, resource)
    namespace = f"sync-{engine.__name__.lower()}-{body['metadata']['name']}"[:60].rstrip("-")
    labels = {"katib.kubeflow.org/metrics-collector-injection": "enabled"}
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}})
    placed = copy.deepcopy(body)
    placed["metadata"]["namespace"] = namespace
    for stage, desired in changes(resource, placed):
        own.apply(desired)
        live = settled(cluster, desired)
        assert own.differences(desired, live) is None, stage
    if end(cluster, resource, placed):
        assert own.differences(desired, settled(cluster, desired)) is None, "ended"


def end(cluster: Cluster, resource: Resource, body: Body) -> bool:
    """Whether the run has pods, all of which have then succeeded."""
    kubelet, namespace = Kubelet(cluster), body["metadata"]["namespace"]
    seen: set[str] = set()

    def over() -> bool:
        pods = [pod for pod in cluster.live("", "Pod", namespace) if "deletionTimestamp" not in pod["metadata"]]
        pending = (pod for pod in pods if pod["status"].get("phase") == "Pending")
        new = [pod for pod in pending if pod["metadata"]["uid"] not in seen]
        for pod in new:
            # operators delete the other pods when the leading one has succeeded
            with suppress(AssertionError):
                kubelet.run(pod)
                kubelet.succeed(pod)
        seen.update(pod["metadata"]["uid"] for pod in new)
        return state_of(resource, cluster.client.get(cluster.path(body)).body) is State.SUCCEEDED

    if not resource.is_run or not cluster.live("", "Pod", namespace):
        return False
    wait(over, f"end of {body['kind']}")
    return True
