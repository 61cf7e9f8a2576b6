"""Values that a cluster changes: the engine always shows a difference, or its next apply is rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.diagnostics import Severity
from gen.kubernetes import at, nulls
from gen.quantity import canonical
from gen.resources.jobset import JOBSET
from gen.resources.volcano import VOLCANO_JOB
from gen.rules.fault import Fault
from gen.rules.field_checks import find
from gen.rules.rule import gitops

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_FILLED: Final = {
    JOBSET.key: (
        ((), ("successPolicy",)),
        ((), ("startupPolicy",)),
        ((), ("network", "enableDNSHostnames")),
        ((), ("network", "publishNotReadyAddresses")),
        (("replicatedJobs", "*", "template", "spec"), ("completionMode",)),
        (("replicatedJobs", "*", "template", "spec"), ("template", "spec", "restartPolicy")),
    ),
    VOLCANO_JOB.key: (
        *(((), (field,)) for field in ("queue", "schedulerName", "maxRetry", "minAvailable")),
        *((("tasks", "*"), (field,)) for field in ("name", "minAvailable", "maxRetry")),
    ),
}
"""Fields that webhooks set: the place below `spec`, and the field there.

JobSet `pkg/webhooks/jobset_webhook.go`; Volcano `pkg/webhooks/admission/jobs/mutate`.
"""


@gitops(
    "unwritten-default",
    *_FILLED,
    reason="The webhook sets the field when the object is created. A later apply without it changes an immutable "
    "list, and is rejected.",
    remedy="Set the defaults explicitly.",
    severity=Severity.WARNING,
)
def unwritten_default(view: ObjectView) -> Faults:
    """A JobSet or a Volcano job lacks a field that its webhook sets inside a list."""
    missing: list[Route] = []
    for place, field in _FILLED[view.group, view.kind]:
        for route, holder in find(view.spec, ("spec",), place):
            if at(holder, *field) is None:
                missing.append((*route, *field))
    if missing:
        names = dict.fromkeys(f"`{route[-1]}`" for route in missing)
        yield Fault(missing[0], f"the webhook would set {', '.join(names)}")


@gitops(
    "canonical-amounts",
    reason="A custom resource keeps the text, but the operator writes the shortest form to pods and to parts of "
    "the object, so the engine always shows a difference (argo-cd docs/faq.md).",
    remedy="Use the canonical form.",
    severity=Severity.WARNING,
)
def canonical_amounts(view: ObjectView) -> Faults:
    """A quantity in a custom resource is not in the API server's canonical form."""
    if not view.is_custom:
        return
    for route, container in view.containers:
        for kind in ("limits", "requests"):
            for name, amount in ((container.get("resources") or {}).get(kind) or {}).items():
                if isinstance(amount, str) and (short := _canonical(amount)) != amount:
                    yield Fault((*route, "resources", kind, name), f"`{amount[:40]}` becomes `{short}`")


def _canonical(amount: str) -> str:
    try:
        return canonical(amount)
    except ValueError:
        return amount


@gitops(
    "server-fields",
    reason="The API server sets these fields. In Git they are always different, or out of date.",
    remedy="Remove it.",
    severity=Severity.WARNING,
)
def server_fields(view: ObjectView) -> Faults:
    """A field is set that only the API server writes, or a field is null."""
    if "status" in view.written:
        yield Fault(("status",), "`status` is set by the operator")
    metadata = view.written.get("metadata") or {}
    for field in ("creationTimestamp", "managedFields", "resourceVersion", "uid"):
        if field in metadata:
            yield Fault(("metadata", field), f"`{field}` is set by the API server")
    if view.body is not view.written:
        yield from (Fault(route, "null field") for route in nulls(view.written))
