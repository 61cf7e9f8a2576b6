"""What a platform owner may write in `overlays/<overlay>/overlay.yaml`."""

# no postponed annotations here: pydantic would compile each of them again when the program starts
import re
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, WithJsonSchema, create_model, model_validator

from gen.gitops.model import Gitops
from gen.model.base import Model
from gen.model.names import DNS_LABEL, ImageRef, ImageStart, Label, LabelKey, ObjectName, ResourceName
from gen.model.patches import PatchFields
from gen.model.profile import chosen, profile_fields
from gen.model.scalars import Bytes, Count, Quantity, Size, Text, Truth, matching, refuse
from gen.networks import NETWORKS, NetworkProfile
from gen.storage import STORAGE, StorageProfile
from gen.storage.base import AccessMode

KubernetesVersion = Annotated[
    str,
    matching(re.compile(r"v?1\.[0-9]{1,2}(\.[0-9]{1,3})?"), 12, "a Kubernetes version", 'write it like `"1.34"`'),
    WithJsonSchema({"title": "version", "type": ["string", "number"]}),
]


class VolumeFields(Model):
    """A volume that jobs may mount by its name: one storage profile, and what all of them share."""

    size: Size | None = None
    """Capacity. File services do not enforce it, but the objects must say one."""
    access_modes: tuple[AccessMode, ...] = ()
    """Access modes; `ReadWriteMany`, or `ReadOnlyMany` with `readOnly`, when left out."""
    read_only: Truth = False
    """Nobody may write to it."""
    mount_read_only: Truth = False
    """Jobs mount it read-only unless they say `readOnly: false`; meant for datasets."""
    mount_options: tuple[Text, ...] = ()
    """Mount options of the persistent volume, such as `nolock`."""

    @property
    def profile(self) -> StorageProfile:
        return cast("StorageProfile", next(iter(chosen(self, STORAGE).values())))

    @model_validator(mode="after")
    def _one_profile(self) -> Self:
        if len(given := chosen(self, STORAGE)) != 1:
            remedy = "one of " + ", ".join(f"`{key}`" for key in sorted(STORAGE))
            raise refuse("given exactly one storage profile", ", ".join(given) or "none", remedy)
        if self.profile.needs_size and self.size is None:
            raise refuse("given a `size`", next(iter(given)), "add `size`, such as `size: 100Gi`")
        return self


class NetworkFields(Model):
    """A network that jobs may use by its name: one or more network profiles."""

    @property
    def profiles(self) -> tuple[NetworkProfile, ...]:
        return tuple(chosen(self, NETWORKS).values())

    @model_validator(mode="after")
    def _profiles_agree(self) -> Self:
        given = chosen(self, NETWORKS)
        if not given:
            raise refuse(
                "given a network profile",
                "none",
                "one of " + ", ".join(f"`{key}`" for key in sorted(NETWORKS)),
            )
        for key, profile in given.items():
            if clash := sorted(profile.excludes & given.keys()):
                raise refuse(
                    f"either `{key}` or `{clash[0]}`",
                    "both",
                    f"declare two networks, one with `{key}` and one with `{clash[0]}`",
                )
        return self


Volume: type[VolumeFields] = create_model(
    "Volume", __base__=VolumeFields, __doc__=VolumeFields.__doc__, **profile_fields(STORAGE)
)
Network: type[NetworkFields] = create_model(
    "Network", __base__=NetworkFields, __doc__=NetworkFields.__doc__, **profile_fields(NETWORKS)
)

PERMISSIONS = sorted({p.grant for p in (*STORAGE.values(), *NETWORKS.values()) if p.grant})
Permission = Annotated[str, Field(json_schema_extra={"enum": PERMISSIONS})]
NamespaceKey = Annotated[
    str,
    matching(
        re.compile(rf"\*|{DNS_LABEL}"),
        63,
        "the name of a namespace, or `*` for all others",
        "use lower-case letters, digits and `-`; quote the `*`",
    ),
    WithJsonSchema({"title": "namespace", "type": "string"}),
]


class Select(Model):
    """Which jobs the overlay renders, by patterns over `<namespace>/<file name without .yaml>`."""

    include: tuple[Text, ...] = ("*",)
    """Jobs to take; `*` matches any text, also across `/`."""
    exclude: tuple[Text, ...] = ()
    """Jobs to leave out of those."""


