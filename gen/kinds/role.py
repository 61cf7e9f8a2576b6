"""Roles of a job: groups of pods with the same template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.model.job import PodFields


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A group of alike pods."""

    name: str
    """The name below `roles`, and of the pods' component."""
    replica_type: str
    """The operator's word for it."""
    replicas: int
    fields: PodFields | None = None
    """What the job says for this role alone."""
    trains: bool = True
    """Whether it gets the job's `gpus`, `cpu`, `memory` and `sharedMemory`, which are meant for training pods."""
    runs: bool = True
    """Whether it runs the job's `command`."""
    gpus: int = 0
    """GPUs of one pod, filled in by the plan."""
    env: tuple[Body, ...] = ()
    """Environment that the kind provides, and that a job cannot set."""
    ports: tuple[Body, ...] = ()
    subdomain: str | None = None
    """Headless Service that gives the pods their host names, where the operator does not say it."""
    restart: str | None = None
    """A policy that the job's `restart` does not reach."""
    suffix: str | None = None
    """What the cluster appends to the run's name for the last pod; `-<name>-<index>` when it is None."""

    @property
    def last_pod_suffix(self) -> str:
        return self.suffix if self.suffix is not None else f"-{self.name}-{max(self.replicas, 1) - 1}"
