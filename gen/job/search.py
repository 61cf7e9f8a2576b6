"""Fields of a sweep and of a search: the values of parameters for which a job has a run each, or which Katib tries."""

# no postponed annotations here: pydantic would compile each annotation again when the program starts
import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from gen.base import regex
from gen.base.engines import JobState
from gen.job.metric import MetricName
from gen.job.model import OrMapping, Part
from gen.job.names import ObjectName
from gen.job.scalars import Given, Positive, ValueType, conflict, matching, refuse, schema
from gen.job.synonyms import SEARCH, SEARCHED, SWEEP

MAX_RUNS = 256
"""Runs of a sweep unless the overlay grants another number, as for a matrix of GitHub Actions."""
MAX_COMBINATIONS = 4096
"""Combinations of a matrix before `exclude`, and the largest number that an overlay can grant."""
_MAX_SWEPT = 1024
_PARAM = regex(r"[A-Za-z_][A-Za-z0-9_]*")


def param_name(name: str) -> str:
    """The name of a parameter of a job, after that of another tool."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if plain[:1].isalpha() else f"p_{plain}"


def _plain(value: object) -> object:
    """A value is an identity, so it cannot depend on the overlay."""
    if isinstance(value, str) and ("{{" in value or len(value) > _MAX_SWEPT):
        remedy = "write the value itself" if "{{" in value else "keep long texts in `files` or on a volume"
        raise refuse(f"a value of at most {_MAX_SWEPT} characters without `{{{{`", value, remedy)
    return value


def not_empty(values: tuple[str, ...]) -> tuple[str, ...]:
    """Checked after the values, so that an invalid value is not reported as a missing one, too."""
    if not values:
        raise conflict("expected at least one value", "add a value, or remove the line")
    return values


ParamName = Annotated[
    str,
    matching(
        _PARAM,
        63,
        "a name of a parameter",
        "use letters, digits and `_`",
        form=schema("name", "string", pattern=f"^{_PARAM.pattern}$"),
    ),
]
Value = Annotated[Given, ValueType(_plain, schema("string", "string", "number", "boolean"))]
Values = Annotated[dict[ParamName, Value], Field(min_length=1)]
Swept = Annotated[tuple[Value, ...], AfterValidator(not_empty), Field(json_schema_extra={"minItems": 1})]


class SweepOverride(Part):
    """Another state, attempt or earlier run for some runs of a sweep."""

    when: Values
    """Values that the runs have, such as `{lr: 0.1}`."""
    state: JobState | None = None
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

    matrix: dict[ParamName, Swept] = Field(default_factory=dict)
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


MAX_CHOICES = 256
_MAX_PARAMS = 64
_MAX_VALUE = 256
_MAX_DIGITS = 32
_MAX_FAILED = 3
NUMBER = regex(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
WHOLE = regex(r"[+-]?[0-9]{1,15}")
_UNSAFE = regex(r"""["'\\$`]|\{\{""")


def _number(value: object) -> object:
    if isinstance(value, str) and len(value) <= _MAX_DIGITS and NUMBER.fullmatch(value) and is_finite(value):
        return value
    raise refuse("a number", value, "write it like `0.1` or `1e-4`")


def is_finite(number: str) -> bool:
    return abs(float(number)) != float("inf")


def _choice(value: object) -> object:
    """Katib writes the value into the JSON text of the trial, and the trial into a command: a quote would end them."""
    if isinstance(value, (dict, list)):
        raise refuse("a value", value, "write a single string, number or boolean")
    text = str(value)
    if not text or len(text) > _MAX_VALUE or not text.isprintable() or _UNSAFE.search(text):
        expected = f"at most {_MAX_VALUE} printable characters without quotes, `\\` and `$`"
        raise refuse(expected, value, "write another value, and translate it in the program")
    return text


Number = Annotated[str, ValueType(_number, schema("number", "number", "string"))]
Choice = Annotated[Given, ValueType(_choice, schema("string", "string", "number", "boolean"))]


def _each_once(values: tuple[str, ...]) -> tuple[str, ...]:
    twice = next((value for value in values if values.count(value) > 1), None)
    if twice is not None:
        raise conflict(f"the value `{twice}` is in the list twice", "remove one of the two")
    return values


Choices = Annotated[
    tuple[Choice, ...],
    Field(max_length=MAX_CHOICES, json_schema_extra={"minItems": 1}),
    AfterValidator(not_empty),
    AfterValidator(_each_once),
]
ParameterType = Literal["int", "double", "discrete", "categorical"]


