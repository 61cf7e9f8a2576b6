"""Devices without a provider: extended resources of any device plugin, and claims of a device class (DRA).

DRA: `resource/v1/types.go` of kubernetes/api. The API server also serves devices of a class with `extendedResourceName`
as an extended resource; for those, the profile of that resource remains the right one.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, Field, WithJsonSchema

from gen.job.names import ObjectName, ResourceName
from gen.job.profile import DeviceClaim, Effect
from gen.job.scalars import Text, refuse, schema
from gen.kubernetes.facts.base import Resource
from gen.kubernetes.facts.builtin import FIRST_VERSION, RESOURCE_CLAIM_TEMPLATE, quota_of
from gen.overlay.profiles.accelerators import AcceleratorProfile, toleration_of

_MAX_SELECTOR: Final = 10 << 10
"""`CELSelectorExpressionMaxLength` of `pkg/apis/resource/types.go`."""


def _expression(text: str) -> str:
    from gen.kubernetes.cel.parser import parse
    from gen.kubernetes.cel.values import CompileError, NotEvaluatedError

    if len(text.encode()) > _MAX_SELECTOR:
        raise refuse(f"a CEL expression of at most {_MAX_SELECTOR} bytes", text, "split it into several selectors")
    try:
        parse(text)
    except (CompileError, NotEvaluatedError) as error:
        message = "use a form like `device.attributes['gpu.nvidia.com'].productName.matches('H100')`"
        raise refuse(f"a CEL expression ({error})", text, message) from None
    return text


Selector = Annotated[Text, AfterValidator(_expression), WithJsonSchema(schema("CEL expression", "string"))]


class Dra(AcceleratorProfile):
    """Devices that a driver of dynamic resource allocation (DRA) offers. Each pod gets a claim of its own, from a
    ResourceClaimTemplate of the run.
    """

    short: ClassVar[str] = "deviceClass"
    companions: ClassVar[tuple[Resource, ...]] = (RESOURCE_CLAIM_TEMPLATE,)
    kubernetes: ClassVar[str] = FIRST_VERSION

    device_class: ObjectName
    """DeviceClass, such as `gpu.nvidia.com` or `mig.nvidia.com`."""
    selectors: Annotated[tuple[Selector, ...], Field(max_length=32)] = ()
    """CEL expressions that all must be true for a device, such as
    `device.attributes['gpu.nvidia.com'].productName.matches('H100')`."""

    def units(self) -> Mapping[str, int]:
        return {quota_of(self.device_class): 1}

    def effect(self, count: int) -> Effect:
        return Effect(claims=(DeviceClaim(device_class=self.device_class, count=count, selectors=self.selectors),))


class ExtendedResource(AcceleratorProfile):
    """Devices of any vendor, requested as an extended resource."""

    short: ClassVar[str] = "resource"

    resource: ResourceName
    """Extended resource of the device plugin. Its pods tolerate the taint with the same key."""

    def effect(self, count: int) -> Effect:
        return Effect(resources={self.resource: str(count)}, tolerations=toleration_of(self.resource))
