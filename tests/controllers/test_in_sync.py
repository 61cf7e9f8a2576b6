"""No engine sees a difference between Git and what an operator and its webhooks made of an object.

Argo CD compares by its own package (`tests/argocdref`) with the ignored differences of the rendered ApplicationSet,
Flux by a dry run of an apply (`ssa/manager_diff.go` of fluxcd/pkg). Each change of the jobs and of the platform is
rendered, and the engines apply what they see as different.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import pytest
import yaml

from gen.base.findings import Severity
from gen.base.routes import at
from gen.job.kinds import KINDS
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.argo import WORKFLOW
from gen.kubernetes.facts.katib import EXPERIMENT
from gen.kubernetes.facts.state import State, state_of
from gen.kubernetes.objects import JOB_LABEL
from gen.overlay.profiles.queues import QUEUES
from tests.controllers import jobset, katib, kuberay, kueue, scheduler_plugins, trainer, volcano
from tests.controllers.argo_workflows import argo
from tests.controllers.kubelet import Kubelet
from tests.controllers.waiting import give_time, wait
from tests.support import Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from gen.base.findings import Diagnostic
    from gen.kubernetes.objects import Body
    from tests.controllers.programs import Controller, Programs
    from tests.e2e.cluster import Cluster

_KINDS = [kind for kind in KINDS if kind != "pipeline"]
_LOOK_S = 0.5
_QUIET = 4
"""Looks in a row without a change."""
_LONG_S = 180
_BUSY = ("/openapi/v2", "unable to return a response in the time allotted")
"""In messages of a server that has not merged the schemas of new definitions yet, and its client."""
_SHARED = {
    **dict.fromkeys(("pytorch", "tensorflow", "xgboost", "paddle", "jax"), "training_operator"),
    "mpi": "mpi_operator",
}
"""Fixtures with the operators that other tests use as well."""
_OWN: dict[str, tuple[Callable[[Cluster, Programs], AbstractContextManager[object]], ...]] = {
    "jobset": (jobset.started,),
    "train": (jobset.started, trainer.started),
    "volcano": (volcano.created,),
}
_OF_STARTERS = {"schedule": argo.started, "pipeline": argo.started, "search": katib.started}
_OF_QUEUES = {"kueue": "kueue", "volcano": "volcano-controller-manager", "coscheduling": "scheduler-plugins"}
"""Programs with the definitions that a queue needs."""
_FRAMEWORKS = [model.facts.kueue.framework for model in map(KINDS.__getitem__, KINDS) if model.facts.kueue is not None]
_SCHEDULERS = {
    "kueue": "{localQueue: research, frameworks: FRAMEWORKS}",
    "volcano": "{queue: research}",
    "yunikorn": "{queue: root.team}",
}
OVERLAY = f"""\
kubernetes: "1.34"
operators: {{mpi: kubeflow.org/v2beta1}}
runtimes: {{torch-distributed: {{}}}}
volumes: {{data: {{claim: data}}}}
pipelines: {{argo: {{serviceAccount: gen-pipeline, reader: "registry.example.com/kubectl:1"}}}}
katib: {{trialResources: [{", ".join(katib.TRIALS)}]}}
queues: {{{", ".join(f"{name}: {{{name}: {_SCHEDULERS.get(name, '{}')}}}" for name in QUEUES)}}}
namespaces:
  "*": {{queues: [{", ".join(QUEUES)}], metadata: ["example.com/*"], search: {{maxTrials: 9, parallelTrials: 3}}}}
