"""Fields of a Ray job: its groups of pods, the autoscaler and the version."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gen.model.base import Model
from gen.model.pods import MAX_PODS, RoleFields
from gen.model.scalars import Count, Positive, Text, matching
from gen.regex import regex

StartParameter = Annotated[
    str, matching(regex(r"[a-z][a-z0-9-]{0,62}"), 63, "a parameter of `ray start`", "use a name like `num-cpus`")
]
RayVersion = Annotated[
    str,
    matching(regex(r"[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9.+-]*"), 63, "a version of Ray", "use a form like `2.52.0`"),
]
Replicas = Annotated[Count, Field(le=MAX_PODS)]


class RayRole(RoleFields):
    """Settings of the pods of the head, of a worker group or of the submitter, which override those of the job."""

    replicas: Replicas | None = None
    """Number of replicas of a worker group. [default: `workers` for `worker`, 1 for other groups]"""
    min_replicas: Replicas | None = None
    """Fewest replicas of a worker group with the autoscaler. [default: 0]"""
    max_replicas: Replicas | None = None
    """Most replicas of a worker group with the autoscaler; they count against quotas. [default: `replicas`]"""
    num_of_hosts: Annotated[Positive, Field(le=MAX_PODS)] = 1
    """Number of pods of each replica of a worker group, such as the hosts of a TPU slice."""
    ray_start_params: dict[StartParameter, Text] = Field(default_factory=dict)
    """Parameters of `ray start` in the pods, such as `num-cpus: 0` for a head that runs no tasks."""


class Autoscaler(Model):
    """Settings of Ray's autoscaler."""

    idle_timeout_seconds: Count | None = None
    """Seconds after which an idle worker is removed. [default: 60]"""
    upscaling_mode: Literal["Default", "Aggressive", "Conservative"] | None = None
    """How fast it adds workers. [default: Default]"""
    version: Literal["v1", "v2"] | None = None
    """Version of the autoscaler. [default: v2 from Ray 2.47 on]"""
