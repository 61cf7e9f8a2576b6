"""Base class of profiles, models that hold some by their keys, and the effects of profiles on pods."""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import Field, create_model, model_validator

from gen.job.model import Model
from gen.job.scalars import conflict
from gen.kubernetes.objects import Body


class Problem(Struct, frozen=True):
    """A request that the devices or the network of a profile cannot serve."""

    message: str
    hint: str


class Profile(Model):
    """A profile. Its fields are set below its key in the overlay."""

    short: ClassVar[str] = ""
    """Field that is set when the profile is written as a scalar."""
    grant: ClassVar[str] = ""
    """Permission that a namespace needs in `allow` to use the profile."""
    kubernetes: ClassVar[str] = ""
    """First Kubernetes version that it works with, such as `1.33`; empty if it works with all."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: object) -> Any:
        return {cls.short: value} if cls.short and isinstance(value, str) else value


M = TypeVar("M", bound=Model)


def with_profiles(model: type[M], registry: Mapping[str, type[Model]], names: Collection[str]) -> type[M]:
    """The model with a field for each registered profile that is in `names`."""
    fields: dict[str, Any] = {
        key: (registry[key] | None, Field(default=None, description=registry[key].__doc__))
        for key in registry
        if key in names
    }
    return create_model(model.__name__.removesuffix("Fields"), __base__=model, __doc__=model.__doc__, **fields)


def chosen(fields: Model, registry: Mapping[str, type[Model]]) -> dict[str, Any]:
    """Profiles that are set in `fields`, by key."""
    given = registry.keys() & fields.model_fields_set  # of many profiles, one or two
    order = sorted(given, key=list(registry).index) if len(given) > 1 else given
    return {key: value for key in order if (value := getattr(fields, key)) is not None}


def require_one(fields: Model, registry: Mapping[str, type[Model]], what: str) -> None:
    """Refuse fields without exactly one profile."""
    if len(given := chosen(fields, registry)) != 1:
        names = " and ".join(f"`{key}`" for key in given) or "none"
        remedy = "set one of " + ", ".join(f"`{key}`" for key in sorted(registry))
        raise conflict(f"expected exactly one {what}, got {names}", remedy)


ATTACHMENTS: Final = "k8s.v1.cni.cncf.io/networks"
"""Annotation of a pod with the networks that Multus attaches to it."""


class NodeMount(Struct, frozen=True, kw_only=True):
    """A volume that a profile adds to the training pods, and where the training container mounts it."""

    name: str
    source: Body
    path: str | None = None
    """Mount path in the training container; None for a volume of sidecars."""
    read_only: bool = True


class DeviceClaim(Struct, frozen=True, kw_only=True):
    """Devices that a pod gets by a claim (DRA)."""

    device_class: str
    count: int
    selectors: tuple[str, ...] = ()
    """CEL expressions about a device."""


class Effect(Struct, frozen=True, kw_only=True):
    """Changes that a profile makes to pods; empty for the default network."""

    host_network: bool = False
    spread: bool = False
    """Run at most one pod of a role per node, because the pods would use the same ports."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    training_annotations: Mapping[str, str] = field(default_factory=dict)
    """Annotations of training pods only."""
    attachments: tuple[str, ...] = ()
    """Networks that Multus attaches to training pods, in the short form of its annotation."""
    labels: Mapping[str, str] = field(default_factory=dict)
    node_labels: Mapping[str, str] = field(default_factory=dict)
    """Node labels that must match."""
    tolerations: tuple[Body, ...] = ()
    resources: Mapping[str, str] = field(default_factory=dict)
    """Extended resources of each training container."""
    claims: tuple[DeviceClaim, ...] = ()
    """Devices that each training container gets by claims."""
    capabilities: tuple[str, ...] = ()
    """Linux capabilities of each training container."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment of each training container, unless the job sets it."""
    mounts: tuple[NodeMount, ...] = ()
    """Volumes of training pods."""
    sidecars: tuple[Body, ...] = ()
    """Sidecars of each training container, which end with it."""
    scheduler: str | None = None
    """Scheduler of the pods, if the default one cannot place them."""


NOTHING: Final = Effect()
"""The effect of most profiles on most pods; merging with it is skipped, which is a tenth of the time of a plan."""


def without_devices(effect: Effect) -> Effect:
    """The part of an effect for pods that do not train, such as a launcher."""
    return replace(
        effect,
        resources={},
        claims=(),
        capabilities=(),
        env={},
        training_annotations={},
        attachments=(),
        mounts=(),
        sidecars=(),
    )


def combined(effects: Iterable[Effect]) -> Effect:
    """Merge effects. `clashes` finds what would be lost."""
    total = NOTHING
    for effect in effects:
        if effect is NOTHING:
            continue
        if total == NOTHING:
            total = effect
        elif effect != NOTHING:
            total = Effect(**{f: _sum(getattr(total, f), getattr(effect, f)) for f in Effect.__struct_fields__})
    return total


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, dict):
        return {**one, **other}
    return (*one, *(entry for entry in other if entry not in one)) if isinstance(one, tuple) else one or other


class Clash(NamedTuple):
    """A key to which two effects give different values."""

    key: str
    one: str
    other: str


def clashes(one: Effect, other: Effect) -> Iterator[Clash]:
    """Every key to which two effects give different values."""
    for name in Effect.__struct_fields__:
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine and theirs and isinstance(mine, dict):
            shared = sorted(mine.keys() & theirs.keys())
            yield from (Clash(key, mine[key], theirs[key]) for key in shared if mine[key] != theirs[key])
