"""What engines are told by metadata: to force, to replace, to order, and whose an object is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.diagnostics import Severity
from gen.rules.fault import Fault
from gen.rules.gitops.runs import GUARDED
from gen.rules.gitops.storage import SYNC_OPTIONS
from gen.rules.rule import gitops, is_generated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_FLUX_FORCE = "kustomize.toolkit.fluxcd.io/force"
_HOOKS = ("argocd.argoproj.io/hook", "helm.sh/hook")
_WAVE = "argocd.argoproj.io/sync-wave"
_TRACKING = frozenset(
    {"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id", "app.kubernetes.io/instance"}
    | {"kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"}
)


def _metadata(view: ObjectView) -> Iterator[tuple[Route, str, str]]:
    """Labels and annotations, each with its route; Flux takes what it is told from either."""
    for field in ("annotations", "labels"):
        for key, value in (view.metadata.get(field) or {}).items():
            yield ("metadata", field, key), key, str(value)


def _options(view: ObjectView, *unwanted: str) -> Faults:
    for route, key, value in _metadata(view):
        if key == SYNC_OPTIONS:
            for word in (word.strip() for word in value.split(",")):
                if word in unwanted:
                    yield Fault(route, f"`{word}` is set")


@gitops(
    "engine-force",
    of=GUARDED,
    reason="Argo CD deletes and creates the object at every full sync; Flux does so at any 422 or 409, which a typing "
    "error is, too (`ssa/errors/immutable.go`, flux2#4392). Either ends a training, or removes data.",
    remedy="Remove it; an edited job is a new run with a name of its own.",
)
def engine_force(view: ObjectView) -> Faults:
    """No engine may replace a run or data by force."""
    yield from _options(view, "Force=true", "Replace=true")
    for route, key, value in _metadata(view):
        if key == _FLUX_FORCE and value.lower() == "enabled":
            yield Fault(route, "Flux would delete the object when it cannot change it")


@gitops(
    "engine-hook",
    of=GUARDED,
    reason="A hook is deleted and created at every sync, so an edit beside it kills the training; self-heal never runs "
    "it (argo-cd#8586).",
    remedy="Remove it; `Skip`, which `state: finished` renders, is the only hook for a run.",
)
def engine_hook(view: ObjectView) -> Faults:
    """A run, or data, is no hook of an engine."""
    for route, key, value in _metadata(view):
        if key in _HOOKS and value.strip() != "Skip":
            yield Fault(route, f"the object is a hook (`{value[:40]}`)")


@gitops(
    "engine-order",
    of=GUARDED,
    reason="With several waves a sync waits until all of one is healthy: hours for a run, for ever for a suspended "
    "one or for a claim that waits for its consumer (argo-cd#10600, #12840). `PruneLast` makes a wave, too.",
    remedy="Remove it; Argo CD applies volumes and claims before what mounts them by itself.",
    severity=Severity.WARNING,
)
def engine_order(view: ObjectView) -> Faults:
    """Runs and data are in no wave."""
    yield from _options(view, "PruneLast=true")
    for route, key, value in _metadata(view):
        if key == _WAVE and value.strip() != "0":
            yield Fault(route, "the object is in a wave of its own")


@gitops(
    "generated-name",
    reason="What an engine applies must have a name; with `generateName` it cannot, or each sync makes another object.",
    remedy="Write `name`.",
)
def generated_name(view: ObjectView) -> Faults:
    """An object has its name from Git and not from the server."""
    if view.metadata.get("generateName") and not view.metadata.get("name"):
        yield Fault(("metadata", "generateName"), "no engine can apply an object without a name")


@gitops(
    "engine-tracking",
    reason="Engines write these to know what is theirs. In Git they make an object another Application's, which prunes "
    "it; operators copy labels to what they make (argo-cd#3050, Altinity/clickhouse-operator#1272).",
    remedy="Remove it.",
)
def engine_tracking(view: ObjectView) -> Faults:
    """Runs, data and what gen makes carry nothing by which an engine knows its objects."""
    if (view.group, view.kind) in GUARDED or is_generated(view.body):
        for route, key, _ in _metadata(view):
            if key in _TRACKING:
                yield Fault(route, f"`{key}` says whose the object is, which the engine writes itself")
