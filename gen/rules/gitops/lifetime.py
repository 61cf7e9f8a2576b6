"""Runs that delete themselves: an engine creates them again, and the training starts again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.kubernetes import QUEUE_LABEL, at
from gen.resources.ray import RAYJOB
from gen.rules.fault import Fault
from gen.rules.gitops.runs import having, route_of
from gen.rules.rule import gitops

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_AGAIN = (
    "An engine creates the deleted object again, so a finished training starts again (argo-cd#8586, "
    "#13851, apache/airflow#37460)."
)


@gitops(
    "self-deletion",
    of=having("ttl"),
    reason=f"{_AGAIN} The finished object is the record of the run. Two settings of the controller of Argo "
    "Workflows delete workflows, too: `retentionPolicy`, and a `ttlStrategy` in `workflowDefaults`. Do not set them.",
    remedy="Remove `ttlSecondsAfterFinished`. To end a run, set `state: finished` in the job, or remove its file.",
)
def self_deletion(view: ObjectView) -> Faults:
    """A run deletes itself some time after it has ended."""
    route = route_of(view.group, view.kind, "ttl")
    if at(view.body, *route) is not None:
        yield Fault(route, "the object would be deleted after the run, then created and run again")


@gitops(
    "ray-deletes-self",
    RAYJOB.key,
    reason=f"{_AGAIN} `shutdownAfterJobFinishes` only removes the cluster and keeps the RayJob.",
    remedy="Use `DeleteCluster` or `DeleteWorkers` instead.",
)
def ray_deletes_self(view: ObjectView) -> Faults:
    """A RayJob has a `deletionStrategy` with the policy `DeleteSelf`."""
    strategy = view.spec.get("deletionStrategy") or {}
    holders: list[tuple[Route, Any]] = [((field,), strategy.get(field)) for field in ("onSuccess", "onFailure")]
    holders += [(("deletionRules", index), rule) for index, rule in enumerate(strategy.get("deletionRules") or ())]
    for route, holder in holders:
        if at(holder, "policy") == "DeleteSelf":
            yield Fault(
                ("spec", "deletionStrategy", *route, "policy"), "the RayJob would delete itself and then run again"
            )


@gitops(
    "suspended-in-queue",
    of=having("suspend"),
    reason="Kueue suspends and resumes queued runs. `suspend: true` in Git evicts an admitted run at the next "
    "sync, and `suspend: false` starts one that was not admitted.",
    remedy="Remove `suspend`. Kueue's webhook sets it when the object is created.",
)
def suspended_in_queue(view: ObjectView) -> Faults:
    """A run in a queue sets `suspend`."""
    route = route_of(view.group, view.kind, "suspend")
    if QUEUE_LABEL in (view.metadata.get("labels") or {}) and at(view.body, *route) is not None:
        yield Fault(route, f"Kueue sets this field for runs with the label `{QUEUE_LABEL}`")
