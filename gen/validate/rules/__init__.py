"""Rules about objects that no schema states: one file for each family, and the one list of them.

They are those that a real API server applies when the object is created, or when an operator creates a pod of one of
its templates. What is a matter of one value stands in a table; what concerns several, in a function. See
`docs/extending.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.validate.rules.access import access
from gen.validate.rules.affinity import affinity
from gen.validate.rules.autoscaling import autoscaling
from gen.validate.rules.classes import classes, secrets
from gen.validate.rules.config_maps import config_maps
from gen.validate.rules.containers import containers
from gen.validate.rules.cron import cron_jobs
from gen.validate.rules.custom import custom
from gen.validate.rules.environment import environment
from gen.validate.rules.ingresses import ingresses
from gen.validate.rules.jobs import jobs
from gen.validate.rules.metadata import metadata
from gen.validate.rules.mounts import mounts
from gen.validate.rules.network_policies import network_policies
from gen.validate.rules.pods import pods
from gen.validate.rules.policies import policies
from gen.validate.rules.ports import ports
from gen.validate.rules.probes import probes
from gen.validate.rules.projected import projected
from gen.validate.rules.quotas import quotas
from gen.validate.rules.resources import resources
from gen.validate.rules.scheduling import scheduling
from gen.validate.rules.security import security
from gen.validate.rules.services import services
from gen.validate.rules.storage import storage
from gen.validate.rules.volumes import volumes
from gen.validate.rules.windows import windows
from gen.validate.rules.workloads import workloads

if TYPE_CHECKING:
    from gen.validate.rule import Rule

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
"""The rules of a server by name, in the order in which they are applied."""

__all__ = ["RULES"]
