"""Runtimes of the Kubeflow Trainer: whether a job may use one, and the demand of its pods."""

from __future__ import annotations

from collections.abc import Mapping

from gen.base import did_you_mean
from gen.base.codes.grants import UNKNOWN_RUNTIME
from gen.base.repository.layout import RUNTIMES, overlays_path
from gen.job.kinds.base import Job
from gen.kubernetes.facts.demand import Demand, demand
from gen.kubernetes.facts.runtimes import NO_RUNTIMES, SHIPPED, Runtime
from gen.kubernetes.facts.trainer import RUNTIME_KINDS
from gen.overlay.overlay import Overlay
from gen.render.parts.context import Context
from gen.render.parts.grants import check_listed


def plan_runtime(context: Context) -> Runtime | None:
    """The runtime of a job; None without one, or if the overlay does not declare it, which is reported."""
    key, overlay = context.job.runtime_key, context.overlay
    if key is None:
        return None
    kind, name = key
    known = overlay.runtimes.known
    if key not in known:
        fields = "{}" if name in SHIPPED else "{policy: torch}"
        fields = fields if kind == RUNTIME_KINDS[0] else f"{{kind: {kind}, policy: torch}}"
        folder = overlays_path(overlay.name, RUNTIMES)
        remedy = f"add `runtimes: {{{name}: {fields}}}` to the overlay, or copy its definition into `{folder}`"
        hint = did_you_mean(name, [other for of, other in known if of == kind], besides=remedy)
        context.error(UNKNOWN_RUNTIME, ("runtime",), f"overlay `{overlay.name}` has no {kind} `{name}`", hint)
        return None
    check_listed(context, ("runtime",), "runtime", name, context.grant.runtimes)
    return known[key]


def runtime_demand(job: Job, overlay: Overlay | None, resources: Mapping[str, str], accelerator: str) -> Demand:
    """Pods and devices of a job with a runtime, whose nodes get the resources."""
    runtimes = overlay.runtimes if overlay is not None else NO_RUNTIMES
    kind, name = job.runtime_key or ("", "")
    reference = {"runtimeRef": {"kind": kind, "name": name}}
    outline = job.outline(runtimes.of({"spec": reference}), resources, accelerator)
    units = overlay.device_units if overlay is not None else {}
    return demand({"spec": {**reference, **outline["spec"]}}, job.facts, units, runtimes)


def check_devices(context: Context, asked: Demand | None, named: str) -> None:
    """Report accelerators that a runtime requests by itself and the namespace may not use."""
    for name in asked.accelerators if asked is not None else {}:
        if name != named and asked is not None and asked.accelerators[name]:
            check_listed(context, ("runtime",), "accelerator", name, context.grant.accelerators)
