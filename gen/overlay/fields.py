"""Fields of `overlays/<overlay>/overlay.yaml`."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, create_model

from gen.base import LazyRegistry, regex
from gen.job.model import Model, OrMapping, default
from gen.job.names import ImageStart, JobName, Label, LabelKey, LabelValue, ObjectName
from gen.job.profile import with_profiles
from gen.job.scalars import Currency, Text, Truth, matching, schema
from gen.job.synonyms import OVERLAY, SELECT
from gen.overlay import settings
from gen.overlay.entries import AcceleratorFields, GitopsFields, NetworkFields, QueueFields, StoreFields, VolumeFields
from gen.overlay.grant import Grant, Group, NamespaceKey
from gen.overlay.patch import PatchFields
from gen.overlay.profiles.accelerators import ACCELERATORS
from gen.overlay.profiles.engines import ENGINES
from gen.overlay.profiles.networks import NETWORKS
from gen.overlay.profiles.queues import QUEUES
from gen.overlay.profiles.storage import STORAGE
from gen.overlay.profiles.stores import STORES
from gen.overlay.settings import RuntimeFields

if TYPE_CHECKING:
    from gen.job.kinds.declaration import DeclaredKind
else:
    DeclaredKind = Any  # few overlays set the field; `overlay_fields` gives theirs the model

KubernetesVersion = Annotated[
    str,
    matching(
        regex(r"v?1\.[0-9]{1,2}(\.[0-9]{1,3})?"),
        40,
        "a Kubernetes version",
        'use a form like `"1.34"`',
        meant=lambda text: match[1] if (match := re.match(r"v?(1\.[0-9]{2})(?![0-9])", text)) else "",
        form=schema("version", "string", "number"),
    ),
]


PluginName = Annotated[
    str,
    matching(
        regex(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"),
        100,
        "a name of a Python package",
        "use the name that `pip install` takes",
        form=schema("package", "string"),
    ),
]
VersionRange = Annotated[
    str,
    matching(
        regex(r"(?:~=|==|!=|<=|>=|<|>)[0-9][A-Za-z0-9.*+!]*(?:, ?(?:~=|==|!=|<=|>=|<|>)[0-9][A-Za-z0-9.*+!]*)*"),
        100,
        "a version range",
        "use a form like `>=1.2,<2`",
        form=schema("version range", "string"),
    ),
]


class Select(Model):
    """Selects the jobs that the overlay renders, by patterns for `<namespace>/<file name without .yaml>`."""

    synonyms: ClassVar[Mapping[str, str]] = SELECT
    main: ClassVar[str] = "include"

    include: tuple[Text, ...] = ("*",)
    """Jobs to include. `*` matches any text, including `/`."""
    exclude: tuple[Text, ...] = ()
    """Jobs to exclude."""
    only_named: Truth = False
    """Only render jobs that name the overlay in `clusters`."""


class ImageRule(Model):
    """Replaces the prefix of image names, for example to use a mirror."""

    from_: Text = Field(alias="from")
    """Prefix of the full image name. Docker Hub images start with `docker.io/` or `docker.io/library/`."""
    to: ImageStart
    """Replacement for the prefix."""


class Runs(Model):
    """How objects of a run are named, and which runs a change of the platform starts again."""

    main: ClassVar[str] = "naming"

    naming: Literal["hash", "stable"] = "hash"
    """`hash`: an edited job is a new object with another name. `stable`: one object, edited in place. Operators keep
    running pods, and create the pods that replace failed ones from the new object: delete the object after an edit."""
    restarted_for: Text | None = None
    """Reason to take all runs along with the platform, such as `CVE-2026-1234`. Setting, changing or removing it
    renders every run again; those that this changes start again. Otherwise runs keep the platform they started with."""


class OverlayFields(Model):
    """A cluster or environment: the resources that jobs may use in it, and its settings."""

    synonyms: ClassVar[Mapping[str, str]] = OVERLAY
    listed_as: ClassVar[str] = "overlay"

    extends: OrMapping[Label, settings.Origin] | None = None
    """Overlay to inherit from. Mappings are merged, lists are replaced, patches are appended. The long form names
    an overlay of [another repository](platforms.md)."""
    abstract: Truth = False
    """Do not render this overlay; it exists to be extended. Not inherited."""
    kubernetes: KubernetesVersion | None = None
    """Kubernetes version of the cluster. Objects are validated against its schemas."""
    cluster: OrMapping[Label, settings.Cluster] | None = None
    """Name of the cluster, if several overlays render for it: no two of them may render the same object, such as a
    volume. The long form also has the context for [live commands](live.md). [default: `gitops.argocd.cluster` if it is
    set, otherwise the overlay has a cluster of its own]"""
    labels: dict[LabelKey, LabelValue] = {}
    """Labels that jobs can use in `clusters` to choose the overlay, such as `region: eu`."""
    plugins: dict[PluginName, VersionRange] = {}
    """Python packages that add kinds or profiles, each with a version range such as `>=1.2,<2`."""
    select: Select = default(Select)
    """Jobs to render."""
    operators: dict[str, Text] = {}
    """API version that the cluster serves, by kind of job, such as `mpi: kubeflow.org/v2beta1`. Both operators define
    MPIJob, and a cluster has one definition: next to the MPI operator, the training operator must be started with
    `--enable-scheme=tfjob --enable-scheme=pytorchjob`, or it exits. For `train`, the minor
    version of the Kubeflow Trainer, such as `train: 2.2`."""
    katib: settings.Katib = default(settings.Katib)
    """Katib, which runs searches."""
    kinds: dict[JobName, DeclaredKind] = {}
    """Custom resources that jobs can have as their kind, such as `spark`, in addition to those of gen."""
    defaults: dict[str, Any] = {}
    """Default fields for all jobs of kinds that have them, and under `kinds` for jobs of one kind. Fields of the job
    override them."""
    params: dict[str, Text] = {}
    """Values for `{{ params.… }}`. They override the `params` of a job."""
    namespaces: dict[NamespaceKey, Grant] = {}
    """Resources that each namespace may use. `*` applies to all namespaces that are not listed, except for `kube-*`,
    `argocd`, `flux-system` and those of the overlay's GitOps engines."""
    groups: dict[Label, Group] = {}
    """Grants and quotas that several namespaces have in common, by the name of the group. A field that a namespace sets
    in `namespaces` replaces that of its group, and a field of a group that names it that of one for `*`."""
    volumes: dict[Label, VolumeFields] = {}
    """Volumes that jobs can mount."""
    stores: dict[Label, StoreFields] = {}
    """Object stores that jobs can copy from and to."""
    networks: dict[Label, NetworkFields] = {}
    """Networks that jobs can use in addition to `pod`."""
    accelerators: dict[Label, AcceleratorFields] = {}
    """Accelerators that jobs can request with `accelerator`. A job may omit it if there is only one."""
    runtimes: dict[ObjectName, RuntimeFields] = {}
    """Runtimes of the Kubeflow Trainer that `kind: train` may use, in addition to those with a definition in
    `runtimes/` of the overlay. Their devices and pods count against quotas: `torch-distributed: {}` is enough for one
    that the Trainer installs."""
    spot: settings.Spot | None = None
    """Spot nodes, which jobs can choose. Without it, they cannot."""
    queues: dict[Label, QueueFields] = {}
    """Queues that jobs can use with `queue`, each of one scheduler. Without any, the queues that namespaces are granted
    are Kueue LocalQueues, and for `kind: volcano` queues of Volcano."""
    priorities: dict[Label, settings.Priority] = {}
    """Priorities that jobs can use with `priority`. Without any, the priorities that namespaces are granted are
    PriorityClasses of the cluster."""
    images: tuple[ImageRule, ...] = ()
    """Rules that replace image prefixes. The longest matching prefix applies."""
    pins: Literal["required", "warn", "code", "off"] = "code"
    """What to report about images without a digest and code without a commit that `gen pin` has not pinned: an error, a
    warning, a warning for code only, or nothing. Pins that exist are used in any case. [Pins](pins.md) describes
    them."""
    patches: tuple[PatchFields, ...] = ()
    """Patches of rendered objects, applied in order."""
    gitops: GitopsFields | None = None
    """GitOps engines that apply the rendered files. Their own objects are rendered, too."""
    runs: Runs = default(Runs)
    """How runs are named."""
    pipelines: settings.Pipelines | None = None
    """What runs pipelines in the cluster. Without it, jobs cannot be pipelines."""
    rendered: settings.Rendered = default(settings.Rendered)
    """Files in `rendered/` that gen did not generate."""
    gpu: settings.GPU = default(settings.GPU)
    """How pods request GPUs."""
    currency: Currency | None = None
    """Currency of all prices and budgets, such as `EUR` (ISO 4217)."""
    code_sync: settings.CodeSync = default(settings.CodeSync)
    """Init containers that fetch source code."""
    compat: settings.Compat = default(settings.Compat)
    """Compatibility with other programs."""
    copying: settings.Copying = default(settings.Copying)
    """Containers that copy files of jobs."""
    tensorboard: settings.TensorBoardDefaults = default(settings.TensorBoardDefaults)
    """TensorBoard containers."""


