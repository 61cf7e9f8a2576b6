"""Roles of a job, which are groups of pods with the same template, and the `backoffLimit` for their `retries`.

`retries` of a job are restarts of all of its pods. When one pod fails, the others usually fail with it, and a
controller counts each of them.
"""

from __future__ import annotations

from msgspec import Struct

from gen.job.kinds.rendezvous import Rendezvous
from gen.job.pods import PodFields
from gen.kubernetes.facts.runtimes import Runtime
from gen.kubernetes.objects import Body


class Target(Struct, frozen=True, kw_only=True):
    """A run and the operator that serves it, as far as kinds know them."""

    api_version: str
    """API version that the operator serves."""
    served: str
    """The release of the operator if releases differ, or the API version."""
    namespace: str
    name: str
    """Name of the run without its hash."""
    run: str
    """Name of the object."""
    host_network: bool = False
    """Whether the pods share the network of their nodes."""
    runtime: Runtime | None = None
    """The runtime of a job with pod templates in the cluster; None if the overlay does not declare it."""
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
    holder: str = ""
    """Field of the object that has its template, if that is not its `replica_type`."""
    fields: PodFields | None = None
    """Values of the job for this role."""
    hosts: int | None = None
    """Pods of each replica, if the operator numbers them; None if it has no replicas of several pods."""
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
    rendezvous: Rendezvous | None = None
    """None if its pods do not train together, or if gen cannot know where they meet."""
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


def counted_failures(retries: int, pods: int) -> int:
    """For failed pods: a Job fails above the limit (`exceedsBackoffLimit` in `job_controller.go`)."""
    return retries * pods


def counted_restarts(retries: int | None, pods: int) -> int | None:
    """For restarts of containers in place: a job fails when it reaches the limit, and for 0 at the first restart.

    From `pastBackoffLimitOnFailure` in `job_controller.go` of Kubernetes 1.34, and `PastBackoffLimit` in
    `pkg/core/job.go` of the training operator 1.9. Both include init containers.
    """
    return retries * pods + 1 if retries else retries
