"""Fields of an overlay that hold profiles: volumes, accelerators, networks, object stores, queues and GitOps engines.

Each model has the settings that all profiles share; `overlay_fields` adds a field for each profile.
"""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from itertools import combinations
from typing import Annotated, ClassVar, Generic, Self, TypeVar

from pydantic import model_validator

from gen.base import regex
from gen.job.fields import StorePath
from gen.job.model import Model
from gen.job.names import LABEL_KEY, EnvName, Label, LabelKey, LabelValue, ObjectName
from gen.job.pods import Toleration
from gen.job.profile import Effect, Problem, Profile, chosen, clashes, combined, require_one, with_profiles
from gen.job.queue import QueueProfile
from gen.job.scalars import Bytes, Positive, Price, Quantity, Size, Text, Truth, conflict, matching, schema, shown
from gen.job.synonyms import ACCELERATOR, STORE, VOLUME
from gen.kubernetes.objects import ZONE
from gen.overlay.profiles.accelerators import ACCELERATORS, AcceleratorProfile
from gen.overlay.profiles.engines import ENGINES
from gen.overlay.profiles.engines.base import Engine
from gen.overlay.profiles.networks import NETWORKS, NetworkProfile
from gen.overlay.profiles.queues import QUEUES
from gen.overlay.profiles.storage import STORAGE, AccessMode, StorageProfile
from gen.overlay.profiles.stores import STORES, StoreProfile

P = TypeVar("P", bound=Profile)


class Entry(Model, Generic[P]):
    """An entry with one profile, and settings that all profiles of the registry share."""

    registry: ClassVar[Mapping[str, type[Profile]]]
    what: ClassVar[str]
    """Name of a profile in messages."""

    @cached_property
    def given(self) -> dict[str, P]:
        """The profile by its key."""
        return chosen(self, self.registry)

    @cached_property
    def profile(self) -> P:
        return next(iter(self.given.values()))

    @model_validator(mode="after")
    def _one_profile(self) -> Self:
        require_one(self, self.registry, self.what)
        return self


class VolumeFields(Entry[StorageProfile]):
    """Volume that jobs can mount by name: one storage profile, and settings that all profiles share."""

    registry: ClassVar[Mapping[str, type[Profile]]] = STORAGE
    what: ClassVar[str] = "storage profile"
    synonyms: ClassVar[Mapping[str, str]] = VOLUME
    main: ClassVar[str] = "claim"

    size: Size | None = None
    """Capacity. File services do not enforce it, but Kubernetes requires it."""
    access_modes: tuple[AccessMode, ...] = ()
    """Access modes. Defaults to `ReadWriteMany`, or to `ReadOnlyMany` with `readOnly`."""
    read_only: Truth = False
    """Make the volume read-only for all jobs."""
    mount_read_only: Truth = False
    """Mount read-only unless a job sets `readOnly: false`. Intended for datasets."""
    mount_options: tuple[Text, ...] = ()
    """Mount options of the PersistentVolume, such as `nolock`."""

    zone: Label | None = None
    """Zone of the file system. Pods that use the volume only run there."""

    @property
    def node_labels(self) -> dict[str, str]:
        """Labels of the only nodes that can mount it."""
        zone = {ZONE: self.zone} if self.zone is not None else {}
        return {**zone, **self.profile.node_labels}

    @model_validator(mode="after")
    def _has_size(self) -> Self:
        if self.profile.needs_size and self.size is None:
            raise conflict(f"`{next(iter(self.given))}` requires a `size`", "add `size`, such as `size: 100Gi`")
        return self


NodeResource = Annotated[
    str,
    matching(
        regex(r"hugepages-[1-9][0-9]*[KMG]i|ephemeral-storage|(?=.*/)" + LABEL_KEY),
        317,
        "a resource of nodes",
        "use a form like `hugepages-2Mi`, `ephemeral-storage` or `vpc.amazonaws.com/efa`",
        form=schema("resource name", "string"),
    ),
]


class AcceleratorFields(Entry[AcceleratorProfile]):
    """Accelerator that jobs can request by name: one profile, and settings that all profiles share."""

    registry: ClassVar[Mapping[str, type[Profile]]] = ACCELERATORS
    what: ClassVar[str] = "accelerator profile"
    synonyms: ClassVar[Mapping[str, str]] = ACCELERATOR

    node_labels: dict[LabelKey, LabelValue] = {}
    """Node labels that must match, in addition to those of the profile."""
    tolerations: tuple[Toleration, ...] = ()
    """Taints that the pods tolerate, in addition to that of the profile."""
    model_label: LabelKey | None = None
    """Node label that `placement.gpuModel` matches. Defaults to that of the profile, if it has one."""
    per_node: Positive | None = None
    """Devices of a node. A pod cannot request more."""
    resources: dict[NodeResource, Quantity] = {}
    """More resources of each pod with the accelerator, such as `hugepages-2Mi: 5Gi`."""
    env: dict[EnvName, Text] = {}
    """Environment of each training container with the accelerator. A job can override it."""
    shared_memory: Bytes | None = None
    """Size of `/dev/shm` in pods with the accelerator, unless the job sets `sharedMemory`.
    [default: half of `memory`]"""
    price: Price | None = None
    """Price of one device for an hour, in `currency` of the overlay; `0` for devices without costs. For MIG instances
    and shares, that of one of them. Costs in `gen plan` and `gen list` derive from it."""

    @property
    def models(self) -> str | None:
        """Node label with the model of the device; None if there is none, or if the profile selects by it."""
        return None if self.profile.pins_model() else self.model_label or self.profile.models

    @cached_property
    def effects(self) -> dict[int, Effect]:
        """Results of `effect`, the same for the pods of all jobs."""
        return {}

    def effect(self, count: int) -> Effect:
        """Changes to a pod that requests `count` devices."""
        if count not in self.effects:
            self.effects[count] = self._effect(count)
        return self.effects[count]

    def _effect(self, count: int) -> Effect:
        tolerations = tuple(one.model_dump(by_alias=True, exclude_none=True) for one in self.tolerations)
        own = Effect(node_labels=self.node_labels, tolerations=tolerations, resources=self.resources, env=self.env)
        return combined([self.profile.effect(count), own])

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if self.model_label is not None and self.profile.pins_model():
            raise conflict("`modelLabel` has no effect, because the profile has a `model`", "remove one of the two")
        return self


