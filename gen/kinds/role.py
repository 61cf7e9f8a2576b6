"""Roles of a job: groups of pods with the same template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from gen.kubernetes import Body
    from gen.model.pods import PodFields


class Target(Struct, frozen=True, kw_only=True):
    """What a kind can know of the place that a run is rendered for."""

    api_version: str
    """Of the operator that serves the kind."""
    served: str
    """The release of the operator if releases differ, or the API version."""
    namespace: str
    name: str
    """Name of the run without its hash."""
    run: str
    """Name of the object."""
    host_network: bool = False
    """Whether the pods share the network of their nodes."""
    together: bool = False
    """Whether a queue starts all pods together, so that none can wait for others to be created."""


class Hosts(Struct, frozen=True, kw_only=True):
    """Host names with an index, which resolve when their pods are ready."""

    pattern: str
    """With `%d` for the index."""
    count: int


class Role(Struct, frozen=True, kw_only=True):
    """A group of pods with the same template."""

    name: str
    """Name in `roles`, and of the component of the pods."""
    replica_type: str
    """Name that the operator uses for the role."""
    replicas: int
    fields: PodFields | None = None
    """Values of the job for this role."""
    trains: bool = True
    """Whether it gets the job's `gpus`, `cpu`, `memory` and `sharedMemory`, which are meant for training pods."""
    runs: bool = True
    """Whether it runs the job's `command`."""
    needs_data: bool = True
    """Whether its pods get the code, data, files and shared memory of the job."""
    largest: int | None = None
    """The largest number of pods, if an autoscaler changes `replicas`."""
    least: int | None = None
    """The smallest number of pods that can train, if it is not `replicas`."""
    grouped: bool = True
    """Whether its pods start with those of the other roles."""
    gpus: int = 0
    """GPUs of one pod, filled in by the plan."""
    command: tuple[str, ...] = ()
    """Command of a role that does not run that of the job. If it is empty, the operator sets one."""
    wait_for: Hosts | None = None
    """Pods that must be ready before the training container starts."""
    reserved_env: frozenset[str] = frozenset()
    """Environment variables that the operator sets in this role only."""
    env: tuple[Body, ...] = ()
    """Environment that the kind sets and a job cannot set."""
    ports: tuple[Body, ...] = ()
    subdomain: str | None = None
    """Headless Service for the host names of the pods, if the operator does not set it."""
    restart: str | None = None
    """A policy that `restart` of the job does not change."""
    indices: tuple[int, ...] = ()
    """Numbers of the indices in the names of its pods, if there are several, such as Jobs and pods of each."""

    @property
    def most(self) -> int:
        """The largest number of pods that it can have."""
        return self.replicas if self.largest is None else self.largest
