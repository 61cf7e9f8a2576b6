"""Quotas of namespaces for GPUs and pods: their checks, and ResourceQuotas, so that the API server counts them, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from gen.base.codes.grants import OVER_QUOTA
from gen.base.findings import Findings, Location
from gen.kubernetes.facts.builtin import RESOURCE_QUOTA, in_quota
from gen.overlay.overlay import Overlay
from gen.render.manifest import Manifest
from gen.render.parts.metadata import platform_metadata
from gen.render.results import RenderedJob

_NOUNS: Final = {"gpus": "GPUs", "pods": "pods"}
"""Fields of `namespaces.<namespace>` that are quotas, with the noun for their units."""
GPUS: Final = ("gpus",)
PODS: Final = ("pods",)
_QUOTA = "gen"
"""Name of the ResourceQuota of a namespace."""
Quota = tuple[str, ...]
"""Route of a quota below `namespaces.<namespace>`: `gpus`, `pods`, or `accelerators` and a name."""
Requested = Counter[tuple[str, str, Quota]]
"""Requests of active jobs, by overlay, namespace and quota."""


def quotas(overlay: Overlay, namespace: str) -> dict[Quota, int]:
    """Quotas of a namespace; without those that have no limit."""
    grant = overlay.grant(namespace)
    if grant is None:
        return {}
    limits: dict[Quota, int] = {(field,): limit for field in _NOUNS if (limit := getattr(grant, field)) is not None}
    named = grant.accelerators if isinstance(grant.accelerators, dict) else {}
    return {**limits, **{("accelerators", name): limit for name, limit in named.items()}}


def add_request(requested: Requested, place: tuple[str, str], gpus: int, pods: int, named: Mapping[str, int]) -> None:
    """Count GPUs and pods for an overlay and namespace; `named` has the GPUs by accelerator."""
    requested[*place, GPUS] += gpus
    requested[*place, PODS] += pods
    for name, count in named.items():
        requested[*place, ("accelerators", name)] += count


def requested_by(jobs: Iterable[RenderedJob]) -> Requested:
    """Requests of the jobs while they are active."""
    requested: Requested = Counter()
    for job in jobs:
        add_request(requested, (job.overlay, job.namespace), job.gpus, job.pods, job.accelerators)
    return requested


def check_quotas(
    requested: Mapping[tuple[str, str, Quota], int],
    overlays: Iterable[Overlay],
    found: Findings,
    verb: str = "requests",
    hint: str = "end some of its runs with `gen stop JOB`, or raise",
    before: Mapping[tuple[str, str, Quota], int] | None = None,
) -> None:
    """Report the namespaces that request more than their quota; as a warning if they requested as much `before`.

    Otherwise, changes that fit one by one would together keep all other namespaces from rendering.
    """
    by_name = {overlay.name: overlay for overlay in overlays}
    for (name, namespace, quota), amount in sorted(requested.items()):
        overlay = by_name.get(name)
        limit = quotas(overlay, namespace).get(quota) if overlay is not None else None
        if overlay is not None and limit is not None and amount > limit:
            key = namespace if namespace in overlay.fields.namespaces else "*"
            noun = _NOUNS.get(quota[0]) or f"GPUs of accelerator `{quota[1]}`"
            message = f"namespace `{namespace}` {verb} {amount} {noun} in overlay `{name}`; its quota is {limit}"
            place, remedy = overlay.place("namespaces", key, *quota), f"{hint} `{'.'.join(quota)}`"
            if before is not None and amount <= before.get((name, namespace, quota), 0):
                found.warning(OVER_QUOTA, place, f"{message}; this change does not raise it", remedy)
            else:
                found.error(OVER_QUOTA, place, message, remedy)


class ResourceQuotaPlan(Struct, frozen=True, kw_only=True):
    """The ResourceQuota of a namespace."""

    namespace: str
    hard: Mapping[str, str]
    """Limits by resource."""
    place: Location
    """Place of the field that asks for it."""


def plan_resource_quotas(overlay: Overlay) -> tuple[ResourceQuotaPlan, ...]:
    """The ResourceQuotas that the overlay asks for, sorted by namespace. They do not depend on jobs."""
    return tuple(
        ResourceQuotaPlan(
            namespace=namespace,
            hard=_hard(overlay, namespace),
            place=overlay.place("namespaces", namespace, "resourceQuota", key=True),
        )
        for namespace, grant in sorted(overlay.fields.namespaces.items())
        if grant.resource_quota
    )


def _hard(overlay: Overlay, namespace: str) -> dict[str, str]:
    """Limits by resource. Quotas count extended resources only as `requests.<resource>`.

    From `concepts/policy/resource-quotas.md` of the Kubernetes documentation.
    """
    limits = quotas(overlay, namespace)
    total = limits.get(GPUS)
    amounts: dict[str, int] = {}
    most: dict[str, int] = {}
    unlimited: set[str] = set()
    for devices, units in _accelerators(overlay, namespace):
        for resource, unit in units.items():
            most[resource] = max(most.get(resource, 0), unit)
            amounts[resource] = amounts.get(resource, 0) + (devices or 0) * unit
            unlimited |= {resource} if devices is None else set()
    if total is not None:
        amounts = {resource: min(amount, total * most[resource]) for resource, amount in amounts.items()}
    hard = {in_quota(name): str(amount) for name, amount in sorted(amounts.items()) if name not in unlimited}
    return hard | ({"pods": str(limits[PODS])} if PODS in limits else {})


def _accelerators(overlay: Overlay, namespace: str) -> Iterator[tuple[int | None, dict[str, int]]]:
    """For each accelerator: the devices that the namespace may use, None without a limit, and their resources.

    Several accelerators may have the same resource, such as `nvidia.com/gpu`.
    """
    limits, grant = quotas(overlay, namespace), overlay.grant(namespace)
    granted = grant.accelerators if grant is not None else None
    for name, units in overlay.device_units.items():
        known = [limits[quota] for quota in (GPUS, ("accelerators", name)) if quota in limits]
        allowed = granted is None or not name or name in granted
        yield (min(known, default=None) if allowed else 0), dict(units)


def resource_quota(plan: ResourceQuotaPlan) -> Manifest:
    """The ResourceQuota of a namespace."""
    body = {
        "apiVersion": "v1",
        "kind": RESOURCE_QUOTA.kind,
        "metadata": platform_metadata(_QUOTA, plan.namespace),
        "spec": {"hard": dict(plan.hard)},
    }
    return Manifest(body=body, name=_QUOTA, source=plan.place, folder=plan.namespace, tree="storage")
