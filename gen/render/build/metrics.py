"""The annotation that lets tools find metrics in the log of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gen.kinds.plan import Plan
    from gen.model.metric import KnownMetric


def metrics_annotation(plan: Plan) -> str | None:
    """A JSON list with the name, the format and the regular expression of each metric, and the step that prints it.

    None without metrics.
    """
    listed = _listed(plan.metrics)
    for step in plan.steps:
        listed += [{"step": step.name, **one} for one in _listed(step.plan.metrics)]
    return orjson.dumps(listed).decode() if listed else None


def _listed(metrics: Iterable[KnownMetric]) -> list[dict[str, Any]]:
    return [{"name": one.name, "format": one.format, "regex": one.regex} for one in metrics]
