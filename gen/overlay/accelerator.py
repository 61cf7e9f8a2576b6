"""Accelerators of an overlay: `accelerators.<name>`, or the devices of `gpu` without a name."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Annotated, ClassVar, Self

from pydantic import model_validator

from gen.accelerators import ACCELERATORS, AcceleratorProfile
from gen.model.base import Model
from gen.model.effect import Effect, combined
from gen.model.money import Price
from gen.model.names import LABEL_KEY, EnvName, LabelKey, LabelValue
from gen.model.pods import Toleration
from gen.model.profile import chosen, require_one, with_profiles
from gen.model.scalars import Bytes, Positive, Quantity, Text, conflict, matching
from gen.model.synonyms import ACCELERATOR
from gen.model.validators import JsonForm
from gen.regex import regex

NodeResource = Annotated[
    str,
    matching(
        regex(r"hugepages-[1-9][0-9]*[KMG]i|ephemeral-storage|(?=.*/)" + LABEL_KEY),
        317,
        "a resource of nodes",
        "use a form like `hugepages-2Mi`, `ephemeral-storage` or `vpc.amazonaws.com/efa`",
    ),
    JsonForm({"title": "resource name", "type": "string"}),
]


class AcceleratorFields(Model):
    """Accelerator that jobs can request by name: one profile, and settings that all profiles share."""

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
    """Size of `/dev/shm` in pods with the accelerator, unless the job sets `sharedMemory`."""
    price: Price | None = None
    """Price of one device for an hour, in `currency` of the overlay; `0` for devices without costs. For MIG instances
    and shares, that of one of them. Costs in `gen plan` and `gen list` derive from it."""

    @cached_property
    def given(self) -> dict[str, AcceleratorProfile]:
        """The profile by its key."""
        return chosen(self, ACCELERATORS)

    @cached_property
    def profile(self) -> AcceleratorProfile:
        return next(iter(self.given.values()))

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
    def _one_profile(self) -> Self:
        require_one(self, ACCELERATORS, "accelerator profile")
        if self.model_label is not None and self.profile.pins_model():
            raise conflict("`modelLabel` has no effect, because the profile has a `model`", "remove one of the two")
        return self


def one_accelerator(profile: str, settings: Mapping[str, str], model_label: str | None) -> AcceleratorFields:
    """An accelerator that the overlay does not declare."""
    return _with_profile(profile).model_validate({profile: settings, "modelLabel": model_label})


@cache
def _with_profile(name: str) -> type[AcceleratorFields]:
    return with_profiles(AcceleratorFields, ACCELERATORS, (name,))
