"""Rules of the API server that schemas cannot express: one file for each family, and one list of all.

A server applies them when the object is created, or when an operator creates a pod from one of its templates. Checks of
a single value are in tables, checks of several values in functions. See `docs/extending.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.rules.server.access import access
from gen.rules.server.affinity import affinity
from gen.rules.server.autoscaling import autoscaling
from gen.rules.server.classes import classes, secrets
from gen.rules.server.config_maps import config_maps
from gen.rules.server.containers import containers
from gen.rules.server.cron import cron_jobs
from gen.rules.server.custom import custom
from gen.rules.server.environment import environment
from gen.rules.server.ingresses import ingresses
from gen.rules.server.jobs import jobs
from gen.rules.server.metadata import metadata
from gen.rules.server.mounts import mounts
from gen.rules.server.network_policies import network_policies
from gen.rules.server.pods import pods
from gen.rules.server.policies import policies
from gen.rules.server.ports import ports
from gen.rules.server.probes import probes
from gen.rules.server.projected import projected
from gen.rules.server.quotas import quotas
from gen.rules.server.resources import resources
from gen.rules.server.scheduling import scheduling
from gen.rules.server.security import security
from gen.rules.server.services import services
from gen.rules.server.storage import storage
from gen.rules.server.volumes import volumes
from gen.rules.server.windows import windows
from gen.rules.server.workloads import workloads

if TYPE_CHECKING:
    from gen.rules.rule import Rule

_ALL = (
    metadata,
    pods,
    containers,
    ports,
    environment,
    probes,
    security,
    windows,
    resources,
    volumes,
    projected,
    mounts,
    scheduling,
    affinity,
    jobs,
    policies,
    cron_jobs,
    workloads,
    services,
    ingresses,
    config_maps,
    storage,
    classes,
    secrets,
    network_policies,
    autoscaling,
    access,
    quotas,
    custom,
)
RULES: Final[dict[str, Rule]] = {rule.name: rule for rule in _ALL}
"""The rules of the API server by name, in the order in which they are applied."""

__all__ = ["RULES"]
