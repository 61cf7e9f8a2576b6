"""What label selectors match. From `apimachinery/pkg/labels/selector.go`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.kubernetes import Body


def selects(selector: Body | None, labels: Mapping[str, Any]) -> bool:
    """Whether a selector matches some labels; an empty one matches all."""
    found = selector or {}
    if any(labels.get(key) != value for key, value in (found.get("matchLabels") or {}).items()):
        return False
    return all(_holds(one, labels) for one in found.get("matchExpressions") or ())


def keys_of(selector: Body | None) -> set[str]:
    """The labels that a selector reads."""
    found = selector or {}
    return {*(found.get("matchLabels") or {}), *(one.get("key", "") for one in found.get("matchExpressions") or ())}


def _holds(requirement: Body, labels: Mapping[str, Any]) -> bool:
    key, operator = requirement.get("key", ""), requirement.get("operator")
    values = requirement.get("values") or ()
    if operator == "In":
        return key in labels and labels[key] in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    return (key in labels) is (operator == "Exists")
