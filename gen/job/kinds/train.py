"""TrainJob of the Kubeflow Trainer 2: a reference to a runtime in the cluster, and changes to its pods.

Only some fields of a pod can be changed, and each minor version of the Trainer has a form of its own
(`pkg/apis/trainer/v1alpha1/trainjob_types.go` of kubeflow/trainer 2.0 to 2.3).
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Final, Literal

from msgspec.structs import replace
from pydantic import Field

from gen.base import Route, as_mapping, as_mappings, at, regex
from gen.job.fields import POD_NETWORK
from gen.job.kinds.base import Job, Problem
from gen.job.kinds.rendezvous import LOCAL, PROCESS, Rendezvous
from gen.job.kinds.role import Role, Target
from gen.job.model import Model, OrMapping, default
from gen.job.names import EnvName, ObjectName
from gen.job.plan import Plan
from gen.job.scalars import Positive, Text, matching
from gen.kubernetes.facts.base import Pattern, Resource
from gen.kubernetes.facts.builtin import INDEX
from gen.kubernetes.facts.runtimes import NODE, Runtime, created_jobset
from gen.kubernetes.facts.trainer import OPERATOR, RESERVED_ENV, RUNTIME_KINDS, TRAINJOB, frameworks_of
from gen.kubernetes.objects import ACCELERATOR_LABEL, Body, present

MANAGER: Final = "gen.invalid/render"
"""Owner of the patches; the webhook requires a path below a domain."""
_IN_RUNTIME: Final = "only the runtime in the cluster sets it"
_POD_FIELDS: Final = (
    *("serviceAccountName", "nodeSelector", "affinity", "tolerations", "imagePullSecrets", "volumes"),
)
RELEASES: Final = TRAINJOB.served
_URI: Final = regex(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")

StorageURI = Annotated[str, matching(_URI, 2048, "a URI", "use a form like `hf://team/dataset` or `s3://bucket/path`")]


_PATCHES: Final = "runtimePatches"
_OVERRIDES: Final = {"podTemplateOverrides": "2.1", "podSpecOverrides": "2.0"}
"""Changes of pods in former releases."""
_OF_JOBSETS: Final = ("labels", "annotations")
"""Metadata of the JobSet in former releases."""


class RuntimeReference(Model):
    """Runtime in the cluster."""

    name: ObjectName
    """Name of the runtime."""
    kind: Literal[RUNTIME_KINDS] = RUNTIME_KINDS[0]  # type: ignore[valid-type] # a constant
    """Whether it is for the whole cluster, or in the namespace of the job."""


class Initializer(Model):
    """Data that a step of the runtime fetches before the training."""

    storage_uri: StorageURI
    """Source, such as `hf://team/dataset`."""
    secret: ObjectName | None = None
    """Secret in the job's namespace with the credentials."""
    env: dict[EnvName, Text] = Field(default_factory=dict)
    """Environment variables of the step."""


class Initializers(Model):
    """Steps that fetch data before the training. The runtime must have them."""

    dataset: Initializer | None = None
    """Dataset."""
    model: Initializer | None = None
    """Pretrained model."""


