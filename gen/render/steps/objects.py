"""The objects of a pipeline and of its steps, after the patches and the checks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gen.parallel import finished
from gen.render.checked import checked_run
from gen.render.deciding_field import field_of_route
from gen.render.manifest import Patched, Valid
from gen.render.policies import apply_policies
from gen.render.steps.findings import collect

if TYPE_CHECKING:
    from gen.kinds.plan import Plan
    from gen.overlay.overlay import Overlay
    from gen.render.expand import Expanded


def with_steps(
    checked: tuple[Patched, Valid], one: Expanded, plan: Plan, overlay: Overlay
) -> tuple[Patched, Valid] | None:
    """The objects of a pipeline with those of its steps, each patched and checked like a job; None after an error."""
    parts = [checked]
    for step, own in zip(one.steps, plan.steps, strict=True):
        part = finished(checked_run(step.run, own.plan, overlay, step.found)) if step.run is not None else None
        parts += [part] if part is not None else []
    runs = [one.run, *(step.run for step in one.steps)]
    founds = [one.found, *(step.found for step in one.steps)]
    if len(parts) == len(runs):
        for (patched, _), run, found in zip(parts, runs, founds, strict=True):
            if run is not None:
                apply_policies(patched, overlay, found, partial(field_of_route, run.given))
    if one.run is not None:
        collect(one.found, one.run, one.steps)
    if len(parts) < len(runs):
        return None
    return (
        Patched(
            manifests=tuple(manifest for patched, _ in parts for manifest in patched.manifests),
            built=tuple(manifest for patched, _ in parts for manifest in patched.built),
            provenance=tuple(source for patched, _ in parts for source in patched.provenance),
            matched=frozenset().union(*(patched.matched for patched, _ in parts)),
            deletions=frozenset().union(*(patched.deletions for patched, _ in parts)),
        ),
        Valid(tuple(manifest for _, valid in parts for manifest in valid.manifests)),
    )
