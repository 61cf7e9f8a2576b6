"""Rules of the API server that schemas cannot express: one file for each family of rules.

A server applies them when the object is created, or when an operator creates a pod from one of its templates. Checks of
a single value are in tables, checks of several values in functions. See `docs/extending.md`.
"""

from __future__ import annotations

from typing import Final

from gen.rules.rule import Rule, rules_in
from gen.rules.server import (
    access,
    admission_policies,
    affinity,
    api_services,
    autoscaling,
    classes,
    cluster_classes,
    config_maps,
    containers,
    cron,
    custom,
    definitions,
    devices,
    drivers,
    endpoints,
    environment,
    flow_control,
    ingresses,
    jobs,
    metadata,
    mounts,
    network_policies,
    pods,
    policies,
    ports,
    probes,
    projected,
    quotas,
    required,
    resources,
    scheduling,
    security,
    services,
    storage,
    volumes,
    webhooks,
    windows,
    workloads,
)

_FILES = (
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
    cron,
    workloads,
    services,
    ingresses,
    config_maps,
    storage,
    classes,
    network_policies,
    autoscaling,
    access,
    webhooks,
    admission_policies,
    api_services,
    definitions,
    devices,
    endpoints,
    flow_control,
    drivers,
    cluster_classes,
    quotas,
    required,
    custom,
)

RULES: Final[dict[str, Rule]] = rules_in(_FILES)
"""By name, in the order of the files, which is the order in which they are applied."""
