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

NOUNS: Final = {"gpus": "GPUs", "pods": "pods"}
"""Fields of `namespaces.<namespace>` that are quotas, and what they count."""

Requested = Counter[tuple[str, str, str]]
"""What active jobs request, by overlay, namespace and field of the quota."""


def quotas(overlay: Overlay, namespace: str) -> dict[str, int]:
    """Quotas of a namespace by field; without those that have no limit."""
    grant = overlay.grant(namespace)
    limits = {field: getattr(grant, field) for field in NOUNS} if grant is not None else {}
    return {field: limit for field, limit in limits.items() if limit is not None}


def requested_by(jobs: Iterable[RenderedJob]) -> Requested:
    """What the jobs request while they are active."""
    requested: Requested = Counter()
    for job in jobs:
        requested[job.overlay, job.namespace, "gpus"] += job.gpus
        requested[job.overlay, job.namespace, "pods"] += job.pods
    return requested


def check_quotas(
    requested: Mapping[tuple[str, str, str], int],
    overlays: Iterable[Overlay],
    found: Findings,
    verb: str = "requests",
    hint: str = "set `state: suspended` or `state: finished` for some of its jobs, or raise",
) -> None:
    """Report the namespaces that request more than their quota."""
    by_name = {overlay.name: overlay for overlay in overlays}
    for (name, namespace, field), amount in sorted(requested.items()):
        overlay = by_name.get(name)
        limit = quotas(overlay, namespace).get(field) if overlay is not None else None
        if overlay is not None and limit is not None and amount > limit:
            key = namespace if namespace in overlay.fields.namespaces else "*"
            message = (
                f"namespace `{namespace}` {verb} {amount} {NOUNS[field]} in overlay `{name}`; its quota is {limit}"
            )
            found.error(OVER_QUOTA, overlay.place("namespaces", key, field), message, f"{hint} `{field}`")
