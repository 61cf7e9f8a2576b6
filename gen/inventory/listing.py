"""The list of jobs, and its filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from msgspec import Struct

from gen.model.job import JobFields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Diagnostic
    from gen.model.metric import KnownMetric
    from gen.repository.git_history import Change
    from gen.resources.cost import RunCost

STATES: tuple[str, ...] = get_args(JobFields.model_fields["state"].annotation)


class Numbers(Struct, frozen=True, kw_only=True):
    """Values of a job. Those that cannot be read, because the file has an error, are None."""

    state: str | None = None
    attempt: int | None = None
    workers: int | None = None
    """Training pods; the largest number, if an autoscaler changes it."""
    gpus: int | None = None
    """GPUs of all pods together, and other devices of accelerators."""
    accelerators: Mapping[str, int] = {}
    """GPUs by accelerator, for those with a name."""
    queue: str | None = None
    timeout: int | None = None
    """Limit of the run time in seconds; None for unlimited, too."""
    metrics: tuple[KnownMetric, ...] | None = None
    step_metrics: Mapping[str, tuple[KnownMetric, ...]] = {}
    """The metrics of a pipeline's steps that have any, by step."""
    costs: tuple[RunCost, ...] = ()
    """The cost of each run; none in an overlay without prices, or if they are unknown."""
    month: int = 0
    """Most that the runs whose pods may run cost in a month, in hundredths."""


class JobRow(Numbers, frozen=True, kw_only=True):
    """A job in one overlay."""

    namespace: str
    job: str
    file: str
    overlay: str | None
    """None if no overlay selects the job."""
    kind: str | None = None
    owners: tuple[str, ...] = ()
    changed: Change | None = None
    errors: tuple[str, ...] = ()
    """Codes of the errors in the fields above."""


class Listing(Struct, frozen=True, kw_only=True):
    """All rows that the filters accept, and the findings about them."""

    rows: tuple[JobRow, ...]
    findings: tuple[Diagnostic, ...]
    with_metrics: bool = False
    """Whether tables show the metrics."""

    @property
    def jobs(self) -> int:
        return len({row.file for row in self.rows})


class Filters(Struct, frozen=True, kw_only=True):
    """Accepted values; all if empty."""

    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    states: tuple[str, ...] = ()

    def accept(self, row: JobRow) -> bool:
        return (not self.kinds or row.kind in self.kinds) and (not self.states or row.state in self.states)
