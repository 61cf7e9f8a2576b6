"""Which jobs an overlay renders."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.overlay.overlay import Overlay

CLUSTERS = "clusters"
"""Field of a job with the overlays that it narrows to."""


def selects(overlay: Overlay, key: str, data: object) -> bool:
    """Whether the overlay renders the job file `<namespace>/<stem>` with these data, which may be of any type."""
    wanted = clusters_of(data)
    if not wanted and overlay.fields.select.only_named:
        return False
    return matches_patterns(overlay, key) and (not wanted or not names_of(overlay).isdisjoint(wanted))


def matches_patterns(overlay: Overlay, key: str) -> bool:
    """Whether the patterns of `select` match a job."""
    select = overlay.fields.select
    included = any(fnmatchcase(key, pattern) for pattern in select.include)
    return included and not any(fnmatchcase(key, pattern) for pattern in select.exclude)


def clusters_of(data: object) -> tuple[str, ...]:
    """The entries of `clusters` of a job; none if it is not a list of strings, which its model reports."""
    named = data.get(CLUSTERS) if isinstance(data, dict) else None
    texts = [str(entry) for entry in named if isinstance(entry, str)] if isinstance(named, list) else []
    return tuple(texts) if isinstance(named, list) and len(texts) == len(named) else ()


def names_of(overlay: Overlay) -> frozenset[str]:
    """Names of an overlay in jobs: its own, that of its cluster, and each of its labels."""
    cluster = overlay.cluster_name
    labels = (f"{key}={value}" for key, value in overlay.fields.labels.items())
    return frozenset((overlay.name, *([cluster] if cluster is not None else ()), *labels))
