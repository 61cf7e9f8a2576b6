"""The annotation that lets tools find metrics in the log of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.model.metric import KnownMetric


def metrics_annotation(metrics: Iterable[KnownMetric]) -> str:
    """A JSON list with the name, the format and the regular expression of each metric."""
    listed = [{"name": one.name, "format": one.format, "regex": one.regex} for one in metrics]
    return orjson.dumps(listed).decode()
