"""Pods of runs, reduced to what commands show, and the reason why one does not run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from msgspec import Struct

from gen.base import as_mapping, as_mappings, at, regex
from gen.kubernetes.facts import RESOURCES
from gen.kubernetes.facts.state import conditions
from gen.kubernetes.objects import COMPONENT, JOB_LABEL, RUN_LABEL, STEP_LABEL, Body

_STARTING: Final = frozenset({"ContainerCreating", "PodInitializing"})
_GANG: Final = regex(r"pod ?group|gang", re.IGNORECASE)
"""Messages of schedulers about pods that wait for others of their group: Volcano, coscheduling, YuniKorn."""
GANG: Final = "Gang"
UNSCHEDULABLE: Final = "Unschedulable"
RUNNING: Final = "Running"
SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"


class Container(Struct, frozen=True, kw_only=True):
    """A container that has started, so that it has a log."""

    name: str
    restarts: int
    running: bool


class Pod(Struct, frozen=True, kw_only=True):
    """A pod of a run."""

    namespace: str
    name: str
    uid: str
    job: str
    run: str
    """Hash of its run."""
    role: str
    index: int | None
    """Index in its role; None if the operator does not number its pods."""
    owner: str
    """UID of the object that controls it."""
    runs: tuple[str, ...]
    """Names in labels of operators: its run is among them."""
    step: str
    """The step of a pipeline that it belongs to."""
    phase: str
    ready: bool
    restarts: int
    node: str
    reason: str
    """Why it does not run, or last failed; empty if it has not."""
    message: str
    blocked: bool
    """Whether the reason is a present one, and not that of an earlier failure."""
    containers: tuple[Container, ...]
    """Those that have started."""
    deleted: bool
    created: str = ""
    """This and other times are in UTC, and empty before they come."""
    scheduled: str = ""
    started: str = ""
    """When its first container started."""
    ended: str = ""
    """When its last container ended; empty while one has not."""

    @property
    def state(self) -> str:
        """Its phase, or `Terminating`."""
        return "Terminating" if self.deleted else self.phase

    @property
    def title(self) -> str:
        """`worker-0`, or its name if its operator does not number its pods."""
        return f"{self.role}-{self.index}" if self.role and self.index is not None else self.name


def pod_of(body: Body) -> Pod:
    """A pod, from an object with any missing fields."""
    metadata, status = as_mapping(body.get("metadata")), as_mapping(body.get("status"))
    labels = as_mapping(metadata.get("labels"))
    containers = as_mappings(status.get("containerStatuses"))
    states = [*as_mappings(status.get("initContainerStatuses")), *containers]
    held = list(conditions(body))
    reason, message, blocked = _trouble(status, states, held)
    return Pod(
        namespace=str(metadata.get("namespace") or ""),
        name=str(metadata.get("name") or ""),
        uid=str(metadata.get("uid") or ""),
        job=str(labels.get(JOB_LABEL) or ""),
        run=str(labels.get(RUN_LABEL) or ""),
        role=str(labels.get(COMPONENT) or ""),
        index=_index(labels, as_mapping(metadata.get("annotations"))),
        owner=controller(body),
        runs=tuple(_runs(labels)),
        step=str(labels.get(STEP_LABEL) or ""),
        phase=str(status.get("phase") or "Pending"),
        ready=any(one.get("type") == "Ready" and one.get("status") == "True" for one in held),
        restarts=sum(_number(one.get("restartCount")) for one in states),
        node=str(at(body, "spec", "nodeName") or ""),
        reason=reason,
        message=message,
        blocked=blocked,
        containers=tuple(_started(containers)),
        deleted="deletionTimestamp" in metadata,
        created=str(metadata.get("creationTimestamp") or ""),
        scheduled=_scheduled(held),
        started=min(_times(states, "startedAt"), default=""),
        ended=max(_times(states, "finishedAt"), default="") if status.get("phase") in (SUCCEEDED, FAILED) else "",
    )


def _scheduled(held: list[Body]) -> str:
    known = (one for one in held if one.get("type") == "PodScheduled" and one.get("status") == "True")
    return next((str(one.get("lastTransitionTime") or "") for one in known), "")


def _times(states: list[Body], field: str) -> Iterator[str]:
    """Times of the containers now, and before their last restart."""
    for one in states:
        state, last = as_mapping(one.get("state")), as_mapping(one.get("lastState"))
        for part in (state.get("running"), state.get("terminated"), last.get("terminated")):
            if part and (time := at(part, field)):
                yield str(time)


def _started(states: list[Body]) -> Iterator[Container]:
    for one in states:
        restarts, running = _number(one.get("restartCount")), bool(at(one, "state", "running"))
        if running or restarts or at(one, "state", "terminated"):
            yield Container(name=str(one.get("name")), restarts=restarts, running=running)


def controller(body: Body) -> str:
    """UID of the object that controls another; empty if nothing does."""
    for one in as_mappings(at(body, "metadata", "ownerReferences")):
        if one.get("controller") is True:
            return str(one.get("uid") or "")
    return ""


def _runs(labels: Body) -> Iterator[str]:
    for key, appended in _known_labels(tuple(RESOURCES))[0]:
        name = str(labels.get(key) or "")
        if len(name) > appended:
            yield name[: len(name) - appended]


@lru_cache(1)
def _known_labels(kinds: tuple[tuple[str, str], ...]) -> tuple[frozenset[tuple[str, int]], frozenset[str]]:
    """Labels of all kinds with the name of the run, and those with the index of the pod. Plugins add kinds."""
    known = [RESOURCES[kind] for kind in kinds]
    return (
        frozenset(item for resource in known for item in resource.run_labels.items()),
        frozenset(key for resource in known for key in resource.indices),
    )


def _index(labels: Body, annotations: Body) -> int | None:
    for key in _known_labels(tuple(RESOURCES))[1]:
        text = str(labels.get(key) or annotations.get(key) or "")
        if text.isdecimal() and text.isascii():
            return int(text)
    return None


def _trouble(status: Body, states: list[Body], held: list[Body]) -> tuple[str, str, bool]:
    """The reason that explains the pod, its message, and whether it is a present one."""
    if status.get("phase") == SUCCEEDED:
        return "", "", False
    for causes, present in ((_present_causes(status, states, held), True), (_failures(states, "lastState"), False)):
        for reason, message in causes:
            if reason:
                return reason, message, present
    return "", "", False


def _present_causes(status: Body, states: list[Body], held: list[Body]) -> Iterator[tuple[str, str]]:
    """The most telling first: containers, then the pod itself, then the scheduler."""
    for one in states:
        waiting = as_mapping(at(one, "state", "waiting"))
        if (reason := str(waiting.get("reason") or "")) and reason not in _STARTING:
            last = as_mapping(at(one, "lastState", "terminated"))
            said = str(waiting.get("message") or "")
            yield reason, f"{said}; last: {_ended(last)[1]}" if last else said
    if status.get("phase") == FAILED:
        yield str(status.get("reason") or ""), str(status.get("message") or "")
    yield from _failures(states, "state")
    for one in held:
        if one.get("type") == "PodScheduled" and one.get("status") == "False":
            message = str(one.get("message") or "")
            yield (GANG if _GANG.search(message) else str(one.get("reason") or UNSCHEDULABLE)), message


def _failures(states: list[Body], field: str) -> Iterator[tuple[str, str]]:
    for one in states:
        ended = as_mapping(at(one, field, "terminated"))
        if ended and ended.get("exitCode") != 0:
            yield _ended(ended)


def _ended(ended: Body) -> tuple[str, str]:
    message = str(ended.get("message") or "").strip()
    code = f"exit code {ended.get('exitCode')}"
    return str(ended.get("reason") or "Error"), f"{code}: {message}" if message else code


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
