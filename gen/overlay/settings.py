"""Settings of an overlay: the cluster, GPUs, spot nodes, priorities, code sync, copies, pipelines, runtimes and
TensorBoard.

Runtimes of the Kubeflow Trainer that jobs may use are described in the overlay, or by their definitions in a folder.
"""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from gen.base import Findings, Location, regex
from gen.base.codes.jobs import INVALID_VALUE
from gen.base.repository.layout import INERT_ENDINGS, SIMILAR_ENDINGS
from gen.job.model import Model
from gen.job.names import ImageRef, Label, LabelKey, LabelValue, ObjectName, ResourceName
from gen.job.pods import Toleration
from gen.job.profile import Effect
from gen.job.scalars import Bytes, Count, Duration, Price, Quantity, Text, Truth, conflict, matching, schema
from gen.job.synonyms import GPU as GPU_SYNONYMS
from gen.kubernetes.facts.runtimes import POLICIES, SHIPPED, Runtime, described, runtimes_in, with_labels
from gen.kubernetes.facts.trainer import RUNTIME_KINDS
from gen.kubernetes.manifests.read import objects_in, read_manifests
from gen.kubernetes.objects import ACCELERATOR_LABEL, NVIDIA_GPU, NVIDIA_PRODUCT
from gen.overlay.entries import AcceleratorFields
from gen.overlay.vendored import ORIGIN_OCI, ORIGIN_PATH, ORIGIN_REF, ORIGIN_URL

Known = Mapping[tuple[str, str], Runtime]
"""By kind and name."""


class RuntimeFields(Model):
    """Runtime of the Kubeflow Trainer that jobs may use."""

    main: ClassVar[str] = "policy"

    kind: Literal[RUNTIME_KINDS] = RUNTIME_KINDS[0]  # type: ignore[valid-type] # a constant
    """Whether it is for the whole cluster, or in the namespaces of its jobs."""
    policy: Literal[POLICIES] | None = None  # type: ignore[valid-type] # a constant
    """The field of its `mlPolicy`; `plain` if it has none. [default: that of the runtime with this name that the
    Trainer installs, otherwise `torch`]"""
    gpus: Count | None = None
    """GPUs that each of its pods requests by itself, unless a job sets `gpus`. They count against quotas.
    [default: those of the runtime that the Trainer installs, otherwise none]"""
    accelerator: Label | None = None
    """Accelerator of these GPUs. It may be omitted if the overlay has only one."""
    other_pods: Count | None = None
    """Pods that do not train, such as initializers. They count against quotas. [default: those of the runtime
    that the Trainer installs, otherwise none]"""
    launcher_trains: Truth = True
    """Whether the launcher of `policy: mpi` is one of the nodes (`runLauncherAsNode`)."""

    def runtime(self, name: str, accelerators: Mapping[str, AcceleratorFields]) -> Runtime:
        shipped = SHIPPED.get(name)
        if shipped is not None and not self.model_fields_set - {"kind", "accelerator"}:
            return with_accelerator(shipped, accelerators, self.accelerator)
        chosen, count = self.accelerator or next(iter(accelerators)), self.devices(name)
        others = len(shipped.jobs) - len(shipped.training) if shipped is not None else 0
        return described(
            self.policy or (shipped.policy if shipped is not None else POLICIES[0]),
            resources=accelerators[chosen].effect(count).resources if count and chosen in accelerators else {},
            accelerator=chosen,
            others=others if self.other_pods is None else self.other_pods,
            launcher_trains=self.launcher_trains,
        )

    def devices(self, name: str) -> int:
        """GPUs that each of its pods requests by itself."""
        shipped = SHIPPED.get(name)
        known = shipped.resources.values() if shipped is not None else ()
        return sum(map(int, known)) if self.gpus is None else self.gpus


def with_accelerator(
    runtime: Runtime, accelerators: Mapping[str, AcceleratorFields], named: str | None = None
) -> Runtime:
    """A runtime whose pods have the label of the accelerator that they request: the named one, or the only one with
    their devices.
    """
    resources = runtime.resources
    having = [name for name, one in accelerators.items() if name and one.profile.units().keys() & resources]
    chosen = named if named is not None else having[0] if len(having) == 1 else None
    return with_labels(runtime, {ACCELERATOR_LABEL: chosen}) if chosen and resources else runtime


