"""What the rules of several operators have in common: replica maps and the names that operators make of a name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.rules.fault import Fault
from gen.rules.value_checks import dns_1035_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

MULTIKUEUE: Final = "kueue.x-k8s.io/multikueue"


def replicas(view: ObjectView, field: str) -> Iterator[tuple[str, Route, Body]]:
    """Every role of a replica map that is a mapping, with its name and route."""
    for name, role in (view.spec.get(field) or {}).items():
        yield name, ("spec", field, name), role


def name_fault(view: ObjectView, *derived: str) -> Faults:
    """A fault of `metadata.name` when one of the names that an operator makes of it cannot be."""
    name = view.metadata.get("name", "")
    for longer in derived:
        fault = dns_1035_label(longer)
        if name and fault is not None:
            yield Fault(("metadata", "name"), f"it makes the name `{longer[:80]}`, and {fault.message}")
            return


def last(count: int) -> int:
    """The highest index of so many pods."""
    return max(count - 1, 0)
