"""Records that controllers write: leases, events and revisions.

From `ValidateLeaseSpec` of `pkg/apis/coordination/validation/validation.go`, `legacyValidateEvent` of
`pkg/apis/core/validation/events.go` and `ValidateControllerRevisionCreate` of `pkg/apis/apps/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks
from gen.rules.name_checks import dns_label
from gen.rules.rule import server
from gen.rules.value_checks import at_least, if_set

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView


def _object(value: Any) -> Fault | None:
    hint = "write the fields of the revision as a mapping"
    return None if isinstance(value, dict) else Fault((), "expected a mapping", hint)


_TABLES = {
    "Lease": FieldChecks({"spec.leaseDurationSeconds": at_least(1), "spec.leaseTransitions": at_least(0)}),
    "Event": FieldChecks({"involvedObject.namespace": if_set(dns_label)}),
    "ControllerRevision": FieldChecks({"revision": at_least(0), "data": _object}),
}


@server(
    "records",
    "coordination.k8s.io/Lease",
    "Event",
    "apps/ControllerRevision",
    remedy="Use values that a controller writes.",
)
def records(view: ObjectView) -> Faults:
    """A lease has an invalid duration, an event is about an object of another namespace, or a revision has no data."""
    yield from _TABLES[view.kind].faults(view.body, ())
    if view.kind == "ControllerRevision" and "data" not in view.body:
        yield Fault(("data",), "`data` is missing", "add `data` with the fields of the revision")
    elif view.kind == "Event" and not view.body.get("eventTime"):
        own, other = view.metadata.get("namespace"), (view.body.get("involvedObject") or {}).get("namespace")
        if own and own != (other or "default"):
            at = ("involvedObject", "namespace")
            yield Fault(at, f"`{other or ''}` is not the namespace of the event", f"use `{own}`")
