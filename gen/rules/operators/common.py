"""Helpers for rules of several operators: replica maps and derived names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.resources import resource_of
from gen.resources.names import longest_suffixes
from gen.rules.fault import Fault
from gen.rules.name_checks import dns_1035_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Check, Faults
    from gen.rules.object_view import ObjectView

MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"


def replicas(view: ObjectView, field: str) -> Iterator[tuple[str, Route, Body]]:
    """Every role of a replica map, with its name and route."""
    for name, role in (view.spec.get(field) or {}).items():
        yield name, ("spec", field, name), role


def derived_names(view: ObjectView) -> Iterator[str]:
    """The longest of the names that the operator derives from the name of an object; none without a name."""
    resource, name = resource_of(view.group, view.kind), view.metadata.get("name", "")
    if name and resource is not None:
        yield from (f"{name}{suffix}" for suffix in longest_suffixes(resource, view.body))


def name_fault(names: Iterable[str], check: Check = dns_1035_label) -> Faults:
    """The fault of `metadata.name` if one of the names that an operator derives from it is invalid."""
    for name in names:
        fault = check(name)
        if fault is not None:
            yield Fault(("metadata", "name"), f"invalid derived name: {fault.message}")
            return
