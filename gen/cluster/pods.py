"""Pods of runs, reduced to what commands show, and the reason why one does not run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from gen.kubernetes import COMPONENT, JOB_LABEL, RUN_LABEL, STEP_LABEL, Body, at
from gen.regex import regex
from gen.resources import RESOURCES
from gen.resources.state import conditions

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    containers: tuple[Container, ...]
    """Those that have started."""
    deleted: bool

    @property
    def title(self) -> str:
        """`worker-0`, or its name if its operator does not number its pods."""
        return f"{self.role}-{self.index}" if self.role and self.index is not None else self.name


def pod_of(body: Body) -> Pod:
    """A pod, from an object with any missing fields."""
    metadata, status = _mapping(body.get("metadata")), _mapping(body.get("status"))
    labels = _mapping(metadata.get("labels"))
    states = [*_list(status.get("initContainerStatuses")), *_list(status.get("containerStatuses"))]
    reason, message = _trouble(body, states)
    return Pod(
        namespace=str(metadata.get("namespace") or ""),
        name=str(metadata.get("name") or ""),
        uid=str(metadata.get("uid") or ""),
        job=str(labels.get(JOB_LABEL) or ""),
        run=str(labels.get(RUN_LABEL) or ""),
        role=str(labels.get(COMPONENT) or ""),
        index=_index(labels, _mapping(metadata.get("annotations"))),
        owner=controller(body),
        runs=tuple(_runs(labels)),
        step=str(labels.get(STEP_LABEL) or ""),
        phase=str(status.get("phase") or "Pending"),
        ready=any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions(body)),
        restarts=sum(_number(one.get("restartCount")) for one in states),
        node=str(at(body, "spec", "nodeName") or ""),
        reason=reason,
        message=message,
        containers=tuple(_started(_list(status.get("containerStatuses")))),
        deleted="deletionTimestamp" in metadata,
    )


def _started(states: list[dict[str, Any]]) -> Iterator[Container]:
    for one in states:
        restarts, running = _number(one.get("restartCount")), bool(at(one, "state", "running"))
        if running or restarts or at(one, "state", "terminated"):
            yield Container(name=str(one.get("name")), restarts=restarts, running=running)


def controller(body: Body) -> str:
    """UID of the object that controls another; empty if nothing does."""
    owners = _list(at(body, "metadata", "ownerReferences"))
    return next((str(one.get("uid") or "") for one in owners if one.get("controller") is True), "")


def _runs(labels: dict[str, Any]) -> Iterator[str]:
    for key, appended in {item for resource in RESOURCES.values() for item in resource.run_labels.items()}:
        name = str(labels.get(key) or "")
        if len(name) > appended:
            yield name[: len(name) - appended]


def _index(labels: dict[str, Any], annotations: dict[str, Any]) -> int | None:
    for key in {key for resource in RESOURCES.values() for key in resource.indices}:
        text = str(labels.get(key) or annotations.get(key) or "")
        if text.isdecimal() and text.isascii():
            return int(text)
    return None


def _trouble(body: Body, states: list[dict[str, Any]]) -> tuple[str, str]:
    """The first cause that explains the pod: containers, then the scheduler, then the pod itself."""
    if _mapping(body.get("status")).get("phase") == SUCCEEDED:
        return "", ""
    return next((found for found in _causes(body, states) if found[0]), ("", ""))


def _causes(body: Body, states: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for one in states:
        waiting = _mapping(at(one, "state", "waiting"))
        if (reason := str(waiting.get("reason") or "")) and reason not in _STARTING:
            last = _mapping(at(one, "lastState", "terminated"))
            said = str(waiting.get("message") or "")
            yield reason, f"{said}; last: {_ended(last)[1]}" if last else said
    status = _mapping(body.get("status"))
    if status.get("phase") == FAILED:
        yield str(status.get("reason") or ""), str(status.get("message") or "")
    for one in states:
        ended = _mapping(at(one, "state", "terminated"))
        if ended and ended.get("exitCode") != 0:
            yield _ended(ended)
    for one in conditions(body):
        if one.get("type") == "PodScheduled" and one.get("status") == "False":
            message = str(one.get("message") or "")
            yield (GANG if _GANG.search(message) else str(one.get("reason") or UNSCHEDULABLE)), message
    for one in states:
        ended = _mapping(at(one, "lastState", "terminated"))
        if ended and ended.get("exitCode") != 0:
            yield _ended(ended)


def _ended(ended: dict[str, Any]) -> tuple[str, str]:
    message = str(ended.get("message") or "").strip()
    code = f"exit code {ended.get('exitCode')}"
    return str(ended.get("reason") or "Error"), f"{code}: {message}" if message else code


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
