"""Fields of a step of a pipeline, in addition to those of its kind."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from gen.base.regex import regex
from gen.job.metric import MetricName
from gen.job.model import Model
from gen.job.names import JobName
from gen.job.scalars import matching, refuse, schema

MAX_STEPS = 64
"""Most steps of a pipeline."""
MAX_RESULTS = 16
"""Most results of a step."""

_RESULT = regex(r"[a-z][a-z0-9_]*")
ResultName = Annotated[
    str,
    matching(_RESULT, 40, "a name of lower-case letters, digits and `_`", "start with a letter, such as `best_loss`"),
    schema("name", "string", pattern=f"^{_RESULT.pattern}$", maxLength=40),
]

STEPS_HAVE = frozenset({"kind", "metrics", "params"})
"""Fields that both a pipeline and its steps can have."""


class Order(Model):
    """When a step of a pipeline starts."""

    main: ClassVar[str] = "needs"

    needs: tuple[JobName, ...] = ()
    """Steps that must have ended before. Without any, the step starts with the pipeline."""
    when: Literal["succeeded", "failed", "ended"] = "succeeded"
    """How the steps in `needs` must have ended: all `succeeded`, at least one `failed`, or all `ended` in any way."""
    results: Annotated[dict[ResultName, MetricName], Field(max_length=MAX_RESULTS)] = {}
    """Values for later steps, by name: the word that the program prints before the value, as `best=/data/3` or
    `best: /data/3`. A later step uses `{{ steps.<step>.results.<name> }}`. The value is the last one in the log of the
    first pod: a number if `metrics` has the word, else a text of letters, digits and `_./:@%+=-`."""


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict) or not value:
        raise refuse("the fields of a step", value, "write at least `kind`, in an indented line below the name")
    return value


StepFields = Annotated[
    dict[str, Any], BeforeValidator(_mapping), WithJsonSchema({"title": "fields of a step", "type": "object"})
]
"""The fields of a step, which the model of its kind validates."""