def definitions_in(folders: Iterable[tuple[Path, str]], found: Findings) -> tuple[Known, Mapping[tuple[str, str], str]]:
    """The runtimes of an overlay's folders, and their files; the first folder with a name decides."""
    known: dict[tuple[str, str], Runtime] = {}
    files: dict[tuple[str, str], str] = {}
    for folder, relative in folders:
        for path in sorted(one for one in folder.rglob("*") if one.suffix in SIMILAR_ENDINGS and one.is_file()):
            file = f"{relative}/{path.relative_to(folder).as_posix()}"
            manifests = read_manifests(path.read_bytes(), file, found)
            bodies = [body for one in manifests.documents for _, body in objects_in(one)] if manifests else []
            runtimes = [one for body in bodies for one in runtimes_in(body)]
            for key, runtime in runtimes:
                known.setdefault(key, runtime)
                files.setdefault(key, file)
            if manifests is not None and not runtimes:
                message = f"the file has no {' and no '.join(RUNTIME_KINDS)}"
                found.error(
                    INVALID_VALUE, Location(file), message, "copy the definition of a runtime, or remove the file"
                )
    return known, files


TrialResource = Annotated[
    str,
    matching(
        regex(r"[A-Z][A-Za-z]*\.v[0-9][a-z0-9]*\.[a-z0-9.-]+"),
        253,
        "a kind as in the KatibConfig",
        "use a form like `MPIJob.v2beta1.kubeflow.org`",
        form=schema("kind", "string"),
    ),
]


class GPU(Model):
    """How pods request GPUs, in a cluster with one kind of them. Otherwise, use `accelerators`."""

    synonyms: ClassVar[Mapping[str, str]] = GPU_SYNONYMS
    main: ClassVar[str] = "resource"

    resource: ResourceName = NVIDIA_GPU
    """Extended resource for GPUs, without `accelerators`. Pods with GPUs tolerate the taint with the same key."""
    model_label: LabelKey = NVIDIA_PRODUCT
    """Node label that `placement.gpuModel` matches, without `accelerators`."""
    price: Price | None = None
    """Price of one GPU for an hour, in `currency` of the overlay, without `accelerators`."""
    hide_from_others: Truth = False
    """Set `NVIDIA_VISIBLE_DEVICES: void`, and its counterparts for the `accelerators` of the overlay, in training
    containers and TensorBoards without GPUs. Otherwise they see all GPUs of their node if their image sets it to `all`.
    Changing it starts new runs of jobs with such pods."""


ContextName = Annotated[
    str,
    matching(
        regex(r"[\w.@:/+=-]+", re.ASCII),
        253,
        "a name of a context",
        "use a name that `kubectl config get-contexts` shows",
        form=schema("context", "string"),
    ),
]


OriginRef = Annotated[
    str,
    matching(
        ORIGIN_REF,
        250,
        "a branch, a tag, a full commit hash or a digest",
        "use a form like `v1.4.0`",
        form=schema("ref", "string"),
    ),
]
OriginPath = Annotated[
    str,
    matching(
        ORIGIN_PATH,
        500,
        "the path of an overlay's folder, of letters, digits, `.`, `_` and `-`",
        "use a form like `overlays/a100`",
        meant=lambda text: text.strip("/").removesuffix("/overlay.yaml"),
        form=schema("relative path", "string"),
    ),
]
OriginUrl = Annotated[
    str,
    matching(
        ORIGIN_URL,
        500,
        "a URL of a Git repository by https, http or ssh, without a password",
        "use a form like `https://git.example.com/org/platform.git`",
        form=schema("URL", "string"),
    ),
]


OriginOci = Annotated[
    str,
    matching(
        ORIGIN_OCI,
        500,
        "a repository in a registry",
        "use a form like `registry.example.com/org/platform`",
        meant=lambda text: text.removeprefix("oci://"),
        form=schema("repository", "string"),
    ),
]