PROFILES: Final[Mapping[str, tuple[type[Model], LazyRegistry[Any]]]] = {
    "volumes": (VolumeFields, STORAGE),
    "networks": (NetworkFields, NETWORKS),
    "accelerators": (AcceleratorFields, ACCELERATORS),
    "queues": (QueueFields, QUEUES),
    "stores": (StoreFields, STORES),
}
"""The fields with profiles in their entries: the model of the shared settings, and the registry of the profiles."""


def overlay_fields(data: Mapping[str, object] | None = None) -> type[OverlayFields]:
    """The model of an overlay, with the profiles that `data` names, or with all that are registered.

    A field that `data` does not set has any type: it has its default. Building the models of all profiles and fields
    takes longer than rendering a job, and an overlay uses few of them.
    """
    given = frozenset(data if data is not None else (field.alias for field in OverlayFields.model_fields.values()))
    return _with_profiles(
        tuple(
            tuple(key for key in registry if data is None or key in _keys_of_entries(data.get(field)))
            for field, (_, registry) in PROFILES.items()
        ),
        frozenset(name for name, field in OverlayFields.model_fields.items() if field.alias in given),
    )


def _keys_of_entries(entries: object) -> set[str]:
    values = entries.values() if isinstance(entries, dict) else ()
    return {key for entry in values if isinstance(entry, dict) for key in entry}


@cache
def _with_profiles(names: tuple[tuple[str, ...], ...], given: frozenset[str]) -> type[OverlayFields]:
    fields: dict[str, Any] = {name: (Any, field) for name, field in OverlayFields.model_fields.items()}
    for name in given:
        del fields[name]
    if "kinds" in given:
        from gen.job.kinds import declaration

        fields["kinds"] = (dict[JobName, declaration.DeclaredKind], OverlayFields.model_fields["kinds"])
    if "gitops" in given:
        engines = with_profiles(GitopsFields, ENGINES, ENGINES)
        fields["gitops"] = (engines | None, OverlayFields.model_fields["gitops"])
    for (field, (model, registry)), chosen_names in zip(PROFILES.items(), names, strict=True):
        if field in given:
            entry = with_profiles(model, registry, chosen_names)
            fields[field] = (dict[Label, entry], OverlayFields.model_fields[field])  # type: ignore[valid-type] # made here
    return create_model("OverlayFields", __base__=OverlayFields, __doc__=OverlayFields.__doc__, **fields)
