"""The status of an Application."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gen.kubernetes.objects import Body


def state(application: Body) -> tuple[str, str, str]:
    """Health, comparison and the phase of the last operation."""
    status = application.get("status", {})
    return (
        status.get("health", {}).get("status", ""),
        status.get("sync", {}).get("status", ""),
        status.get("operationState", {}).get("phase", ""),
    )


def errors(application: Body) -> list[str]:
    """Messages of the Application and of its last operation."""
    status = application.get("status", {})
    conditions = [condition["message"] for condition in status.get("conditions", [])]
    return [*conditions, status.get("operationState", {}).get("message", "")]


def applied_at(application: Body, revision: str) -> bool:
    """Whether it has applied this commit, or there was nothing to do."""
    compared = application.get("status", {}).get("sync", {}).get("revision")
    _, sync, phase = state(application)
    return compared == revision and sync == "Synced" and phase in {"", "Succeeded"}