def one_accelerator(profile: str, settings: Mapping[str, str], model_label: str | None) -> AcceleratorFields:
    """An accelerator that the overlay does not declare."""
    return _with_profile(profile).model_validate({profile: settings, "modelLabel": model_label})


@cache
def _with_profile(name: str) -> type[AcceleratorFields]:
    return with_profiles(AcceleratorFields, ACCELERATORS, (name,))


_PROBE = 8
"""GPUs of a pod, to compare profiles with each other."""


class NetworkFields(Model):
    """Network that jobs can use by name: one or more network profiles."""

    @cached_property
    def given(self) -> dict[str, NetworkProfile]:
        """The profiles by their keys."""
        return chosen(self, NETWORKS)

    @cached_property
    def profiles(self) -> tuple[NetworkProfile, ...]:
        return tuple(self.given.values())

    @cached_property
    def effects(self) -> dict[int, Effect]:
        """Results of `effect`, the same for the pods of all jobs."""
        return {}

    def effect(self, gpus: int) -> Effect:
        """Changes to a pod of a job with `gpus` GPUs."""
        if gpus not in self.effects:
            self.effects[gpus] = combined(profile.total(gpus) for profile in self.profiles)
        return self.effects[gpus]

    def problems(self, gpus: int) -> Iterator[Problem]:
        """Why a training pod with `gpus` GPUs cannot use the network."""
        yield from (problem for profile in self.profiles if (problem := profile.problem(gpus)) is not None)

    @model_validator(mode="after")
    def _profiles_agree(self) -> Self:
        given = self.given
        if not given:
            remedy = "set one of " + ", ".join(f"`{key}`" for key in sorted(NETWORKS))
            raise conflict("expected a network profile, got none", remedy)
        for one, other in combinations(given, 2):
            _check_pair(one, given[one], other, given[other])
        for key, profile in given.items():
            problem = profile.problem_with({name: other for name, other in given.items() if name != key})
            if problem is not None:
                raise conflict(problem.message, problem.hint)
        return self


def _check_pair(one: str, first: NetworkProfile, other: str, second: NetworkProfile) -> None:
    """Refuse two profiles that exclude each other, or that need different values of one key."""
    platforms = {first.platform, second.platform} - {""}
    if one in second.excludes or other in first.excludes or len(platforms) > 1:
        reason = f": one is for {first.platform}, the other for {second.platform}" if len(platforms) > 1 else ""
        problem = f"`{one}` and `{other}` cannot be combined{reason}"
        raise conflict(problem, f"declare two networks, one with `{one}` and one with `{other}`")
    for clash in clashes(first.total(_PROBE), second.total(_PROBE)):
        problem = f"`{one}` and `{other}` set `{clash.key}` to {shown(clash.one)} and {shown(clash.other)}"
        in_env = clash.key in first.total(_PROBE).env
        raise conflict(problem, f"set `{clash.key}` in `env` of both" if in_env else "declare two networks")


Bucket = Annotated[
    str,
    matching(
        regex(r"[a-z0-9](?:[-a-z0-9._]{1,220}[a-z0-9])"),
        222,
        "the name of a bucket",
        "use a name like `team-datasets`; write folders in `prefix`",
        form=schema("bucket", "string"),
    ),
]


class StoreFields(Entry[StoreProfile]):
    """Bucket that jobs can copy from and to by name: one service, and settings that all services share. They limit what
    gen writes into pods. Jobs can read any Secret of their namespace, so its keys must have the same limits.
    """

    registry: ClassVar[Mapping[str, type[Profile]]] = STORES
    what: ClassVar[str] = "service of object stores"
    synonyms: ClassVar[Mapping[str, str]] = STORE
    main: ClassVar[str] = "bucket"

    bucket: Bucket
    """Name of the bucket."""
    prefix: StorePath | None = None
    """Folder of the bucket that jobs can use. Defaults to all of it."""
    secret: ObjectName | None = None
    """Secret in the job's namespace with the credentials. The service names its keys."""
    read_only: Truth = False
    """Only allow `inputs` from it."""

    @model_validator(mode="after")
    def _has_secret(self) -> Self:
        (name,) = self.given
        if self.profile.needs_secret and self.secret is None:
            keys = " and ".join(f"`{key}`" for key in self.profile.keys.values())
            raise conflict(f"`{name}` requires a `secret`", f"add `secret`, the name of a Secret with the keys {keys}")
        return self


class QueueFields(Entry[QueueProfile]):
    """Queue that jobs can use by name: one scheduler."""

    registry: ClassVar[Mapping[str, type[Profile]]] = QUEUES
    what: ClassVar[str] = "scheduler"


class GitopsFields(Model):
    """GitOps engines that apply the rendered files, and their settings."""

    @property
    def engines(self) -> dict[str, Engine]:
        return chosen(self, ENGINES)

    @model_validator(mode="after")
    def _some_engine(self) -> Self:
        if not self.engines:
            remedy = "set one of " + ", ".join(f"`{key}`" for key in ENGINES) + ", or both"
            raise conflict("expected a GitOps engine, got none", remedy)
        return self