class Origin(Model):
    """An overlay of another repository, which `gen vendor` copies into the folder of this one."""

    main: ClassVar[str] = "git"

    git: OriginUrl | None = None
    """URL of the Git repository."""
    oci: OriginOci | None = None
    """Repository of a registry with artifacts, as `flux push artifact` makes them, instead of `git`."""
    ref: OriginRef
    """Tag, branch or full commit hash; for `oci` tag or digest. `gen vendor --update` moves to the newest version if it
    is a tag like `v1.4.0`, and to the newest commit if it is a branch."""
    path: OriginPath
    """Folder of the overlay in that repository."""

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if (self.git is None) is (self.oci is None):
            raise conflict("expected either `git` or `oci`", "set one of the two")
        return self


class Cluster(Model):
    """The cluster of an overlay."""

    main: ClassVar[str] = "name"

    name: Label | None = None
    """Name of the cluster, if several overlays render for it: no two of them may render the same object, such as a
    volume."""
    context: ContextName | None = None
    """Context of the cluster in the kubeconfig file, for `gen status` and other live commands. It has no effect on
    rendered files."""


class Spot(Model):
    """Spot nodes, for jobs with `placement.spot`."""

    main: ClassVar[str] = "nodeLabels"

    node_labels: Annotated[dict[LabelKey, LabelValue], Field(min_length=1)]
    """Labels of the nodes, such as `karpenter.sh/capacity-type: spot`, `eks.amazonaws.com/capacityType: SPOT`,
    `cloud.google.com/gke-spot: "true"` or `kubernetes.azure.com/scalesetpriority: spot`."""
    tolerations: tuple[Toleration, ...] = ()
    """Taints of the nodes."""

    @property
    def effect(self) -> Effect:
        tolerations = tuple(one.model_dump(by_alias=True, exclude_none=True) for one in self.tolerations)
        return Effect(node_labels=self.node_labels, tolerations=tolerations)


class Priority(Model):
    """Priority that jobs can have by name: a PriorityClass of the cluster."""

    main: ClassVar[str] = "className"

    class_name: ObjectName
    """PriorityClass of the pods."""
    preemption_policy: Literal["Never", "PreemptLowerPriority"] | None = None
    """The `preemptionPolicy` that the class must have: with `Never`, pods wait for free nodes and stop no others. Pods
    state it, and an API server rejects pods whose class has another. Kueue ignores it: `preemption` of its ClusterQueue
    decides. [default: pods state none]"""


class Katib(Model):
    """Configuration of Katib in the cluster."""

    main: ClassVar[str] = "trialResources"

    trial_resources: tuple[TrialResource, ...] = ()
    """Kinds in `trialResources` of the KatibConfig, in addition to those of Katib's manifests, such as
    `MPIJob.v2beta1.kubeflow.org`. Its ClusterRole must permit to create them, too."""


class CodeSync(Model):
    """Init containers that fetch source code."""

    git_image: ImageRef = "registry.k8s.io/git-sync/git-sync:v4.7.1"
    """Image of git-sync, version 4."""
    rsync_image: ImageRef | None = None
    """Image with the `rsync` command. Without it, jobs cannot use `code.rsync`; no maintained public image exists."""
    cpu: Quantity = "500m"
    """CPU of the container."""
    memory: Bytes = "512Mi"
    """Memory of the container."""


class Copying(Model):
    """Init containers with rclone, for jobs with `inputs`, `outputs` or `logs`."""

    image: ImageRef = "docker.io/rclone/rclone:1.71.0"
    """Image with a shell and a static `rclone`, which also runs in the training containers."""
    cpu: Quantity = "1"
    """CPU of the container."""
    memory: Bytes = "1Gi"
    """Memory of the container."""
    grace: Duration = 120
    """How long pods with `outputs` or `logs` may go on after they were stopped, to copy their files. [default: `2m`]"""


class EndMessages(Model):
    """Messages at the end of workflows: of pipelines, and of runs that a CronWorkflow starts."""

    main: ClassVar[str] = "secret"

    secret: ObjectName
    """Secret with the URL in the key `url`, in each namespace with pipelines. Jobs there can read it, too."""
    image: ImageRef = "docker.io/curlimages/curl:8.16.0"
    """Image with `curl` and a POSIX shell."""
    when: Literal["failed", "ended"] = "failed"
    """Which workflows send a message: those that `failed`, or all that `ended`."""