class Grant(Model):
    """What the jobs of a namespace may use."""

    gpus: Count | None = None
    """Most GPUs that the namespace's active jobs may ask for together."""
    queues: tuple[Label, ...] = ()
    """Kueue LocalQueues."""
    priorities: tuple[ObjectName, ...] = ()
    """PriorityClasses."""
    service_accounts: tuple[ObjectName, ...] = ()
    """ServiceAccounts."""
    volumes: tuple[Label, ...] | None = None
    """Volumes of the overlay; all of them when left out."""
    networks: tuple[Label, ...] | None = None
    """Networks of the overlay; all of them when left out."""
    registries: tuple[ImageStart, ...] | None = None
    """Where images of jobs may come from, such as `registry.example.com/team`, after `images` was applied; anywhere
    when left out. Docker Hub's are `docker.io/…`."""
    metadata: tuple[Text, ...] = ()
    """Keys of labels and annotations with a prefix that jobs may set, as patterns such as `example.com/*`."""
    allow: tuple[Permission, ...] = ()
    """Privileges that some volumes and networks need."""


class ImageRule(Model):
    """Take images whose name starts with one text from somewhere else."""

    from_: Text = Field(alias="from")
    """Start of the full image name; Docker Hub's images count as `docker.io/…` and `docker.io/library/…`."""
    to: ImageStart
    """What stands there instead."""


class GPU(Model):
    """How GPUs are asked for."""

    resource: ResourceName = "nvidia.com/gpu"
    """Extended resource that counts them; its name is also the taint that pods with GPUs accept."""
    model_label: LabelKey = "nvidia.com/gpu.product"
    """Node label that `placement.gpuModel` selects by."""


class CodeSync(Model):
    """The containers that fetch source code."""

    git_image: ImageRef = "registry.k8s.io/git-sync/git-sync:v4.7.1"
    """git-sync, version 4."""
    rsync_image: ImageRef | None = None
    """An image with the `rsync` command; there is no well-kept public one, so without it no job can use rsync."""
    cpu: Quantity = "500m"
    """CPU of the container."""
    memory: Bytes = "512Mi"
    """Memory of the container."""


class Ingress(Model):
    """A route to every TensorBoard that asks for it, below `/tensorboard/<namespace>/<job>`."""

    host: ObjectName
    """Host name."""
    class_name: ObjectName | None = None
    """IngressClass."""
    tls_secret: ObjectName | None = None
    """Secret with the certificate."""
    annotations: dict[LabelKey, Text] = {}
    """Annotations for the controller, such as those for sign-on; TensorBoard itself lets everyone in."""


class TensorBoardDefaults(Model):
    """The containers that show logs."""

    image: ImageRef = "tensorflow/tensorflow:2.20.0"
    """An image with the `tensorboard` command; TensorFlow's have none from 2.21 on."""
    cpu: Quantity = "1"
    """CPU of the container."""
    memory: Bytes = "2Gi"
    """Memory of the container."""
    ingress: Ingress | None = None
    """How it is reached from outside; only by `kubectl port-forward` when left out."""


class Runs(Model):
    """How the objects of a run are named."""

    naming: Literal["hash", "stable"] = "hash"
    """`hash`: a changed job is a new object beside the finished one. `stable`: one object, changed in place."""


class OverlayFields(Model):
    """A cluster or environment: what jobs may use there, and what is different there."""

    extends: Label | None = None
    """Overlay to start from. Mappings are merged, lists are replaced, patches are added."""
    abstract: Truth = False
    """Only there to be extended; not rendered itself. Not inherited."""
    kubernetes: KubernetesVersion | None = None
    """Version of the cluster, whose schemas the objects must fit."""
    select: Select = Select()
    """Jobs to render."""
    operators: dict[str, Text] = {}
    """API version of each kind of job that the cluster serves, such as `mpi: kubeflow.org/v2beta1`."""
    defaults: dict[str, Any] = {}
    """Fields laid under every job, and below `kinds` under the jobs of one kind; the job wins."""
    params: dict[str, Text] = {}
    """Values for `{{ params.… }}`; they win over the job's."""
    namespaces: dict[NamespaceKey, Grant] = {}
    """What each namespace may use; `*` stands for every namespace that is not named."""
    volumes: dict[Label, Volume] = {}
    """Volumes that jobs may mount."""
    networks: dict[Label, Network] = {}
    """Networks that jobs may use besides `pod`."""
    images: tuple[ImageRule, ...] = ()
    """Where images come from; the longest match counts."""
    patches: tuple[PatchFields, ...] = ()
    """Changes of rendered objects, applied in order."""
    gitops: Gitops | None = None
    """GitOps engines that apply the rendered files; objects for them are rendered beside."""
    runs: Runs = Runs()
    """How runs are named."""
    gpu: GPU = GPU()
    """How GPUs are asked for."""
    code_sync: CodeSync = CodeSync()
    """The containers that fetch source code."""
    tensorboard: TensorBoardDefaults = TensorBoardDefaults()
    """The containers that show logs."""
