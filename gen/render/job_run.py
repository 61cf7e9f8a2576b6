"""Runs, and steps of runs, between the expand and the plan stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from gen.kubernetes import RUN, TRIAL

if TYPE_CHECKING:
    from gen.diagnostics import Findings
    from gen.model.step import Order
    from gen.render.parse.job import JobInput


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
    later: str = ""
    """Field of its pipeline that gives each run the name of a workflow: `schedule` or `kfp`."""

    @property
    def hashed(self) -> str:
        """Name of its objects, with the placeholder of the hash."""
        if self.later:
            return f"{TRIAL}-{self.step}"
        return f"{self.pipeline}-{RUN}-{self.step}" if self.step else f"{self.name}-{RUN}"


class ExpandedStep(Struct, frozen=True, kw_only=True):
    """A step of a run, with the findings about it."""

    name: str
    order: Order
    run: JobRun | None
    """None if the step cannot be used at all."""
    found: Findings
