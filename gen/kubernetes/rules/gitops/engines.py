"""Metadata that controls GitOps engines, and values that a cluster changes, so that engines never finish syncing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from gen.base import Route, Severity, at, nulls, quoted
from gen.base.engines import ENGINES, Mark
from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.facts.pods import matches
from gen.kubernetes.quantity import canonical
from gen.kubernetes.rules import Fault, Faults, ObjectView, gitops_rule, is_generated
from gen.kubernetes.rules.gitops.runs import GUARDED

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


@gitops_rule(
    "engine-force",
    GUARDED,
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


@gitops_rule(
    "engine-hook",
    GUARDED,
    reason="A hook is deleted and created at every sync, so any other change kills the training. Self-heal never "
    "runs it (argo-cd#8586).",
    remedy="Remove it. The only hook for a run is `Skip`, which `state: finished` renders.",
)
def engine_hook(view: ObjectView) -> Faults:
    """A run or data is a hook of an engine."""
    for route, key, value in _metadata(view, _HOOKS):
        if not _HOOKS[key].matches(value.strip()):
            yield Fault(route, f"the object is a hook (`{value[:40]}`)")


@gitops_rule(
    "engine-order",
    GUARDED,
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


@gitops_rule(
    "generated-name",
    reason="An engine cannot apply an object without a name. With `generateName`, each sync would create another "
    "object.",
    remedy="Set `metadata.name`.",
)
def generated_name(view: ObjectView) -> Faults:
    """An object has `generateName` and no `name`."""
    if view.metadata.get("generateName") and not view.metadata.get("name"):
        yield Fault(("metadata", "generateName"), "an engine cannot apply an object without a name")


@gitops_rule(
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


_FILLED: Final = {
    key: filled for key, one in RESOURCES.items() if (filled := [each for each in one.filled if each.in_all])
}


@gitops_rule(
    "unwritten-default",
    _FILLED.keys(),
    reason="A webhook or the operator sets the field. An engine compares and applies the list around it as a whole: it "
    "shows a difference forever, or changes an immutable list, which is rejected.",
    remedy="Set the defaults explicitly.",
    severity=Severity.WARNING,
)
def unwritten_default(view: ObjectView) -> Faults:
    """An object lacks a field that its webhook or operator sets inside a list."""
    missing = [
        ((*route, *filled.field), filled.value)
        for filled in _FILLED[view.group, view.kind]
        for route, holder in matches(view.body, filled.place)
        if at(holder, *filled.field) is None
    ]
    if missing:
        values = {str(route[-1]): value for route, value in missing}
        message = f"the cluster would set {quoted(values)}, and the engine would always show a difference"
        known = [f"`{name}: {json.dumps(value)}`" for name, value in values.items() if value is not None]
        others = quoted(name for name, value in values.items() if value is None)
        hint = ", ".join([*known, *([f"{others} to what `kubectl get -o yaml` shows"] if others else [])])
        yield Fault(missing[0][0], message, f"set {hint}")


@gitops_rule(
    "canonical-amounts",
    reason="A custom resource keeps the text, but the operator writes the shortest form to pods and to parts of "
    "the object, so the engine always shows a difference (argo-cd docs/faq.md).",
    remedy="Use the canonical form.",
    severity=Severity.WARNING,
)
def canonical_amounts(view: ObjectView) -> Faults:
    """A quantity in a custom resource is not in the API server's canonical form."""
    if not view.is_custom:
        return
    for route, container in view.containers:
        for kind in ("limits", "requests"):
            for name, amount in ((container.get("resources") or {}).get(kind) or {}).items():
                if isinstance(amount, str) and (short := _canonical(amount)) != amount:
                    yield Fault((*route, "resources", kind, name), f"`{amount[:40]}` becomes `{short}`")


def _canonical(amount: str) -> str:
    try:
        return canonical(amount)
    except ValueError:
        return amount


@gitops_rule(
    "server-fields",
    reason="The API server sets these fields. In Git they are always different, or out of date.",
    remedy="Remove it.",
    severity=Severity.WARNING,
)
def server_fields(view: ObjectView) -> Faults:
    """A field is set that only the API server writes, or a field is null."""
    if "status" in view.written:
        yield Fault(("status",), "`status` is set by the operator")
    metadata = view.written.get("metadata") or {}
    for field in ("creationTimestamp", "managedFields", "resourceVersion", "uid"):
        if field in metadata:
            yield Fault(("metadata", field), f"`{field}` is set by the API server")
    if view.body is not view.written:
        yield from (Fault(route, "null field") for route in nulls(view.written))
