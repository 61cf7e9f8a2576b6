"""ResourceQuotas of namespaces: the quotas of the overlay, counted by the API server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kinds.plan import ResourceQuotaPlan
from gen.render.quota import GPUS, PODS, quotas
from gen.resources.devices import in_quota

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.overlay.overlay import Overlay


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
