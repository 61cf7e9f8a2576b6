"""Priorities with which the pods of an object may stop other pods.

The scheduler removes pods of a lower priority from a node, in any namespace and queue, if a pod does not fit otherwise
and its policy is `PreemptLowerPriority` (`concepts/scheduling-eviction/pod-priority-preemption` of the documentation of
Kubernetes). Pods state the policy if the overlay declares it for their PriorityClass. That of other classes is only
known in the cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.kubernetes import at
from gen.resources import resource_of_object
from gen.resources.graphs import graph_of
from gen.resources.pods import follow, pod_sets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.kubernetes import Body
    from gen.resources.base import Resource

_PREEMPTS = "PreemptLowerPriority"
_DEFAULT = "(default)"
"""In place of a class: pods without one have that of the cluster."""


def preempting_classes(body: Body, kind: Resource) -> tuple[str, ...]:
    """The PriorityClasses of pods that state that they stop others. ValueError if a step cannot be read."""
    return tuple(sorted(set(_classes(body, kind))))


def _classes(body: Body, kind: Resource) -> Iterator[str]:
    for pods in pod_sets(kind, body):
        spec = at(pods.template, "spec")
        if at(spec, "preemptionPolicy") == _PREEMPTS:
            yield str(at(spec, "priorityClassName") or _DEFAULT)
    held = [follow(body, kind.holds.route)] if kind.holds is not None else []
    steps = [task.body for task in graph_of(kind).tasks(body)] if kind.steps else []
    for inner in (*held, *steps):
        resource = resource_of_object(at(inner, "apiVersion"), at(inner, "kind"))
        if resource is not None and not resource.steps and isinstance(inner, dict):
            yield from _classes(inner, resource)
