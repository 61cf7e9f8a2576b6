"""What a job author may write, for every kind of job. Kinds add their own fields in `gen.kinds`."""

# no postponed annotations here: pydantic would compile each of them again when the program starts
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gen.model.base import LongForm, Model, ScalarOrList, ScalarOrMapping, ShortForm
from gen.model.names import (
    ConfigKey,
    ContainerResource,
    EnvName,
    ImageRef,
    JobName,
    Label,
    LabelKey,
    LabelValue,
    MountPath,
    ObjectName,
    PodField,
)
from gen.model.scalars import (
    Bytes,
    Count,
    Cpus,
    Duration,
    Given,
    Positive,
    Text,
    Truth,
    refuse,
)

OneOrMore = Annotated[
    Annotated[Given, ShortForm] | Annotated[tuple[Text, ...], LongForm, Field(min_length=1)], ScalarOrList
]
Labels = Annotated[
    Annotated[LabelValue, ShortForm] | Annotated[tuple[LabelValue, ...], LongForm, Field(min_length=1)], ScalarOrList
]


class EnvSource(Model):
    """Where an environment variable takes its value from, instead of a text."""

    secret: ObjectName | None = None
    """Name of a Secret in the job's namespace; `key` says which entry."""
    config_map: ObjectName | None = None
    """Name of a ConfigMap in the job's namespace; `key` says which entry."""
    key: ConfigKey | None = None
    """Entry of the Secret or ConfigMap."""
    optional: Truth | None = None
    """Start the pod even when the Secret, the ConfigMap or the entry is missing."""
    field: PodField | None = None
    """A field of the pod, such as `metadata.name` or `status.podIP`."""
    resource: ContainerResource | None = None
    """A resource of the container, such as `limits.memory`."""


class Toleration(Model):
    """A taint that the pods accept, as in Kubernetes."""

    key: LabelKey | None = None
    """Key of the taint; every taint when it is left out and `operator` is `Exists`."""
    operator: Literal["Exists", "Equal"] | None = None
    """`Equal` compares `value` as well."""
    value: LabelValue | None = None
    """Value of the taint."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Effect of the taint; every effect when it is left out."""
    toleration_seconds: Count | None = None
    """How long a `NoExecute` taint is accepted, in seconds."""

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        if self.operator == "Exists" and self.value:
            raise refuse("given without `value` when `operator` is `Exists`", self.value, "remove one of the two")
        if self.key is None and self.operator != "Exists":
            raise refuse("given a `key`, or `operator: Exists`", self.operator or "neither", "add one of the two")
        if self.toleration_seconds is not None and self.effect != "NoExecute":
            remedy = "add `effect: NoExecute`, or remove `tolerationSeconds`"
            raise refuse("given `effect: NoExecute` with `tolerationSeconds`", self.effect or "none", remedy)
        return self


class Placement(Model):
    """Which nodes the pods may run on."""

    instance_type: Labels | None = None
    """Machine type or types, by the label `node.kubernetes.io/instance-type`."""
    zone: Labels | None = None
    """Zone or zones, by the label `topology.kubernetes.io/zone`."""
    gpu_model: Labels | None = None
    """GPU model or models, by the label that the overlay names in `gpu.modelLabel`."""
    node_selector: dict[LabelKey, LabelValue] = {}
    """Further node labels that must be there."""
    tolerations: tuple[Toleration, ...] = ()
    """Taints that the pods accept. The taint of the GPU resource is accepted by every pod with GPUs anyway."""


class PodFields(Model):
    """What can be said of a pod, for the whole job or for one role."""

    image: ImageRef | None = None
    """Container image, best pinned to a tag or a digest."""
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    """When the image is pulled."""
    command: OneOrMore | None = None
    """What to run. A text runs through `sh -c` exactly as written; a list is run without a shell."""
    args: tuple[Text, ...] = ()
    """Arguments behind a `command` list, or behind the image's entrypoint."""
    working_dir: MountPath | None = None
    """Directory that the command starts in. With `code` it is `/root` unless said otherwise."""
    env: dict[EnvName, Annotated[Annotated[Text, ShortForm] | Annotated[EnvSource, LongForm], ScalarOrMapping]] = {}
    """Environment. A scalar keeps the text that was written: `LR: 1e-3`, `DEBUG: on`, `SEED: 010`."""
    gpus: Count | None = None
    """GPUs of each training pod."""
    cpu: Cpus | None = None
    """CPU of each training pod, requested and limited alike."""
    memory: Bytes | None = None
    """Memory of each training pod, requested and limited alike."""
    shared_memory: Bytes | None = None
    """Size of `/dev/shm` in each training pod; it counts against `memory`. Without it a container gets 64 MiB."""
    placement: Placement = Placement()
    """Which nodes the pods may run on."""
    pod_labels: dict[str, Text] = {}
    """Labels of the pods alone. A change of them is a new run, because pod templates are immutable."""
    pod_annotations: dict[str, Text] = {}
    """Annotations of the pods alone. A change of them is a new run, because pod templates are immutable."""


