"""Quotas of namespaces for GPUs and pods, for `gen render`, `gen set` and `gen plan`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from gen.findings.grants import OVER_QUOTA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.diagnostics import Findings
    from gen.overlay.overlay import Overlay
    from gen.render.results import RenderedJob

_NOUNS: Final = {"gpus": "GPUs", "pods": "pods"}
"""Fields of `namespaces.<namespace>` that are quotas, and what they count."""
GPUS: Final = ("gpus",)
PODS: Final = ("pods",)

Quota = tuple[str, ...]
"""Route of a quota below `namespaces.<namespace>`: `gpus`, `pods`, or `accelerators` and a name."""
Requested = Counter[tuple[str, str, Quota]]
"""What active jobs request, by overlay, namespace and quota."""


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
    """What the jobs request while they are active."""
    requested: Requested = Counter()
    for job in jobs:
        add_request(requested, (job.overlay, job.namespace), job.gpus, job.pods, job.accelerators)
    return requested


def check_quotas(
    requested: Mapping[tuple[str, str, Quota], int],
    overlays: Iterable[Overlay],
    found: Findings,
    verb: str = "requests",
    hint: str = "set `state: suspended` or `state: finished` for some of its jobs, or raise",
) -> None:
    """Report the namespaces that request more than their quota."""
    by_name = {overlay.name: overlay for overlay in overlays}
    for (name, namespace, quota), amount in sorted(requested.items()):
        overlay = by_name.get(name)
        limit = quotas(overlay, namespace).get(quota) if overlay is not None else None
        if overlay is not None and limit is not None and amount > limit:
            key = namespace if namespace in overlay.fields.namespaces else "*"
            noun = _NOUNS.get(quota[0]) or f"GPUs of accelerator `{quota[1]}`"
            message = f"namespace `{namespace}` {verb} {amount} {noun} in overlay `{name}`; its quota is {limit}"
            found.error(OVER_QUOTA, overlay.place("namespaces", key, *quota), message, f"{hint} `{'.'.join(quota)}`")
