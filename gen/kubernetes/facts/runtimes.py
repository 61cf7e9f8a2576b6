"""Runtimes of the Kubeflow Trainer, and the JobSet that it creates from a TrainJob and its runtime.

From `pkg/runtime/core/trainingruntime.go` and `pkg/runtime/framework/plugins/{jobset,mpi,plainml,torch}` of
kubeflow/trainer 2.0 to 2.3. Objects may have been edited by hand, so any part of them can have any type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gen.base import as_mapping, as_mappings, at
from gen.kubernetes import quantity
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.builtin import INDEX, POD_LIST_KEYS
from gen.kubernetes.facts.trainer import RUNTIME_KINDS, TRAINJOB
from gen.kubernetes.objects import ACCELERATOR_LABEL, NVIDIA_GPU, Body, present

NODE: Final = "node"
"""Container that the fields of a TrainJob change, and the job of the nodes in an MPI runtime."""
LAUNCHER: Final = "launcher"
STEP: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
_TRAINER: Final = "trainer"
_STEPS: Final = (_TRAINER, "dataset-initializer", "model-initializer")
POLICIES: Final = ("torch", "mpi", "jax", "xgboost", "flux", "plain")
"""Fields of `mlPolicy`; `plain` is a runtime without these fields."""
PLAIN: Final = POLICIES[-1]
MPI: Final = POLICIES[1]
_KEYS: Final = {**POD_LIST_KEYS, "replicatedJobs": "name"}
"""Lists that merge by a field of their items; a patch replaces others."""


class Runtime(Struct, frozen=True):
    """A TrainingRuntime or ClusterTrainingRuntime."""

    spec: Body

    @property
    def policy(self) -> str:
        return next((name for name in POLICIES if isinstance(at(self.spec, "mlPolicy", name), dict)), PLAIN)

    @property
    def launcher_trains(self) -> bool:
        return at(self.spec, "mlPolicy", MPI, "runLauncherAsNode") is True

    @property
    def jobs(self) -> list[Body]:
        """Its replicated jobs."""
        return as_mappings(at(self.spec, "template", "spec", "replicatedJobs"))

    @property
    def trained(self) -> tuple[str, ...]:
        """Names of the jobs with the command of a TrainJob: those of the nodes, or the launcher of MPI."""
        return tuple(str(job.get("name")) for job in self.jobs if _step(job) == _TRAINER)

    @property
    def training(self) -> tuple[str, ...]:
        """Names of all jobs with pods that train, and of the launcher of MPI."""
        others = [NODE] if self.policy == MPI else []
        return tuple(name for job in self.jobs if (name := str(job.get("name"))) in (*self.trained, *others))

    @property
    def resources(self) -> Body:
        """Limits of the pods that train."""
        pods = (_pod(job) for job in self.jobs if job.get("name") in self.training)
        containers = (one for pod in pods for one in as_mappings(pod.get("containers")) if one.get("name") == NODE)
        return next((found for one in containers if (found := as_mapping(at(one, "resources", "limits")))), {})

    @property
    def node_image(self) -> str | None:
        """The image of the nodes of an MPI runtime, which no TrainJob changes; None without nodes."""
        others = [job for job in self.jobs if job.get("name") in self.training and _step(job) != _TRAINER]
        images = (one.get("image") for job in others for one in as_mappings(_pod(job).get("containers")))
        return str(next(images, None) or "") if others else None


def _step(job: Body) -> object:
    return at(job, "template", "metadata", "labels", STEP)


def _pod(job: Body) -> Body:
    return as_mapping(at(job, "template", "spec", "template", "spec"))


def described(
    policy: str,
    *,
    resources: Mapping[str, str] = {},
    accelerator: str = "",
    image: str | None = None,
    others: int = 0,
    launcher_trains: bool = True,
) -> Runtime:
    """A runtime with these parts. `resources` are those of pods that train, `others` the number of other pods."""
    labels = {ACCELERATOR_LABEL: accelerator} if accelerator and resources else {}

    def job(name: str, step: str = "", *, trains: bool = True) -> Body:
        needed = {"limits": dict(resources)} if trains and resources else None
        container = present(name=NODE if trains else name, image=image if trains else None, resources=needed)
        template = present(metadata=present(labels=labels if trains else None), spec={"containers": [container]})
        metadata = present(labels=present(**{STEP: step}))
        return {"name": name, "template": present(metadata=metadata, spec={"template": template})}

    more = [job(f"initializer-{index}", trains=False) for index in range(others)]
    if policy == MPI:
        source: Body = {MPI: {"runLauncherAsNode": launcher_trains}}
        jobs = [job(NODE, trains=True), job(LAUNCHER, _TRAINER, trains=True)]
    else:
        source = {} if policy == PLAIN else {policy: {}}
        jobs = [job(NODE, _TRAINER)]
    return Runtime({"mlPolicy": {"numNodes": 1, **source}, "template": {"spec": {"replicatedJobs": [*more, *jobs]}}})


def with_labels(runtime: Runtime, labels: Mapping[str, str]) -> Runtime:
    """A runtime with more labels on its training pods."""
    patch = {"template": {"spec": {"template": {"metadata": {"labels": dict(labels)}}}}}
    jobs = [_merge(job, patch) if job.get("name") in runtime.training else job for job in runtime.jobs]
    return Runtime(_merge(runtime.spec, {"template": {"spec": {"replicatedJobs": jobs}}}))


_TWO_GPUS: Final = {NVIDIA_GPU: "2"}
SHIPPED: Final[Mapping[str, Runtime]] = {
    "torch-distributed": described("torch"),
    "torch-distributed-with-cache": described("torch", others=1),
    "jax-distributed": described("jax"),
    "xgboost-distributed": described("xgboost"),
    **dict.fromkeys(("deepspeed-distributed", "mlx-distributed", "mpi-distributed"), described(MPI)),
    **dict.fromkeys(
        ("torchtune-llama3.2-1b", "torchtune-llama3.2-3b", "torchtune-qwen2.5-1.5b"),
        described("torch", resources=_TWO_GPUS, others=2),
    ),
}
"""The ClusterTrainingRuntimes of the Trainer (`manifests/base/runtimes`), without their images, which vary."""
_UNKNOWN: Final = described(PLAIN)


class Runtimes(Struct, frozen=True, kw_only=True):
    """The runtimes of a cluster."""

    release: str = TRAINJOB.served[0]
    """Minor version of the Trainer."""
    known: Mapping[tuple[str, str], Runtime] = {}
    """By kind and name."""

    def of(self, train: Body) -> Runtime:
        """The runtime of a TrainJob; of one that is not known, nodes without anything of their own."""
        kind, name = (at(train, "spec", "runtimeRef", part) for part in ("kind", "name"))
        found = self.known.get((str(kind or RUNTIME_KINDS[0]), str(name)))
        return found or SHIPPED.get(str(name), _UNKNOWN)

    def expanded(self, body: Body, resource: Resource) -> tuple[Body, Resource]:
        """The object with the pods, and its kind: the JobSet of a TrainJob, any other object itself."""
        if resource.nodes is not None:
            body = created_jobset(body, self.of(body), self.release)
        return body, resource.of_pods


NO_RUNTIMES: Final = Runtimes()
"""Those of a cluster without an overlay."""


def created_jobset(train: Body, runtime: Runtime, release: str) -> Body:
    """The JobSet that a release of the Trainer creates."""
    spec = as_mapping(at(runtime.spec, "template", "spec"))
    patched = _patched(runtime.jobs, as_mapping(train.get("spec")))
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": dict(as_mapping(train.get("metadata"))),
        "spec": {**spec, "replicatedJobs": [_made(job, train, runtime, release) for job in patched]},
    }


def _made(job: Body, train: Body, runtime: Runtime, release: str) -> Body:
    """A job with the fields of the TrainJob: its image and its command reach only those with the label."""
    trainer = as_mapping(at(train, "spec", "trainer"))
    trains, name = _step(job) == _TRAINER, job.get("name")
    follows = runtime.launcher_trains and name == NODE and release != "2.0"
    changed: Body = {}
    if _step(job) in _STEPS:
        changed["replicas"] = 1
    count = _count(job, trainer.get("numNodes"), runtime)
    template = as_mapping(at(job, "template", "spec", "template"))
    labels = as_mapping(at(template, "metadata", "labels"))
    if trains and ACCELERATOR_LABEL not in labels and (named := at(train, "spec", "labels", ACCELERATOR_LABEL)):
        labels = {**labels, ACCELERATOR_LABEL: named}  # 2.0 cannot change labels of pods
    containers = [
        _with_env(_container(one, trainer, runtime, release, own=trains), job, train, runtime, count)
        if one.get("name") == NODE and (trains or follows)
        else _initializer(one, job, train)
        for one in as_mappings(_pod(job).get("containers"))
    ]
    pods = {**template, "metadata": {**as_mapping(template.get("metadata")), "labels": labels}}
    pods["spec"] = {**_pod(job), "containers": containers}
    inner = {**as_mapping(at(job, "template", "spec")), "template": pods, "parallelism": count, "completions": count}
    return {**job, **changed, "template": {**as_mapping(job.get("template")), "spec": inner}}


def _count(job: Body, nodes: object, runtime: Runtime) -> Any:
    """Pods of a job. An MPI runtime whose launcher trains has at least one node, too."""
    count = at(job, "template", "spec", "parallelism")
    if _step(job) == _TRAINER and "mlPolicy" in runtime.spec:
        count = at(runtime.spec, "mlPolicy", "numNodes")
    if nodes is not None and runtime.policy != MPI and _step(job) == _TRAINER:
        count = nodes
    elif nodes is not None and runtime.policy == MPI and job.get("name") == NODE:
        count = max(nodes - 1, 1) if runtime.launcher_trains and isinstance(nodes, int) else nodes
    return 1 if count is None else count


def _container(container: Body, trainer: Body, runtime: Runtime, release: str, *, own: bool) -> Body:
    """Before 2.3 the resources of a TrainJob replace those of the runtime, then they are merged with them."""
    changes = {name: trainer[name] for name in ("image", "command", "args") if own and trainer.get(name) is not None}
    resources = as_mapping(trainer.get("resourcesPerNode"))
    if release not in _REPLACED:
        if resources and "mlPolicy" in runtime.spec:
            changes["resources"] = _merge(as_mapping(container.get("resources")), resources)
    elif resources.get("limits") is not None or resources.get("requests") is not None:
        changes["resources"] = resources
    if trainer.get("env"):
        changes["env"] = _merge_items(container.get("env"), trainer["env"], "name")
    return {**container, **changes}


_REPLACED: Final = ("2.0", "2.1", "2.2")
_TORCHTUNE: Final = ["tune", "run"]
_PORT: Final = 29500


def _initializer(container: Body, job: Body, train: Body) -> Body:
    """A container of an initializer, which has the name of its step, with its source and its variables."""
    step = str(container.get("name"))
    fields = at(train, "spec", "initializer", step.removesuffix("-initializer"))
    if step != _step(job) or not isinstance(fields, dict):
        return container
    source = [{"name": "STORAGE_URI", "value": fields["storageUri"]}] if fields.get("storageUri") else []
    env = _merge_items(_merge_items(container.get("env"), source, "name"), fields.get("env"), "name")
    return {**container, "env": env} if env else container


def _with_env(container: Body, job: Body, train: Body, runtime: Runtime, nodes: object) -> Body:
    """The variables of the framework replace those of the same name."""
    added = _ADDED.get(runtime.policy)
    if added is None or (runtime.policy == MPI) != (job.get("name") == LAUNCHER):
        return container
    host = f"{at(train, 'metadata', 'name')}-{NODE}-0-0.{at(train, 'metadata', 'name')}"
    made = added(container, as_mapping(at(train, "spec", "trainer")), runtime, nodes, host)
    values = [
        {"name": name, "valueFrom": {"fieldRef": {"fieldPath": value}}}
        if value is INDEX
        else {"name": name, "value": str(value)}
        for name, value in made.items()
    ]
    return {**container, "env": _merge_items(container.get("env"), values, "name")}


def _devices(container: Body, trainer: Body) -> int:
    """GPUs of a node, by the resources of the TrainJob, or by those of the runtime."""
    asked = as_mapping(trainer.get("resourcesPerNode") or container.get("resources"))
    for kind in ("requests", "limits"):
        amounts = [amount for name, amount in as_mapping(asked.get(kind)).items() if "gpu" in name.lower()]
        if amounts and (found := math.ceil(quantity.amount(str(amounts[0])))):
            return found
    return 0


def _torch(container: Body, trainer: Body, _runtime: Runtime, nodes: object, host: str) -> Mapping[str, object]:
    processes = trainer.get("numProcPerNode")
    if processes is None:
        processes = "auto" if _devices(container, trainer) else max(1, _cpus(container, trainer))
    made = {"PET_NNODES": nodes, "PET_NPROC_PER_NODE": processes, "PET_NODE_RANK": INDEX}
    if trainer.get("command") == _TORCHTUNE:
        return made
    return {**made, "PET_MASTER_ADDR": host, "PET_MASTER_PORT": _PORT}


def _cpus(container: Body, trainer: Body) -> int:
    asked = as_mapping(trainer.get("resourcesPerNode") or container.get("resources"))
    amounts = (as_mapping(asked.get(kind)).get("cpu") for kind in ("requests", "limits"))
    return math.ceil(quantity.amount(str(next((amount for amount in amounts if amount), 0))))


def _jax(_container: Body, _trainer: Body, _runtime: Runtime, nodes: object, host: str) -> Mapping[str, object]:
    return {"JAX_NUM_PROCESSES": nodes, "JAX_PROCESS_ID": INDEX, "JAX_COORDINATOR_ADDRESS": f"{host}:{_PORT}"}


def _xgboost(container: Body, trainer: Body, _runtime: Runtime, nodes: object, host: str) -> Mapping[str, object]:
    workers = nodes * max(_devices(container, trainer), 1) if isinstance(nodes, int) else nodes
    return {"DMLC_TRACKER_URI": host, "DMLC_TRACKER_PORT": _PORT, "DMLC_TASK_ID": INDEX, "DMLC_NUM_WORKER": workers}


def _mpi(container: Body, trainer: Body, runtime: Runtime, _nodes: object, _host: str) -> Mapping[str, object]:
    """One slot of the runtime, the default, means as many as there are GPUs."""
    slots = at(runtime.spec, "mlPolicy", MPI, "numProcPerNode") or 1
    slots = trainer.get("numProcPerNode") or (_devices(container, trainer) or 1 if slots == 1 else slots)
    return {
        "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "OMPI_MCA_orte_set_default_slots": slots,
        "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
    }


_ADDED: Final[Mapping[str, Callable[[Body, Body, Runtime, Any, str], Mapping[str, object]]]] = {
    "torch": _torch,
    "jax": _jax,
    "xgboost": _xgboost,
    MPI: _mpi,
}
"""Variables by policy (`pkg/runtime/framework/plugins/{torch,jax,xgboost,mpi}` of the Trainer 2.3)."""


def _patched(jobs: list[Body], spec: Body) -> list[Body]:
    """The jobs of a runtime with the changes of a TrainJob, in the form of each release."""
    for patch in as_mappings(spec.get("runtimePatches")):
        changed = at(patch, "trainingRuntimeSpec", "template", "spec", "replicatedJobs")
        jobs = as_mappings(_merge_items(jobs, changed, "name", adds=False)) if changed is not None else jobs
    for field, route in (("podTemplateOverrides", ()), ("podSpecOverrides", ("spec",))):
        for override in as_mappings(spec.get(field)):
            names = {one.get("name") for one in as_mappings(override.get("targetJobs"))}
            change: Any = {key: value for key, value in override.items() if key != "targetJobs"}
            for step in (*reversed(route), "template", "spec", "template"):
                change = {step: change}
            jobs = [_merge(job, change) if job.get("name") in names else job for job in jobs]
    return jobs


def _merge(base: Body, patch: Body) -> Body:
    merged = dict(base)
    for key, value in patch.items():
        known = merged.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[key] = _merge(known, value)
        elif key in _KEYS:
            merged[key] = _merge_items(known, value, _KEYS[key])
        else:
            merged[key] = value
    return merged


def _merge_items(base: object, patch: object, key: str, *, adds: bool = True) -> list[Body]:
    items = {one.get(key): one for one in as_mappings(base)}
    for one in as_mappings(patch):
        name = one.get(key)
        if name in items or adds:
            items[name] = _merge(items.get(name, {}), one)
    return list(items.values())


def runtimes_in(document: object) -> Iterator[tuple[tuple[str, str], Runtime]]:
    """The runtimes of a document, by kind and name."""
    kind, name, spec = (at(document, *route) for route in (("kind",), ("metadata", "name"), ("spec",)))
    if kind in RUNTIME_KINDS and isinstance(name, str) and isinstance(spec, dict):
        yield (str(kind), name), Runtime(spec)