class RoleFields(PodFields):
    """One role's own values, over the job's."""


class ReplicatedRole(RoleFields):
    """One role's own values, over the job's, and how many pods it has."""

    replicas: Count | None = None
    """How many pods have this role."""


class Code(Model):
    """Source code that is fetched before the container starts, to `<workingDir>/code/<name>`."""

    git: Given | None = None
    """URL of a Git repository, without user name or password."""
    ref: Given = "HEAD"
    """Branch, tag or full commit hash; only a hash makes the run reproducible."""
    depth: Count = 1
    """How many commits to fetch; 0 is the whole history."""
    submodules: Literal["recursive", "shallow", "off"] = "recursive"
    """Whether submodules are fetched."""
    credentials: ObjectName | None = None
    """A Secret in the job's namespace: keys `username` and `password` for https, `ssh` and `known_hosts` for ssh."""
    rsync: Given | None = None
    """Source of an rsync daemon, `host::module/path`, instead of `git`. It is neither encrypted nor authenticated."""
    name: Label | None = None
    """Directory below `code/`; the last part of the URL when it is left out."""


class Mount(Model):
    """Where a volume of the overlay appears in the pods."""

    path: MountPath
    """Directory in the container."""
    sub_path: Given | None = None
    """Directory of the volume, instead of all of it; `{{ run.id }}` in it keeps the runs apart."""
    read_only: Truth | None = None
    """Mount it read-only. `false` undoes the overlay's `mountReadOnly`, and not its `readOnly`."""


class TensorBoard(Model):
    """A TensorBoard that reads the job's logs and outlives its runs."""

    logdir: MountPath | None = None
    """Directory of the event files, under a path of `data`; the only one of `data` when it is left out. Of a path with
    `{{ run.id }}` it is the part before, so that all runs can be compared."""
    image: ImageRef | None = None
    """Image that has the `tensorboard` command; the overlay's when it is left out."""
    ingress: Truth = False
    """Make it reachable through the overlay's `tensorboard.ingress`."""


class Metric(Model):
    """A number that the program prints as `name=value`, for people and tools that compare runs."""

    name: Text
    """Name as it is printed."""
    format: Literal["raw", "percentage"] = "raw"
    """How the number is meant."""


class JobFields(PodFields):
    """The fields of every kind of job."""

    kind: str
    """Kind of job."""
    name: JobName | None = None
    """Name of the job; the file's name when it is left out."""
    workers: Annotated[Positive, Field(le=100_000)] = 1
    """How many pods train."""
    code: Code | None = None
    """Source code to fetch before the container starts."""
    data: dict[str, Annotated[Annotated[MountPath, ShortForm] | Annotated[Mount, LongForm], ScalarOrMapping]] = {}
    """Volumes of the overlay by name, and where they are mounted."""
    files: dict[str, Text] = {}
    """Small text files by absolute path; they are kept in a ConfigMap."""
    tensorboard: Annotated[Annotated[Truth, ShortForm] | Annotated[TensorBoard, LongForm], ScalarOrMapping] = False
    """A TensorBoard over the job's logs."""
    network: Label = "pod"
    """One of the overlay's networks; `pod` is the cluster's ordinary one."""
    queue: Label | None = None
    """Kueue LocalQueue that admits the job; the overlay grants it to the namespace."""
    priority: ObjectName | None = None
    """PriorityClass of the pods; the overlay grants it to the namespace."""
    service_account: ObjectName | None = None
    """ServiceAccount of the pods; the overlay grants it to the namespace."""
    image_pull_secrets: tuple[ObjectName, ...] = ()
    """Secrets of the job's namespace to pull images with."""
    restart: Literal["Never", "OnFailure", "Always", "ExitCode"] | None = None
    """What happens to a container that ends; what is possible and the default depend on the kind."""
    retries: Count | None = None
    """How many failures the job survives."""
    timeout: Duration | None = None
    """The longest time the job may run, such as `12h`."""
    state: Literal["active", "suspended", "finished"] = "active"
    """`finished` keeps the run in Git as a record that is never applied again."""
    attempt: Positive = 1
    """Raise it to run the same thing again."""
    params: dict[str, Text] = {}
    """Values for `{{ params.… }}`; an overlay's `params` win over them."""
    labels: dict[str, Text] = {}
    """Labels of every object of the job, not of its pods; changing them does not start a new run."""
    annotations: dict[str, Text] = {}
    """Annotations of every object of the job, not of its pods; changing them does not start a new run."""
    metrics: tuple[Metric, ...] = ()
    """Numbers that the program prints, for people and tools that compare runs; kept as an annotation of the run."""
