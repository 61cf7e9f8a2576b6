"""Fields of a sweep: the values of parameters for which a job has a run each."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from gen.base import regex
from gen.job.model import Part
from gen.job.names import ObjectName
from gen.job.scalars import Given, Positive, conflict, matching, refuse, schema
from gen.job.synonyms import SWEEP

MAX_RUNS = 256
"""Runs of a sweep unless the overlay grants another number, as for a matrix of GitHub Actions."""
MAX_COMBINATIONS = 4096
"""Combinations of a matrix before `exclude`, and the largest number that an overlay can grant."""
_MAX_VALUE = 1024
_PARAM = regex(r"[A-Za-z_][A-Za-z0-9_]*")


def _plain(value: object) -> object:
    """A value is an identity, so it cannot depend on the overlay."""
    if isinstance(value, str) and ("{{" in value or len(value) > _MAX_VALUE):
        remedy = "write the value itself" if "{{" in value else "keep long texts in `files` or on a volume"
        raise refuse(f"a value of at most {_MAX_VALUE} characters without `{{{{`", value, remedy)
    return value


def not_empty(values: tuple[str, ...]) -> tuple[str, ...]:
    """Checked after the values, so that an invalid value is not reported as a missing one, too."""
    if not values:
        raise conflict("expected at least one value", "add a value, or remove the line")
    return values


ParamName = Annotated[
    str,
    matching(_PARAM, 63, "a name of a parameter", "use letters, digits and `_`"),
    schema("name", "string", pattern=f"^{_PARAM.pattern}$"),
]
Value = Annotated[Given, BeforeValidator(_plain), schema("string", "string", "number", "boolean")]
Values = Annotated[dict[ParamName, Value], Field(min_length=1)]
Choices = Annotated[tuple[Value, ...], AfterValidator(not_empty), Field(json_schema_extra={"minItems": 1})]


State = Literal["active", "suspended", "stopped", "finished"]


class SweepOverride(Part):
    """Another state, attempt or earlier run for some runs of a sweep."""

    when: Values
    """Values that the runs have, such as `{lr: 0.1}`."""
    state: State | None = None
    """Their state, instead of the job's."""
    attempt: Positive | None = None
    """Their attempt, instead of the job's. Increase it to run only these combinations again."""
    resume: ObjectName | None = None
    """Earlier run that they continue from, instead of the job's."""

    @model_validator(mode="after")
    def _overrides_something(self) -> Self:
        if self.state is None and self.attempt is None and self.resume is None:
            raise conflict("expected `state`, `attempt` or `resume`", "add `state: finished`, or remove the entry")
        return self


class Sweep(Part):
    """One run of the job for each combination of values of its parameters."""

    synonyms: ClassVar[Mapping[str, str]] = SWEEP
    main: ClassVar[str] = "matrix"

    matrix: dict[ParamName, Choices] = Field(default_factory=dict)
    """Values by parameter. The sweep has one run for each combination."""
    include: Annotated[tuple[Values, ...], Field(max_length=MAX_RUNS)] = ()
    """More combinations, or more values for combinations of `matrix`: an entry is added to each combination with its
    values of the parameters in `matrix`. If there is none, it is a combination of its own."""
    exclude: Annotated[tuple[Values, ...], Field(max_length=MAX_RUNS)] = ()
    """Combinations of `matrix` to omit. An entry omits each combination that has its values. It is applied before
    `include`."""
    max: Positive | None = None
    """Most runs of the sweep; more are an error. Defaults to `sweepRuns` of the namespace, which is also the limit."""
    overrides: Annotated[tuple[SweepOverride, ...], Field(max_length=MAX_RUNS)] = ()
    """Another state, attempt or earlier run for some runs. Of several entries for a run, the last one applies."""
