"""Metadata that controls GitOps engines: force, replace, hooks, waves, tracking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Severity
from gen.resources.engines import ENGINES
from gen.rules.fault import Fault
from gen.rules.gitops.runs import GUARDED
from gen.rules.rule import gitops, is_generated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.diagnostics import Route
    from gen.resources.engines import Mark
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_HOOKS = {hook: engine.finished for engine in ENGINES.values() for hook in engine.hooks}
"""The mark that is allowed, because it is not a hook, by annotation."""
_WAVES = tuple(wave for engine in ENGINES.values() for wave in engine.waves)
_LAST = tuple(mark for engine in ENGINES.values() for mark in engine.last)
_TRACKING = tuple(key for engine in ENGINES.values() for key in sorted(engine.tracking))


def _metadata(view: ObjectView, keys: Iterable[str]) -> Iterator[tuple[Route, str, str]]:
    """Labels and annotations with one of the keys, each with its route. Flux reads its options from both."""
    for field in ("annotations", "labels"):
        values = view.metadata.get(field) or {}
        for key in keys:
            if key in values:
                yield ("metadata", field, key), key, str(values[key])


def _marked(view: ObjectView, marks: Iterable[Mark]) -> Iterator[tuple[Route, Mark]]:
    """The marks of an object, each with its route."""
    for mark in marks:
        yield from ((route, mark) for route, _, value in _metadata(view, (mark.key,)) if mark.matches(value))


@gitops(
    "engine-force",
    of=GUARDED,
    reason="Argo CD deletes and creates the object at every full sync. Flux does so after any status 422 or 409, "
    "which a typing error also causes (`ssa/errors/immutable.go`, flux2#4392). Either ends a training or "
    "removes data.",
    remedy="Remove it. An edited job is a new run with a new name.",
)
def engine_force(view: ObjectView) -> Faults:
    """An engine may replace a run or data by force."""
    for engine in ENGINES.values():
        for route, mark in _marked(view, engine.force):
            yield Fault(route, f"{engine.title} would delete and create the object because of `{mark.value}`")


@gitops(
    "engine-hook",
    of=GUARDED,
    reason="A hook is deleted and created at every sync, so any other change kills the training. Self-heal never "
    "runs it (argo-cd#8586).",
    remedy="Remove it. The only hook for a run is `Skip`, which `state: finished` renders.",
)
def engine_hook(view: ObjectView) -> Faults:
    """A run or data is a hook of an engine."""
    for route, key, value in _metadata(view, _HOOKS):
        if not _HOOKS[key].matches(value.strip()):
            yield Fault(route, f"the object is a hook (`{value[:40]}`)")


@gitops(
    "engine-order",
    of=GUARDED,
    reason="A sync with several waves waits until each wave is healthy: hours for a run, indefinitely for a "
    "suspended one or for a claim that waits for its first consumer (argo-cd#10600, #12840). `PruneLast` "
    "also makes a wave.",
    remedy="Remove it. Argo CD applies volumes and claims before the objects that mount them.",
    severity=Severity.WARNING,
)
def engine_order(view: ObjectView) -> Faults:
    """A run or data is in a sync wave."""
    for route, mark in _marked(view, _LAST):
        yield Fault(route, f"`{mark.value}` is set")
    for route, _, value in _metadata(view, _WAVES):
        if value.strip() != "0":
            yield Fault(route, "the object is in a separate sync wave")


@gitops(
    "generated-name",
    reason="An engine cannot apply an object without a name. With `generateName`, each sync would create another "
    "object.",
    remedy="Set `metadata.name`.",
)
def generated_name(view: ObjectView) -> Faults:
    """An object has `generateName` and no `name`."""
    if view.metadata.get("generateName") and not view.metadata.get("name"):
        yield Fault(("metadata", "generateName"), "an engine cannot apply an object without a name")


@gitops(
    "engine-tracking",
    reason="Engines use these to track their objects. In Git they assign an object to another Application, which "
    "prunes it. Operators also copy labels to the objects that they create (argo-cd#3050, "
    "Altinity/clickhouse-operator#1272).",
    remedy="Remove it.",
)
def engine_tracking(view: ObjectView) -> Faults:
    """A run, data or a generated object has a label or annotation that engines use for tracking."""
    if is_generated(view.body) or (view.group, view.kind) in GUARDED:
        for route, key, _ in _metadata(view, _TRACKING):
            yield Fault(route, f"`{key}` is set by the engine, to track its objects")