class ArgoWorkflows(Model):
    """Argo Workflows."""

    main: ClassVar[str] = "serviceAccount"

    service_account: ObjectName
    """ServiceAccount of the pods that create the objects of steps and wait for them, in each namespace with pipelines.
    `docs/pipelines.md` has the Role that it needs. No pod of a step runs with it."""
    reader: ImageRef | None = None
    """Image with `kubectl`, `sed` and a POSIX shell. It reads the `results` of a step from the log of a pod, with the
    service account. Without it, steps cannot have `results`."""
    notify: EndMessages | None = None
    """Message at the end of each workflow, as JSON to an URL. [default: no messages]"""


class KubeflowPipelines(Model):
    """Kubeflow Pipelines."""

    main: ClassVar[str] = "image"

    image: ImageRef
    """Image with `kubectl`, `sed` and a POSIX shell, and a user other than root. It creates the objects of steps and
    waits for them, with the ServiceAccount of the run. `docs/pipelines.md` has the Role that this needs."""


class Pipelines(Model):
    """What runs pipelines in the cluster."""

    main: ClassVar[str] = "argo"

    argo: ArgoWorkflows | None = None
    """Argo Workflows. Set neither `retentionPolicy` nor, in `workflowDefaults`, a `ttlStrategy` in its configuration:
    the controller would delete finished workflows, and an engine would create and run them again."""
    kfp: KubeflowPipelines | None = None
    """Kubeflow Pipelines with its native API, for pipelines with `kfp`."""

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        if self.argo is None and self.kfp is None:
            raise conflict("`pipelines` has neither `argo` nor `kfp`", "add one of the two, or remove `pipelines`")
        return self


class Ingress(Model):
    """Ingress for TensorBoards that set `ingress: true`, at `/tensorboard/<namespace>/<job>`."""

    host: ObjectName
    """Host name."""
    class_name: ObjectName | None = None
    """IngressClass."""
    tls_secret: ObjectName | None = None
    """Secret with the TLS certificate."""
    annotations: dict[LabelKey, Text] = {}
    """Annotations for the ingress controller, such as for single sign-on; TensorBoard has no authentication."""


class Compat(Model):
    """Other programs that look at the runs."""

    main: ClassVar[str] = "arena"

    arena: Truth = False
    """Add labels and an annotation to runs, so that `list`, `get`, `logs` and `top` of Arena 0.15 find them, and a
    ConfigMap for `arena delete`. Arena knows `pytorch`, `tensorflow`, `mpi`, `ray` and `volcano`, and uses the name of
    the object, with the hash. A GitOps engine with self-healing applies a run again that `arena delete` has deleted."""


class TensorBoardDefaults(Model):
    """TensorBoard containers."""

    image: ImageRef = "tensorflow/tensorflow:2.20.0"
    """Image with the `tensorboard` command. TensorFlow images from 2.21 do not include it."""
    cpu: Quantity = "1"
    """CPU of the container."""
    memory: Bytes = "2Gi"
    """Memory of the container."""
    ingress: Ingress | None = None
    """Ingress. If omitted, use `kubectl port-forward`."""


KeptFiles = Annotated[
    str,
    matching(
        regex(
            r"(?:(?!\.{1,2}/)[A-Za-z0-9._*?-]+/)*[A-Za-z0-9_*?][A-Za-z0-9._*?-]*"
            rf"(?:{'|'.join(map(re.escape, INERT_ENDINGS))})"
        ),
        200,
        "a pattern for files that GitOps engines never apply",
        "use a form like `README.md` or `*/NOTES.txt`, relative to `rendered/`",
        form=schema("pattern", "string"),
    ),
]


class Rendered(Model):
    """Files in `rendered/`."""

    keep: tuple[KeptFiles, ...] = ()
    """Files in `rendered/` that gen did not generate, as patterns relative to `rendered/`, such as `README.md`. `*`
    matches any text, including `/`. A pattern ends with `.md` or `.txt`, which GitOps engines ignore."""
