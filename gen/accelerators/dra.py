"""Devices of a DRA driver, which pods get by claims of a device class.

From `resource/v1/types.go` of kubernetes/api. The API server also serves devices of a class with `extendedResourceName`
as an extended resource; for those, the profile of that resource remains the right one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from pydantic import Field

from gen.accelerators.base import AcceleratorProfile
from gen.model.effect import DeviceClaim, Effect
from gen.model.names import ObjectName
from gen.model.scalars import Text, refuse
from gen.model.validators import After, JsonForm
from gen.resources.devices import FIRST_VERSION, RESOURCE_CLAIM_TEMPLATE, quota_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.resources.base import Resource


_MAX_SELECTOR: Final = 10 << 10
"""`CELSelectorExpressionMaxLength` of `pkg/apis/resource/types.go`."""


def _expression(text: str) -> str:
    from gen.cel.errors import CompileError, NotEvaluatedError  # noqa: PLC0415 - few overlays have selectors
    from gen.cel.parser import parse  # noqa: PLC0415 - as above

    if len(text.encode()) > _MAX_SELECTOR:
        raise refuse(f"a CEL expression of at most {_MAX_SELECTOR} bytes", text, "split it into several selectors")
    try:
        parse(text)
    except (CompileError, NotEvaluatedError) as error:
        message = "use a form like `device.attributes['gpu.nvidia.com'].productName.matches('H100')`"
        raise refuse(f"a CEL expression ({error})", text, message) from None
    return text


Selector = Annotated[Text, After(_expression), JsonForm({"title": "CEL expression", "type": "string"})]


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
