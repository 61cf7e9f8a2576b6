"""The state of an object of a run, from its status and the facts of its kind, and how pipelines wait for its end. The
state that a rendered object gives its run.

Fields of a run in Git that others change in the cluster, so that a difference is not an edit. The content of a run: its
object without metadata and without the field that suspends it.

Argo Workflows compares two label selectors with its fields, and a step of Kubeflow Pipelines asks `kubectl`. From
`workflow/executor/resource.go` of argoproj/argo-workflows 3.7 and 4.1: success needs every requirement, a failure any
one, and failures are tested first. Keys are paths of gjson that are valid keys of labels, so a path cannot search a
list. A selector that does not parse is found after the object was created, which then runs without a waiter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import product
from typing import Any, Final

from msgspec import Struct

from gen.base import BugError, as_mappings, at, regex, with_field
from gen.base.engines import JobState, is_finished, is_stopped
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.base import Conditions, Path, Pattern, Phase, Phases, Resource
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


def is_suspended(resource: Resource, body: Body) -> bool:
    """Whether the spec of an object suspends it."""
    return resource.suspend is not None and at(body, *resource.suspend) is True


def state_in(resource: Resource, body: Body, engines: Collection[str] = ()) -> JobState:
    """The state that a rendered object gives its run. `engines` are those that must leave a record alone."""
    metadata = body.get("metadata")
    if is_finished(metadata, engines):
        return "stopped" if is_stopped(metadata) else "finished"
    return "suspended" if is_suspended(resource, body) else "active"


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
    yield from as_mappings(at(body, "status", "conditions"))


def has_condition(body: Body, name: str) -> bool:
    """Whether a condition of an object is true."""
    return any(one.get("type") == name and one.get("status") == "True" for one in conditions(body))


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


MOST_CONDITIONS: Final = 8
"""Places of a list of conditions that are searched for a failure; operators have at most six types."""
_WORD: Final = regex(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


class Waiting(Struct, frozen=True, kw_only=True):
    """The object to wait for, and the conditions of its end."""

    of: Resource
    """The kind of the object, which has the name of the run."""
    success: str
    failure: str
    state: str
    """The same fields as templates of JSONPath for `kubectl`, each followed by `/`."""
    succeeded: tuple[str, ...]
    """Patterns of a shell for their values after success."""
    failed: tuple[str, ...]


def wait_for(facts: Resource, api_version: str) -> tuple[Waiting, str]:
    """How to wait for an object of a step, and the kind of the object to wait for, as `kubectl` takes it."""
    found = waiting(facts)
    if found is None:
        raise BugError(f"no conditions for {facts.kind}, which the plan refuses")
    version = api_version if found.of is facts else found.of.served[0]
    group, _, version = version.rpartition("/")
    return found, ".".join(part for part in (found.of.kind.lower(), version, group) if part)


def waiting(facts: Resource) -> Waiting | None:
    """None if Argo cannot find the end of objects of this kind."""
    awaited = facts.awaited
    if awaited is not None and awaited.instead is not None:
        return waiting(awaited.instead)
    if awaited is not None and awaited.succeeded:
        return _of_phases(facts, awaited.succeeded, awaited.failed)
    if awaited is not None and awaited.ended and isinstance(facts.status, Conditions):
        return _of_conditions(facts, ".".join(awaited.ended), facts.status)
    if isinstance(facts.status, Phases) and len(facts.status.succeeded) == 1:
        return _of_phases(facts, facts.status.succeeded, facts.status.failed)
    return None


def _of_phases(facts: Resource, succeeded: Iterable[Phase], failed: Iterable[Phase]) -> Waiting | None:
    succeeded, failed = tuple(succeeded), tuple(failed)
    if not all(map(_fits, (*succeeded, *failed))):
        return None
    fields = tuple(dict.fromkeys(phase.field for phase in (*succeeded, *failed)))
    chosen = [[(phase.field, value) for value in phase.values] for phase in succeeded]
    return Waiting(
        of=facts,
        success=",".join(map(_requirement, succeeded)),
        failure=",".join(map(_requirement, failed)),
        state="".join(f"{{.{'.'.join(field)}}}/" for field in fields),
        succeeded=tuple(_pattern(fields, dict(values)) for values in product(*chosen)),
        failed=tuple(_pattern(fields, {one.field: value}) for one in failed for value in one.values),
    )


def _pattern(fields: Iterable[Path], values: Mapping[Path, str]) -> str:
    return "".join(f"{values.get(field, '*')}/" for field in fields)


def _of_conditions(facts: Resource, ended: str, status: Conditions) -> Waiting | None:
    """A failure can be at any place of the list, and is there only if the run failed."""
    places = (f"status.conditions.{index}.type == {status.failed}" for index in range(MOST_CONDITIONS))
    if not (_WORD.fullmatch(ended) and _WORD.fullmatch(status.failed) and _WORD.fullmatch(status.succeeded)):
        return None
    types = (status.succeeded, status.failed)
    return Waiting(
        of=facts,
        success=ended,
        failure=",".join(places),
        state="".join(f'{{.status.conditions[?(@.type=="{one}")].status}}/' for one in types),
        succeeded=("True/*",),
        failed=("*/True/",),
    )


def _requirement(phase: Phase) -> str:
    key, values = ".".join(phase.field), phase.values
    return f"{key} == {values[0]}" if len(values) == 1 else f"{key} in ({','.join(values)})"


def _fits(phase: Phase) -> bool:
    return _WORD.fullmatch(".".join(phase.field)) is not None and all(map(_WORD.fullmatch, phase.values))
