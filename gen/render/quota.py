"""GPU quotas of namespaces, for `gen render` and `gen set`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gen.findings.grants import OVER_QUOTA

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.diagnostics import Findings
    from gen.overlay.overlay import Overlay
    from gen.render.results import RenderedJob

Requested = Counter[tuple[str, str]]
"""GPUs that active jobs request, by overlay and namespace."""


def quota(overlay: Overlay, namespace: str) -> int | None:
    """GPUs that the active jobs of a namespace may request in total; None without a limit."""
    grant = overlay.grant(namespace)
    return grant.gpus if grant is not None else None


def requested_gpus(jobs: Iterable[RenderedJob]) -> Requested:
    """GPUs that the jobs request while they are active."""
    requested: Requested = Counter()
    for job in jobs:
        requested[job.overlay, job.namespace] += job.gpus
    return requested


def check_quotas(requested: Mapping[tuple[str, str], int], overlays: Iterable[Overlay], found: Findings) -> None:
    """Report the namespaces that request more GPUs than their quota."""
    by_name = {overlay.name: overlay for overlay in overlays}
    for (name, namespace), gpus in sorted(requested.items()):
        overlay = by_name[name]
        limit = quota(overlay, namespace)
        if limit is not None and gpus > limit:
            key = namespace if namespace in overlay.fields.namespaces else "*"
            message = f"namespace `{namespace}` requests {gpus} GPUs in overlay `{name}`; its quota is {limit}"
            hint = "set `state: suspended` or `state: finished` for some of its jobs, or raise `gpus`"
            found.error(OVER_QUOTA, overlay.place("namespaces", key, "gpus"), message, hint)
