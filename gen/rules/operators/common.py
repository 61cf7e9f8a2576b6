"""Helpers for rules of several operators: replica maps and derived names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.rules.fault import Fault
from gen.rules.name_checks import dns_1035_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"


def replicas(view: ObjectView, field: str) -> Iterator[tuple[str, Route, Body]]:
    """Every role of a replica map, with its name and route."""
    for name, role in (view.spec.get(field) or {}).items():
        yield name, ("spec", field, name), role


def name_fault(view: ObjectView, *derived: str) -> Faults:
    """The fault of `metadata.name` if one of the names that an operator derives from it is invalid."""
    name = view.metadata.get("name", "")
    for longer in derived:
        fault = dns_1035_label(longer)
        if name and fault is not None:
            yield Fault(("metadata", "name"), f"invalid derived name: {fault.message}")
            return


def last(count: int) -> int:
    """The highest index of this many pods."""
    return max(count - 1, 0)
