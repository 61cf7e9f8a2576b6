"""Fields of a step of a pipeline, in addition to those of its kind."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, WithJsonSchema

from gen.model.base import Model
from gen.model.names import JobName
from gen.model.scalars import refuse

MAX_STEPS = 64
"""Most steps of a pipeline."""

STEPS_HAVE = frozenset({"kind", "params"})
"""Fields that both a pipeline and its steps can have."""


class Order(Model):
    """When a step of a pipeline starts."""

    main: ClassVar[str] = "needs"

    needs: tuple[JobName, ...] = ()
    """Steps that must have ended before. Without any, the step starts with the pipeline."""
    when: Literal["succeeded", "failed", "ended"] = "succeeded"
    """How the steps in `needs` must have ended: all `succeeded`, at least one `failed`, or all `ended` in any way."""


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not value:
        raise refuse("the fields of a step", value, "write at least `kind`, in an indented line below the name")
    return value


StepFields = Annotated[
    dict[str, Any], BeforeValidator(_mapping), WithJsonSchema({"title": "fields of a step", "type": "object"})
]
"""The fields of a step, which the model of its kind validates."""