""".replace("FRAMEWORKS", json.dumps(_FRAMEWORKS))
_STARTERS: dict[str, Body] = {
    "once": {"data": {"data": "/data"}, "tensorboard": {"logdir": "/data/runs"}},
    "schedule": {"schedule": "0 3 * * *"},
    "search": {
        "metrics": ["accuracy"],
        "search": {"params": {"LR": {"min": 0.1, "max": 0.5}}, "maximize": "accuracy", "maxTrials": 2},
    },
    "pipeline": {},
}
COMBINATIONS = 60
_LABELS: Body = {"labels": {"example.com/team": "a"}}
SUSPENDED = "suspended"
STAGES: dict[str, tuple[Body, Body]] = {
    "created": ({}, {}),
    "another label": (_LABELS, {}),
    SUSPENDED: ({**_LABELS, "state": "suspended"}, {}),
    "resumed": (_LABELS, {}),
    "another platform": (
        _LABELS,
        {
            "images": [{"from": "registry.example.com", "to": "mirror.example.com"}],
            "tensorboard": {"image": "registry.example.com/tensorboard:2"},
        },
    ),
}
"""Fields of all jobs and of the overlays after each commit."""
LAST = list(STAGES)[-1]
ENDED = "ended"


Ignored = dict[tuple[str, str], list[str]]
"""The ignored differences of Argo CD, by group and kind."""


@dataclass(frozen=True, eq=False)
class Engine:
    """An engine that has applied objects, and what it sees."""

    name: ClassVar[str]
    manager: ClassVar[str]

    cluster: Cluster
    programs: Programs

    def differing(self, pairs: list[tuple[Body, Body]], ignored: Ignored) -> list[list[str]]:
        """For each object in Git and the live one, what the engine would change."""
        raise NotImplementedError

    def sync(self, bodies: list[Body], ignored: Ignored) -> None:
        """Apply objects that are missing or that differ."""
        found = live_objects(self.cluster, bodies)
        pairs = [(body, live) for body in bodies if (live := found.get(self.cluster.path(body))) is not None]
        differing = {id(body) for (body, _), one in zip(pairs, self.differing(pairs, ignored), strict=True) if one}
        known = {id(body) for body, _ in pairs}
        for body in bodies:
            if id(body) in differing or id(body) not in known:
                self.cluster.apply(body, self.manager)


class ArgoCD(Engine):
    name = "argocd"
    manager = "argocd-controller"

    def differing(self, pairs: list[tuple[Body, Body]], ignored: Ignored) -> list[list[str]]:
        environment = {**os.environ, "KUBECONFIG": str(self.programs.kubeconfig(self.cluster))}
        requests = (
            {"desired": body, "live": live, "ignored": ignored.get((_group(body), body["kind"]), [])}
            for body, live in pairs
        )
        text = "".join(f"{json.dumps(one)}\n" for one in requests)
        program = self.programs.path("argocd-diff")

        def compared() -> subprocess.CompletedProcess[str] | None:
            done = subprocess.run([program], input=text, env=environment, capture_output=True, text=True, check=False)
            # after new definitions, a busy server takes longer than the client waits to merge their schemas
            if done.returncode != 0 and any(one in done.stderr for one in _BUSY):
                return None
            assert done.returncode == 0, done.stderr[-2000:]
            return done

        done = wait(compared, "schemas of the server", _LONG_S)
        lines = (line.partition(" ") for line in done.stderr.splitlines())
        seen = iter([json.loads(value) for key, _, value in lines if key in ("predicted", "live")])
        answers = done.stdout.split()
        assert len(answers) == len(pairs)
        return [list(_differing(next(seen), next(seen))) if answer == "true" else [] for answer in answers]


class Flux(Engine):
    name = "flux"
    manager = "kustomize-controller"

    def differing(self, pairs: list[tuple[Body, Body]], ignored: Ignored) -> list[list[str]]:
        del ignored  # it has none
        return [list(self._drift(body, live)) for body, live in pairs]

    def _drift(self, body: Body, live: Body) -> Iterator[str]:
        # with the mark, it creates an object once, and leaves it alone from then on
        if at(body, "metadata", "annotations", "kustomize.toolkit.fluxcd.io/ssa") == "IfNotPresent":
            return
        path = self.cluster.path(body)
        tried = self.cluster.client.apply(path, body, fieldManager=self.manager, force="true", dryRun="All")
        if tried.status == 200:
            yield from _differing(_compared(tried.body), _compared(live))
        else:
            yield tried.message


ENGINES = (ArgoCD, Flux)


def _job(body: Body) -> str:
    return str(body["metadata"]["labels"][JOB_LABEL])


def _group(body: Body) -> str:
    return str(body["apiVersion"]).rpartition("/")[0]


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


@dataclass(frozen=True)
class Commits:
    """The objects of every combination of a kind, a starter and a queue that gen takes, after each commit."""

    root: Path
    jobs: dict[tuple[str, str], list[str]]
    """Names of the jobs of a kind and a starter."""
    rendered: dict[str, dict[Path, Body]]
    """Files with their objects, by commit."""
    ignored: Ignored
    suspended: set[str]
    """Names of the jobs that one of the commits suspends."""

    def bodies(self, commit: str, engine: str, jobs: list[str]) -> list[Body]:
        """The objects of jobs of one namespace after a commit, or after the last one."""
        folder = self.root / f"rendered/with-{engine}/jobs/{_namespace(engine, jobs[0])}"
        files = self.rendered.get(commit, self.rendered[LAST]).items()
        return [body for path, body in files if path.parent.parent == folder and path.parent.name in jobs]


def _namespace(engine: str, job: str) -> str:
    return f"{engine}-{job.rpartition('-')[0]}"


def commits(root: Path) -> Commits:
    repository = Repository.at(root)
    shutil.rmtree(root / "overlays")
    # the queue of a step is in the text of a pipeline
    queues = {"pipeline": ("none", "kueue")}
    names = [
        f"{kind}-{starter}-{queue}"
        for kind, starter in itertools.product(_KINDS, _STARTERS)
        for queue in queues.get(starter, ("none", *QUEUES))
    ]
    _write(repository, names, {}, {})
    refused = {one.place.file for one in _errors(repository)}
    taken = [name for name in names if _file(ENGINES[0].name, name) not in refused]
    for name, engine in itertools.product(set(names) - set(taken), ENGINES):
        (root / _file(engine.name, name)).unlink()
    rendered, suspended = {}, set[str]()
    for commit, changes in STAGES.items():
        _write(repository, taken, *changes)
        if commit == SUSPENDED:
            # Kueue decides it, and some kinds have no field for it
            remain = {one.place.file for one in _errors(repository)}
            kept = [name for name in taken if _file(ENGINES[0].name, name) in remain]
            _write(repository, kept, _LABELS, {})
            suspended = set(taken) - set(kept)
        assert _errors(repository) == []
        files = sorted((root / "rendered").glob("with-*/jobs/*/*/*.yaml"))
        rendered[commit] = {path: yaml.load(path.read_bytes(), yaml.CSafeLoader) for path in files}
    file = root / "rendered/argocd/with-argocd/applications/applicationset-with-argocd-jobs.yaml"
    bundle = yaml.safe_load(file.read_bytes())
    entries = at(bundle, "spec", "template", "spec", "ignoreDifferences") or ()
    ignored = {(one.get("group", ""), one["kind"]): one["jqPathExpressions"] for one in entries}
    jobs: dict[tuple[str, str], list[str]] = {}
    for name in taken:
        kind, starter, _ = name.split("-")
        jobs.setdefault((kind, starter), []).append(name)
    return Commits(root, jobs, rendered, ignored, suspended)


def _errors(repository: Repository) -> list[Diagnostic]:
    """Render, and return the errors, after which nothing is written."""
    return [one for one in repository.render()[0].findings if one.severity is Severity.ERROR]


def _file(engine: str, job: str) -> str:
    return f"jobs/{_namespace(engine, job)}/{job}.yaml"


def _write(repository: Repository, names: list[str], change: Body, platform: Body) -> None:
    for engine in ENGINES:
        gitops = {"gitops": {engine.name: {"repoURL": "https://git.example.com/team/jobs"}}}
        text = OVERLAY + yaml.safe_dump({**gitops, **platform})
        repository.overlay(text, f"with-{engine.name}")
        for name in names:
            repository.write(_file(engine.name, name), yaml.safe_dump(_fields(engine.name, name) | change))


def _fields(engine: str, name: str) -> Body:
    kind, starter, queue = name.split("-")
    one: Body = {
        "kind": kind,
        "command": "mpirun python a.py" if kind == "mpi" else "python a.py",
        "workers": 1 if (kind, starter) == ("batch", "search") else 2,
        "cpu": 1,
        "memory": "1Gi",
        **({} if kind in ("jobset", "volcano") else {"timeout": "1h"}),
        **({"runtime": "torch-distributed"} if kind == "train" else {}),
        **({} if queue == "none" else {"queue": queue}),
    }
    whole: Body = {"clusters": [f"with-{engine}"], "image": "registry.example.com/train:1"}
    if starter == "pipeline":
        return {"kind": "pipeline", "steps": {"first": one}, **whole}
    more = {"command": f"{one['command']} --lr {{{{ params.LR }}}}"} if starter == "search" else {}
    return {**one, **whole, **_STARTERS[starter], **more}


@dataclass
class Stage:
    """The operators that run, each started when a test needs it."""

    cluster: Cluster
    programs: Programs
    running: ExitStack
    dashboard: kuberay.Dashboard
    known: set[object] = field(default_factory=set)

    def start(self, kind: str, starter: str) -> None:
        own = (self._ray,) if kind == "ray" else _OWN.get(kind, ())
        for one in (*own, *([_OF_STARTERS[starter]] if starter in _OF_STARTERS else ()), self._queues):
            if one not in self.known:
                self.running.enter_context(one(self.cluster, self.programs))
                self.known.add(one)

    def _ray(self, cluster: Cluster, programs: Programs) -> AbstractContextManager[object]:
        return kuberay.started(cluster, programs, self.dashboard)

    @contextmanager
    def _queues(self, cluster: Cluster, programs: Programs) -> Iterator[None]:
        """Kueue with all kinds, and the definitions of groups."""
        for name, folder in (("jobset", "bases"), ("trainer", "crds"), ("kuberay", "bases")):
            cluster.install(programs.definitions(name, folder))
        with ExitStack() as stack:
            if self.has("volcano"):
                volcano.installed(cluster, programs)
            if self.has("coscheduling"):
                scheduler_plugins.installed(cluster, programs)
            if self.has("kueue"):
                kueue.installed(cluster, programs)
                stack.enter_context(kueue.started(cluster, programs, _FRAMEWORKS))
                kueue.admit(cluster, "research")
            yield

    def has(self, queue: str) -> bool:
        """Whether the programs of a queue are there."""
        return queue not in _OF_QUEUES or (self.programs.folder / _OF_QUEUES[queue]).exists()

    def add_namespace(self, name: str) -> None:
        labels = {"katib.kubeflow.org/metrics-collector-injection": "enabled"}
        self.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        if self.has("kueue"):
            kueue.add_queue(self.cluster, name, "research")

    def act(self, bodies: list[Body], commit: str, suspended: set[str]) -> None:
        """Wait until the operators have seen a commit, or until all runs have ended."""
        seen: set[str] = set()
        namespaces = {body["metadata"]["namespace"] for body in bodies}
        waiting: list[str] = []
        if commit == ENDED:
            self.dashboard.ended |= namespaces

        def done() -> bool:
            give_time(_LOOK_S)
            for namespace in namespaces:
                if volcano.created in self.known:
                    volcano.let_in(self.cluster, namespace)
                if commit == ENDED:
                    self._end(namespace, seen)
            live = live_objects(self.cluster, bodies)
            pods = [pod for namespace in namespaces for pod in self.cluster.live("", "Pod", namespace)]
            names = [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in pods]
            waiting[:] = [
                body["metadata"]["name"]
                for body in live.values()
                if not (is_over(body) if commit == ENDED else has_reacted(body, names, commit, suspended))
            ]
            return not waiting

        try:
            wait(done, commit, _LONG_S)
        except AssertionError as error:
            raise AssertionError(f"{error}: {waiting}") from None

    def _end(self, namespace: str, seen: set[str]) -> None:
        """Let the new pods of runs end, and the trials of searches."""
        kubelet = Kubelet(self.cluster)
        for pod in self.cluster.live("", "Pod", namespace):
            metadata = pod["metadata"]
            if metadata["uid"] in seen or "-tensorboard-" in metadata["name"] or "deletionTimestamp" in metadata:
                continue
            seen.add(metadata["uid"])
            # operators delete the other pods when the leading one has succeeded
            with suppress(AssertionError):
                kubelet.run(pod)
                if "workflows.argoproj.io/workflow" in metadata.get("labels", {}):
                    kubelet.fail(pod)
                elif "ray.io/node-type" not in metadata.get("labels", {}):
                    kubelet.succeed(pod)
        if katib.started in self.known:
            katib.conclude(self.cluster, namespace)


def live_objects(cluster: Cluster, bodies: list[Body]) -> dict[str, Body]:
    """Those of the cluster, by path. Lists cost less than single objects."""
    kinds = {cluster.path(body): body for body in bodies}
    found = {}
    for collection in {path.rpartition("/")[0] for path in kinds}:
        for one in cluster.listed(collection):
            path = f"{collection}/{one['metadata']['name']}"
            if path in kinds:
                found[path] = {**one, "apiVersion": kinds[path]["apiVersion"], "kind": kinds[path]["kind"]}
    return found


def has_reacted(live: Body, pods: list[str], commit: str, suspended: set[str]) -> bool:
    """Whether the operator has made the pods of a run, or has deleted them."""
    resource = resource_of_object(live["apiVersion"], live["kind"])
    if resource is None or not resource.is_run:
        return True
    if resource in (EXPERIMENT, WORKFLOW):
        return bool(live.get("status"))
    start = f"{live['metadata']['namespace']}/{live['metadata']['name']}"
    own = any(name.startswith(start) for name in pods)
    if commit == SUSPENDED and _job(live) in suspended:
        return not own and state_of(resource, live) is State.SUSPENDED
    return own


def is_over(live: Body) -> bool:
    resource = resource_of_object(live["apiVersion"], live["kind"])
    if resource is None or not resource.is_run:
        return True
    # without the executor of Argo, the pods of a workflow can only fail
    return state_of(resource, live) is (State.FAILED if resource is WORKFLOW else State.SUCCEEDED)


@pytest.fixture(scope="module")
def stage(
    cluster: Cluster,
    controllers: Programs,
    controller_manager: Controller,
    mpi_jobs: None,
    training_operator: Controller,
) -> Iterator[Stage]:
    del controller_manager, mpi_jobs, training_operator
    controllers.path("argocd-diff")
    with kuberay.dashboard() as dashboard, ExitStack() as running:
        yield Stage(cluster, controllers, running, dashboard)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Commits:
    return commits(tmp_path_factory.mktemp("in-sync") / "repository")


def test_the_combinations_are_many(history: Commits) -> None:
    assert sum(map(len, history.jobs.values())) >= COMBINATIONS


@pytest.mark.parametrize("starter", _STARTERS)
@pytest.mark.parametrize("kind", _KINDS)
def test_no_engine_sees_a_difference(
    stage: Stage, history: Commits, request: pytest.FixtureRequest, kind: str, starter: str
) -> None:
    jobs = [name for name in history.jobs.get((kind, starter), ()) if stage.has(name.rpartition("-")[2])]
    if not jobs:
        pytest.skip("gen refuses them")
    if kind in _SHARED:
        request.getfixturevalue(_SHARED[kind])
    stage.start(kind, starter)
    engines = [engine(stage.cluster, stage.programs) for engine in ENGINES]
    for engine in engines:
        stage.add_namespace(_namespace(engine.name, jobs[0]))
    found = []
    for commit in (*STAGES, ENDED):
        bodies = {engine: history.bodies(commit, engine.name, jobs) for engine in engines}
        for engine in engines:
            engine.sync(bodies[engine], history.ignored)
        stage.act([one for each in bodies.values() for one in each], commit, history.suspended)
        live = settled(stage.cluster, [one for each in bodies.values() for one in each])
        for engine in engines:
            pairs = [(body, live[stage.cluster.path(body)]) for body in bodies[engine]]
            for (body, _), places in zip(pairs, engine.differing(pairs, history.ignored), strict=True):
                name = f"{engine.name}, {commit}, {body['kind']} {body['metadata']['name']}"
                found += [f"{name}: {place}" for place in places]
    assert not found, "\n".join(found)


def settled(cluster: Cluster, bodies: list[Body]) -> dict[str, Body]:
    """Objects by path when nothing changes them any more."""
    last, quiet = "", 0

    def rests() -> dict[str, Body]:
        nonlocal last, quiet
        give_time(_LOOK_S)
        live = live_objects(cluster, bodies)
        known = ({key: one["metadata"].get(key) for key in ("labels", "finalizers")} for one in live.values())
        seen = json.dumps([*known, *(one.get("spec") for one in live.values())])
        last, quiet = seen, quiet + 1 if seen == last else 0
        return live if quiet >= _QUIET else {}

    return wait(rests, "rest", _LONG_S)
