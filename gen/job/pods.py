"""Fields of the pods of a job: what they run, where, and with what. The job and each of its roles have them."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from gen.job import names
from gen.job.model import LongForm, Model, OrMapping, Part, ScalarOrList, ShortForm, default
from gen.job.scalars import Bytes, Count, Cpus, Given, Size, Text, Truth, conflict
from gen.job.synonyms import ENV, PLACEMENT, REPLICATED_ROLE, ROLE

OneOrMore = Annotated[
    Annotated[Given, ShortForm] | Annotated[tuple[Text, ...], LongForm, Field(min_length=1)], ScalarOrList
]
Labels = Annotated[
    Annotated[names.LabelValue, ShortForm] | Annotated[tuple[names.LabelValue, ...], LongForm, Field(min_length=1)],
    ScalarOrList,
]

MAX_PODS = 100_000
"""More pods than a job may have: clusters have at most 150,000."""
MAX_ROLES = 128
"""Roles of a job. With `spread`, the pods of each name all others, so that the object grows with their square."""


class EnvSource(Part):
    """Source of an environment variable, used instead of a literal value."""

    synonyms: ClassVar[Mapping[str, str]] = ENV

    secret: names.ObjectName | None = None
    """Name of a Secret in the job's namespace. `key` selects the entry."""
    config_map: names.ObjectName | None = None
    """Name of a ConfigMap in the job's namespace. `key` selects the entry."""
    key: names.ConfigKey | None = None
    """Key in the Secret or ConfigMap."""
    optional: Truth | None = None
    """Start the pod even if the Secret, the ConfigMap or the key is missing."""
    field: names.PodField | None = None
    """Pod field, such as `metadata.name` or `status.podIP`."""
    resource: names.ContainerResource | None = None
    """Container resource, such as `limits.memory`."""


class Toleration(Part):
    """Taint that the pods tolerate, as in Kubernetes."""

    key: names.LabelKey | None = None
    """Taint key. If omitted with `operator: Exists`, all taints match."""
    operator: Literal["Exists", "Equal"] | None = None
    """`Exists` matches any value; `Equal` also compares `value`."""
    value: names.LabelValue | None = None
    """Taint value."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Taint effect. If omitted, all effects match."""
    toleration_seconds: Count | None = None
    """How long a `NoExecute` taint is tolerated, in seconds."""

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        if self.operator == "Exists" and self.value:
            raise conflict("`value` is not allowed with `operator: Exists`", "remove one of the two")
        if self.key is None and self.operator != "Exists":
            raise conflict("expected a `key` or `operator: Exists`", "add one of the two")
        if self.toleration_seconds is not None and self.effect != "NoExecute":
            remedy = "add `effect: NoExecute`, or remove `tolerationSeconds`"
            raise conflict("`tolerationSeconds` requires `effect: NoExecute`", remedy)
        return self


class Placement(Part):
    """Which nodes the pods may run on."""

    synonyms: ClassVar[Mapping[str, str]] = PLACEMENT
    main: ClassVar[str] = "nodeSelector"

    instance_type: Labels | None = None
    """One or more instance types (node label `node.kubernetes.io/instance-type`)."""
    zone: Labels | None = None
    """One or more zones (node label `topology.kubernetes.io/zone`)."""
    gpu_model: Labels | None = None
    """One or more GPU models (node label set by the overlay's `gpu.modelLabel`)."""
    node_selector: dict[names.LabelKey, Labels] = Field(default_factory=dict)
    """Other node labels that must match, each with one or more values."""
    tolerations: tuple[Toleration, ...] = ()
    """Taints that the pods tolerate. Pods with GPUs always tolerate the taint of the GPU resource."""
    spot: Truth = False
    """Run on the overlay's `spot` nodes, which the cloud can take back at any time."""
    spread: Literal["node", "zone"] | None = None
    """Keep the training pods of a run apart. `node`: at most one on each node. `zone`: the same number in each zone, or
    one more."""


class PodFields(Model):
    """Pod settings, for the whole job or for one role."""

    image: names.ImageRef | None = None
    """Container image. Pin it to a tag or a digest."""
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None
    """When to pull the image."""
    command: OneOrMore | None = None
    """Command to run. A string is passed to `sh -c` unchanged; a list is executed without a shell."""
    args: tuple[Text, ...] = ()
    """Arguments for a `command` list, or for the entrypoint of the image. Without `command`, an empty list runs the
    entrypoint of the image as it is."""
    working_dir: names.MountPath | None = None
    """Working directory of the command. Defaults to `/root` if `code` is set, which only the user `root` can enter."""
    env: dict[names.EnvName, OrMapping[Text, EnvSource]] = Field(default_factory=dict)
    """Environment variables. Scalars are passed exactly as written: `LR: 1e-3`, `DEBUG: on`, `SEED: 010`.
    Settings of git-sync are fields of `code`. Training containers have `PYTHONUNBUFFERED: "1"`; where the operator does
    not set it, an empty value here switches it off."""
    gpus: Count | None = None
    """GPUs per training pod, or other devices of the `accelerator`."""
    accelerator: names.Label | None = None
    """Accelerator of the overlay. Required if the overlay has several."""
    cpu: Cpus | None = None
    """CPU per training pod, set as request and limit."""
    memory: Bytes | None = None
    """Memory per training pod, set as request and limit."""
    disk: Size | None = None
    """Disk of the node for each training pod: for its logs, `inputs`, `outputs`, and files outside of volumes. Set as
    request and limit; a pod with more is evicted."""
    shared_memory: Bytes | None = None
    """Size of `/dev/shm` in each training pod. It counts against `memory`. [default: for pods with GPUs, that of the
    accelerator or half of `memory`; for others, the 64 MiB of containers]"""
    placement: Placement = default(Placement)
    """Which nodes the pods may run on."""
    pod_labels: dict[str, Text] = Field(default_factory=dict)
    """Labels for the pods only. Changing them starts a new run, because pod templates are immutable. The overlay
    permits their keys under `namespaces.<namespace>.metadata`, because Services select pods by them."""
    pod_annotations: dict[str, Text] = Field(default_factory=dict)
    """Annotations for the pods only. Changing them starts a new run, because pod templates are immutable."""


class RoleFields(PodFields, Part):
    """Settings of one role, overriding those of the job."""

    synonyms: ClassVar[Mapping[str, str]] = ROLE


class ReplicatedRole(RoleFields):
    """Settings of one role, overriding those of the job, and its number of pods."""

    synonyms: ClassVar[Mapping[str, str]] = REPLICATED_ROLE

    replicas: Annotated[Count, Field(le=MAX_PODS)] | None = None
    """Number of pods with this role."""