class TrainJob(Job):
    """Kubeflow Trainer 2. `workers` is the number of nodes; the runtime has the framework and the rest of the pods."""

    facts: ClassVar[Resource] = TRAINJOB
    copied: ClassVar[Mapping[str, Pattern]] = {
        "runtime.name": ("spec", "runtimeRef", "name"),
        "runtime.kind": ("spec", "runtimeRef", "kind"),
        "processesPerNode": ("spec", "trainer", "numProcPerNode"),
        **{
            f"initializer.{step}.{field}": ("spec", "initializer", step, *route)
            for step in ("dataset", "model")
            for field, route in {"storageUri": ("storageUri",), "secret": ("secretRef", "name")}.items()
        },
    }
    uses_host_network: ClassVar[bool] = False
    adds_containers: ClassVar[bool] = False
    needs_image: ClassVar[bool] = False
    unsupported: ClassVar[Mapping[str, str]] = {
        "code": "a TrainJob cannot add a container to the pods of its runtime",
        "imagePullPolicy": _IN_RUNTIME,
        "inputs": "a TrainJob cannot add a container to the pods of its runtime",
        "logs": "a TrainJob cannot add a container to the pods of its runtime",
        "outputs": "a TrainJob cannot add a container to the pods of its runtime",
        "priority": _IN_RUNTIME,
        "restart": _IN_RUNTIME,
        "retries": _IN_RUNTIME,
        "workingDir": _IN_RUNTIME,
    }
    unsupported_before: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "2.0": ("timeout", "network", "imagePullSecrets", "podLabels", "podAnnotations"),
        "2.1": ("timeout", "network"),
    }
    example: ClassVar[Mapping[str, object]] = {
        "image": "registry.example.com/team/train:2.8",
        "command": "torchrun /app/train.py",
        "workers": 2,
        "gpus": 1,
    }

    kind: Literal["train"]
    """Kind of job."""
    runtime: OrMapping[ObjectName, RuntimeReference] = "torch-distributed"
    """Runtime in the cluster, by the name of a ClusterTrainingRuntime or in the long form. The overlay must declare it
    under `runtimes`."""
    processes_per_node: Positive | None = None
    """Number of processes on each node. [default: that of the runtime]"""
    initializer: Initializers = default(Initializers)
    """Steps that fetch data before the training."""

    @classmethod
    def modern(cls, body: Body) -> Body:
        """Changes of the pods by another manager as those of gen, in the form of the current release."""
        spec = {name: value for name, value in body["spec"].items() if name not in _OF_JOBSETS}
        patches = spec.get(_PATCHES)
        if _PATCHES not in spec and (jobs := _overridden(spec)) is not None:
            spec = {name: value for name, value in spec.items() if name not in _OVERRIDES}
            spec[_PATCHES] = [_patch(jobs)]
        elif isinstance(patches, list) and len(patches) == 1 and not str(at(patches[0], "manager")).startswith("kueue"):
            spec[_PATCHES] = [{**as_mapping(patches[0]), "manager": MANAGER}]
        return {**body, "spec": spec}

    @classmethod
    def changes(cls, body: Body) -> Iterable[tuple[Route, str, str]]:
        spec = as_mapping(body.get("spec"))
        for name, release in _OVERRIDES.items():
            if name in spec:
                message = f"`{name}` is a field of the Kubeflow Trainer {release}, and becomes that of 2.2 and later"
                hint = f'set `operators: {{{OPERATOR}: "{release}"}}` in the overlay if the cluster has it'
                yield ("spec", name), message, hint
        for name in (one for one in _OF_JOBSETS if one in spec):
            message = f"`{name}` of the JobSet is not carried: the Kubeflow Trainer has it only up to 2.1"
            yield ("spec", name), message, "set `podLabels` or `podAnnotations` of the job, if pods need them"

    @property
    def reference(self) -> RuntimeReference:
        """The runtime in its long form."""
        return RuntimeReference(name=self.runtime) if isinstance(self.runtime, str) else self.runtime

    @property
    def runtime_key(self) -> tuple[str, str]:
        return self.reference.kind, self.reference.name

    @property
    def reserved(self) -> frozenset[str]:
        names = frameworks_of(self.reference.name)
        return frozenset(variable for name in names for variable in RESERVED_ENV.get(name, ()))

    def replica_roles(self, run: str) -> tuple[Role, ...]:
        rendezvous = self._rendezvous(run, NODE, self.workers)
        return (Role(name=NODE, replica_type=NODE, replicas=self.workers, rendezvous=rendezvous),)

    def _rendezvous(self, run: str, job: str, pods: int) -> Rendezvous | None:
        """The Trainer sets the variables of torchrun only; its JobSet has the name of the TrainJob."""
        if frameworks_of(self.reference.name) != ["torch"]:
            return None
        return Rendezvous(families=(PROCESS, LOCAL), pods=pods, address=f"{run}-{job}-0-0.{run}", rank=INDEX)

    def adapted(self, roles: tuple[Role, ...], target: Target) -> tuple[Role, ...]:
        """The runtime decides the number of pods that train, and which of them runs the command."""
        if target.runtime is None:
            return roles
        jobs = created_jobset(self.outline(target.runtime, {}, ""), target.runtime, target.served)["spec"]
        pods = {job["name"]: job["template"]["spec"]["parallelism"] for job in jobs["replicatedJobs"]}
        counts = [count for name in target.runtime.training if isinstance(count := pods.get(name), int)]
        first = next(iter(target.runtime.trained), NODE)
        total = sum(counts)
        return tuple(
            replace(
                role,
                replicas=total or role.replicas,
                replica_type=first,
                rendezvous=self._rendezvous(target.run, first, total or role.replicas) if len(counts) <= 1 else None,
            )
            for role in roles
        )

    def outline(self, runtime: Runtime, resources: Mapping[str, str], accelerator: str) -> Body:
        trainer = present(numNodes=self.workers, resourcesPerNode=present(limits=dict(resources)))
        labels = present(**{ACCELERATOR_LABEL: accelerator})
        changed = {"targetJobs": [{"name": name} for name in runtime.training], "metadata": {"labels": labels}}
        return {"spec": present(trainer=trainer, podTemplateOverrides=[changed] if labels else None)}

    def workload(self, plan: Plan, pods: Mapping[str, Body]) -> Body:
        (template,) = pods.values()
        (container,) = template["spec"]["containers"]
        kind, name = self.runtime_key
        training = plan.runtime.training if plan.runtime is not None else ()
        return present(
            runtimeRef={"apiGroup": TRAINJOB.group, "kind": kind, "name": name},
            activeDeadlineSeconds=plan.timeout,
            initializer=present(
                dataset=_initializer(self.initializer.dataset), model=_initializer(self.initializer.model)
            ),
            trainer=present(
                image=container.get("image"),
                command=container.get("command"),
                args=container.get("args"),
                env=container.get("env"),
                numNodes=self.workers,
                numProcPerNode=self.processes_per_node,
                resourcesPerNode=container.get("resources"),
            ),
            **_changes(plan.served, list(training) or [NODE], template),
        )

    def secrets(self) -> Iterable[tuple[tuple[str, ...], str]]:
        for name in ("dataset", "model"):
            step = getattr(self.initializer, name)
            if step is not None and step.secret is not None:
                yield ("initializer", name, "secret"), step.secret

    def problems(self, target: Target) -> Iterable[Problem]:
        served = target.served
        defaults = {"network": POD_NETWORK}
        missing = self.unsupported_before.get(served, ())
        for name, field in type(self).model_fields.items():
            unset: tuple[object, ...] = (None, (), defaults.get(name), {})
            if field.alias in missing and getattr(self, name) not in unset:
                message = f"the Kubeflow Trainer {served} has no field for `{field.alias}`"
                yield Problem(
                    (field.alias,), message, "remove it, or upgrade to 2.2 or later and state it in `operators`"
                )
        yield from self._mpi_problems(target)
        if len(self.files) > 1:
            message = "a TrainJob can mount a volume only once, so it can have only one file"
            yield Problem(("files",), message, "keep one file, or put the files on a volume")
        place = self.placement
        if place.spread == "zone" or (place.spread == "node" and served == "2.0"):
            message = f"the Kubeflow Trainer {served} has no field for `spread: {place.spread}`"
            remedy = "remove it" if served == "2.0" else "remove it, or use `spread: node`"
            yield Problem(("placement", "spread"), message, remedy)
        for route, value in (
            (("instanceType",), place.instance_type),
            (("zone",), place.zone),
            (("gpuModel",), place.gpu_model),
            *((("nodeSelector", key), values) for key, values in place.node_selector.items()),
        ):
            if served == "2.0" and isinstance(value, tuple) and len(value) > 1:
                message = f"the Kubeflow Trainer {served} can select nodes by only one `{route[-1]}`"
                yield Problem(("placement", *route), message, "use one value, or upgrade to 2.1 or later")

    def _mpi_problems(self, target: Target) -> Iterable[Problem]:
        """The image and the command reach only the launcher; so do the resources unless it is one of the nodes."""
        runtime = target.runtime
        others = runtime.node_image if runtime is not None else None
        if runtime is None or others is None:
            return
        if self.image is not None and self.image != others:
            shown = f"`{others}`" if others else "its own image"
            message = f"`image` reaches only the launcher of an MPI runtime: the nodes keep {shown}"
            hint = "remove `image`, and use a runtime with this image, or `kind: mpi`"
            yield Problem(("image",), message, hint)
        if self.gpus and (target.served == RELEASES[-1] or not runtime.launcher_trains):
            message = f"`gpus` reaches only the launcher of this runtime in the Kubeflow Trainer {target.served}"
            hint = "remove `gpus`, and use a runtime that requests them, or `kind: mpi`"
            yield Problem(("gpus",), message, hint)


