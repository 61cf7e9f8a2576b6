"""Jobs and runs between the model and the plan stage: as written, validated, and with the values of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import orjson
from msgspec import Struct

from gen.base import Findings, Location, Route
from gen.base.placeholders import RUN, TRIAL, parameters_in
from gen.base.yaml.layers import Layers
from gen.base.yaml.source import Source
from gen.base.yaml.strict import Data
from gen.job.kinds.base import Job
from gen.job.plan import StarterPlan
from gen.overlay.overlay import Overlay

if TYPE_CHECKING:
    from gen.job.kinds.pipeline import Order


class RunValues(Struct, frozen=True, kw_only=True):
    """The name, the parameters and the overridden fields of a run of a sweep."""

    name: str
    """Name of the run without its hash."""
    params: Mapping[str, str | None]
    """Values of the parameters of the sweep, sorted by name; None if the error of a value was already reported."""
    fields: Mapping[str, str] = {}
    """Values of fields of the job."""
    routes: Mapping[str, Route] = {}
    """Where the job sets these fields."""
    runs: int = 1
    """Number of runs of the sweep."""


class WrittenJob(Struct, frozen=True, kw_only=True):
    """A job file with the defaults of an overlay, before its expressions are replaced."""

    model: type[Job]
    kind: str
    name: str
    """Name of the job, which may be invalid."""
    namespace: str
    source: Source
    overlay: Overlay | None
    data: dict[str, Data]
    layers: Layers
    step: str = ""
    """Name of the step of a pipeline, if it is one."""
    later: type[StarterPlan] | None = None
    """For a step: the starter of its pipeline, if that gives runs their names later."""

    def place(self, *route: str | int, key: bool = False) -> Location:
        return self.layers.place(route, key=key)


class JobInput(Struct, frozen=True):
    """A validated job in one overlay, with the place of each of its values."""

    job: Job
    name: str
    namespace: str
    source: Source
    layers: Layers
    left_out: frozenset[str]
    """Fields with invalid values, which were reported and left out."""
    data: Mapping[str, Data] = {}
    """The values with their expressions replaced."""
    own: RunValues | None = None
    """What differs from the job in a run of a sweep."""

    @property
    def complete(self) -> bool:
        return not self.left_out

    @property
    def values(self) -> Mapping[str, str]:
        """Values of the parameters of a sweep; empty for other runs."""
        params = self.own.params if self.own is not None else {}
        return {name: value for name, value in params.items() if value is not None}

    def place(self, *route: str | int, key: bool = False) -> Location:
        moved = self.own.routes.get(str(route[0])) if self.own is not None and route else None
        return self.layers.place((*moved, *route[1:]) if moved is not None else route, key=key)


class JobRun(Struct, frozen=True, kw_only=True):
    """One run of a job in one overlay."""

    given: JobInput
    """The job, with the values of this run."""
    name: str
    """Name of the run, unique in its namespace. Names of objects are derived from it."""
    step: str = ""
    """Name of the step, if it is one."""
    pipeline: str = ""
    """Name of the run of its pipeline."""
    later: type[StarterPlan] | None = None
    """The starter of its pipeline, if that gives each run the name of a workflow."""

    @property
    def hashed(self) -> str:
        """Name of its objects, with the placeholder of the hash."""
        if self.later is not None:
            return f"{TRIAL}-{self.step}"
        return f"{self.pipeline}-{RUN}-{self.step}" if self.step else f"{self.name}-{RUN}"


class ExpandedStep(Struct, frozen=True, kw_only=True):
    """A step of a run, with the findings about it."""

    name: str
    order: Order
    run: JobRun | None
    """None if the step cannot be used at all."""
    found: Findings

    @property
    def params(self) -> tuple[str, ...]:
        """Parameters in its texts that get their values when a run starts."""
        if self.run is None:
            return ()
        texts = {name: value for name, value in self.run.given.data.items() if name != "params"}
        return tuple(parameters_in(orjson.dumps(texts).decode()))


class ExpandedRun(Struct, frozen=True, kw_only=True):
    """A run of a job, with the findings about it."""

    name: str
    label: str
    """The values of a run of a sweep, for messages; empty for other runs."""
    run: JobRun | None
    """None if the job cannot be used at all."""
    found: Findings
    steps: tuple[ExpandedStep, ...] = ()
    """Steps of a pipeline."""