class Space(Part):
    """Values of a parameter: a range of numbers, or a list."""

    synonyms: ClassVar[Mapping[str, str]] = SEARCHED

    min: Number | None = None
    """Least number."""
    max: Number | None = None
    """Largest number."""
    step: Number | None = None
    """Distance between the numbers. [default: any number between `min` and `max`; 1 for integers in a grid]"""
    values: Choices | None = None
    """The values to choose from, instead of a range."""
    type: ParameterType | None = None
    """`int` or `double` for a range; it can be omitted if one of its numbers has decimals or an exponent. For a list,
    `discrete` numbers have an order, and `categorical` values have none. [default of a list: `discrete` if all are
    numbers]"""
    distribution: Literal["uniform", "logUniform", "normal", "logNormal"] = "uniform"
    """How the numbers of a range are spread. `logUniform` is for numbers of several magnitudes."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.values is None:
            self._check_range()
        else:
            self._check_list(self.values)
        return self

    def _check_list(self, values: tuple[str, ...]) -> None:
        for name in ("min", "max", "step"):
            if getattr(self, name) is not None:
                raise conflict(f"`{name}` is not allowed together with `values`", "remove one of the two")
        if self.distribution != "uniform":
            raise conflict("`distribution` is not allowed together with `values`", "remove `distribution`")
        if self.type in ("int", "double"):
            raise conflict(f"`type: {self.type}` needs `min` and `max`", "write `type: discrete`, or omit `type`")
        if self.type == "discrete" and not all(map(NUMBER.fullmatch, values)):
            raise conflict("`discrete` values are numbers", "write `type: categorical`, or omit `type`")

    def _check_range(self) -> None:
        if self.min is None or self.max is None:
            raise conflict("expected `min` and `max`, or `values`", "add both")
        if self.type in ("discrete", "categorical"):
            raise conflict(f"`type: {self.type}` needs `values`", "write `values: […]`, or `type: double`")
        given = [number for number in (self.min, self.max, self.step) if number is not None]
        integers = all(map(WHOLE.fullmatch, given))
        if self.type is None and integers:
            raise conflict("`type` is missing", "add `type: int` for integers, or `type: double` for decimals")
        if self.type == "int" and not integers:
            raise conflict("`type: int` needs integers of at most 15 digits", "write integers, or `type: double`")
        if not float(self.min) < float(self.max):
            is_swapped = float(self.min) > float(self.max)
            hint = "exchange the two numbers" if is_swapped else "write a larger `max`, or the number in the command"
            raise conflict(f"`min` is {self.min}, which is not less than `max`", hint)
        if self.step is not None and not 0 < float(self.step) <= float(self.max) - float(self.min):
            raise conflict(f"`step` is {self.step}, which is not between 0 and `max` - `min`", "write a smaller step")
        if "log" in self.distribution.lower() and float(self.min) <= 0:
            raise conflict(f"`distribution: {self.distribution}` needs a `min` above 0", "write a small number")

    @property
    def kind(self) -> ParameterType:
        """The type, as Katib calls it."""
        if self.type is not None:
            return self.type
        if self.values is None:
            return "double"
        return "discrete" if all(map(NUMBER.fullmatch, self.values)) else "categorical"


class SearchAlgorithm(Part):
    """An algorithm of Katib."""

    main: ClassVar[str] = "name"

    name: Given
    """Name of the algorithm."""
    settings: dict[Given, Given] = Field(default_factory=dict)
    """Its settings, by the names of Katib, such as `random_state`."""


AlgorithmField = OrMapping[Given, SearchAlgorithm]


class Search(Part):
    """A search for the values of parameters that give the best metric. Katib runs the job as its trials."""

    synonyms: ClassVar[Mapping[str, str]] = SEARCH
    main: ClassVar[str] = "params"

    maximize: MetricName | None = None
    """The metric to maximize, one of `metrics`."""
    minimize: MetricName | None = None
    """The metric to minimize, one of `metrics`."""
    goal: Number | None = None
    """Value of the metric at which the search ends. [default: it ends after `maxTrials`]"""
    params: Annotated[dict[ParamName, OrMapping[Choices, Space]], Field(min_length=1, max_length=_MAX_PARAMS)]
    """Values to try, by parameter: a list, or a range such as `{min: 1e-5, max: 0.1, distribution: logUniform}`. The
    command, its arguments and the environment use them as `{{ params.… }}`."""
    algorithm: AlgorithmField = "random"
    """Algorithm that chooses the values, or its name and its settings."""
    max_trials: Positive
    """Trials in all. The search ends after them."""
    parallel_trials: Positive = 1
    """Trials at the same time."""
    max_failed_trials: Positive | None = None
    """The search fails when so many trials have failed or printed no value of the metric. [default: 3, or `maxTrials`
    if that is less]"""
    early_stopping: AlgorithmField | None = None
    """Algorithm that stops bad trials, such as `medianstop`. The lines of the log must begin with a time as in
    RFC 3339."""

    @model_validator(mode="after")
    def _one_objective(self) -> Self:
        if (self.maximize is None) == (self.minimize is None):
            raise conflict("expected either `maximize` or `minimize`", "keep one, with a metric of the job")
        return self

    @property
    def most_failed(self) -> int:
        return self.max_failed_trials or min(_MAX_FAILED, self.max_trials)

    @property
    def objective(self) -> str:
        """The metric that decides."""
        return self.maximize or self.minimize or ""

    @property
    def direction(self) -> Literal["maximize", "minimize"]:
        return "maximize" if self.maximize is not None else "minimize"

    @property
    def spaces(self) -> dict[str, Space]:
        """The values of each parameter, in the long form."""
        return {name: given if isinstance(given, Space) else Space(values=given) for name, given in self.params.items()}


def long_algorithm(given: str | SearchAlgorithm) -> SearchAlgorithm:
    return SearchAlgorithm(name=given) if isinstance(given, str) else given