def _initializer(step: Initializer | None) -> Body:
    if step is None:
        return {}
    return present(
        storageUri=step.storage_uri,
        env=[{"name": name, "value": value} for name, value in step.env.items()],
        secretRef=present(name=step.secret),
    )


def _changes(release: str, jobs: list[str], template: Body) -> Body:
    """The changes of a template in the form of a release."""
    pod = template["spec"]
    (container,) = pod["containers"]
    parts = present(
        name=NODE, volumeMounts=container.get("volumeMounts"), securityContext=container.get("securityContext")
    )
    containers = [parts] if len(parts) > 1 else None
    spec = present(**{name: pod.get(name) for name in _POD_FIELDS}, containers=containers)
    targets = [{"name": name} for name in jobs]
    if release == "2.0":
        accelerator = present(**{ACCELERATOR_LABEL: template["metadata"]["labels"].get(ACCELERATOR_LABEL)})
        return present(labels=accelerator, podSpecOverrides=[{"targetJobs": targets, **spec}] if spec else None)
    if release == "2.1":
        return {"podTemplateOverrides": [{"targetJobs": targets, **present(metadata=template["metadata"], spec=spec)}]}
    return {_PATCHES: [_patch(dict.fromkeys(jobs, present(metadata=template["metadata"], spec=spec)))]}


def _patch(jobs: Mapping[str, Body]) -> Body:
    """The changes of the pods of each job of a runtime."""
    replicated = [{"name": name, "template": {"spec": {"template": changed}}} for name, changed in jobs.items()]
    return {"manager": MANAGER, "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": replicated}}}}


def _overridden(spec: Body) -> dict[str, Body] | None:
    """The changes of pods by job in the form of a former release; None without any, or if one job has several."""
    name = next((one for one in _OVERRIDES if one in spec), "")
    jobs: dict[str, Body] = {}
    for one in as_mappings(spec.get(name)):
        pod = {key: value for key, value in one.items() if key != "targetJobs"}
        for target in as_mappings(one.get("targetJobs")):
            if str(target.get("name")) in jobs:
                return None
            jobs[str(target.get("name"))] = {"spec": pod} if name == "podSpecOverrides" else pod
    return jobs or None
