"""The state of an object of a run, from its status and the facts of its kind.

Fields of a run in Git that others change in the cluster, so that a difference is not an edit.

The content of a run: its object without metadata and without the field that suspends it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from gen.base import at, with_field
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.base import Conditions, Pattern, Phase, Resource
from gen.kubernetes.facts.graphs import graph_of
from gen.kubernetes.objects import Body


class State(StrEnum):
    """State of a run in its status. All other runs are active."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SUSPENDED = "suspended"
    ACTIVE = "active"


def state_of(resource: Resource, body: Body) -> State:
    """Failure and success are tested first: other conditions may stay true after the end."""
    facts = resource.status
    if facts is None:
        return State.ACTIVE
    if isinstance(facts, Conditions):
        held = {one["type"] for one in conditions(body) if one.get("status") == "True" and "type" in one}
        if facts.failed in held:
            return State.FAILED
        if facts.succeeded in held:
            return State.SUCCEEDED
        return State.SUSPENDED if facts.suspended in held else State.ACTIVE
    for state, phases in (
        (State.FAILED, facts.failed),
        (State.SUCCEEDED, facts.succeeded),
        (State.SUSPENDED, facts.suspended),
    ):
        if any(_holds(phase, body) for phase in phases):
            return state
    return State.ACTIVE


def reason_of(resource: Resource, body: Body) -> tuple[str, str]:
    """Reason and message of the state that has been reached; empty for an active run."""
    facts = resource.status
    if isinstance(facts, Conditions):
        wanted = [name for name in (facts.failed, facts.succeeded, facts.suspended) if name]
        for name in wanted:
            for one in conditions(body):
                if one.get("type") == name and one.get("status") == "True":
                    return str(one.get("reason") or ""), str(one.get("message") or "")
        return "", ""
    reason, message = at(body, "status", "reason"), at(body, "status", "message")
    return (str(reason or ""), str(message or "")) if state_of(resource, body) is not State.ACTIVE else ("", "")


def conditions(body: Body) -> Iterator[dict[str, Any]]:
    """The conditions in the status of any object."""
    listed = at(body, "status", "conditions")
    yield from (one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict))


def _holds(phase: Phase, body: Body) -> bool:
    return at(body, *phase.field) in phase.values


def changed_by_kueue(resource: Resource) -> Iterator[Pattern]:
    """Fields that Kueue sets when it admits a run: `suspend`, node selectors and tolerations, which are atomic
    (`pkg/podset/podset.go`), metadata of templates in atomic lists, and a list that it appends to.
    """
    if resource.suspend is not None:
        yield resource.suspend
    for pods in resource.pods:
        yield (*pods.template, "spec", "nodeSelector")
        yield (*pods.template, "spec", "tolerations")
    if resource.kueue is not None:
        yield from resource.kueue.marks
        if resource.kueue.appends is not None:
            yield resource.kueue.appends


def filled_in_cluster(resource: Resource) -> Iterator[tuple[Pattern, object]]:
    """Fields with the one value that a cluster may add to them."""
    for one in resource.filled:
        if one.value is not None:
            yield (*one.place, *one.field), one.value


def changed_by_autoscalers(resource: Resource) -> Iterator[Pattern]:
    """Numbers of pods that an autoscaler may set."""
    for pods in resource.pods:
        yield from (count.route for count in pods.counts if count.largest is not None)
    if resource.scaled:
        yield resource.scaled


def content(body: Body) -> Body:
    """What must not change while a run exists. Suspension and metadata may."""
    resource = resource_of_object(body.get("apiVersion"), body.get("kind"))
    kept = {key: value for key, value in body.items() if key != "metadata"}
    if resource is not None and resource.steps:
        graph = graph_of(resource)
        kept = {**kept, "steps": [content(inner) for inner in graph.objects(body)]}
        kept = with_field(kept, graph.route, graph.without_objects(body))
    return kept if resource is None or resource.suspend is None else with_field(kept, resource.suspend, None)
