"""Values that a cluster changes: an engine sees a difference for ever, or its next apply is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.diagnostics import Severity
from gen.kubernetes import at
from gen.quantity import canonical
from gen.resources.jobset import JOBSET
from gen.resources.volcano import VOLCANO_JOB
from gen.rules.fault import Fault
from gen.rules.field_checks import find
from gen.rules.rule import gitops

if TYPE_CHECKING:
    from collections.abc import Iterator

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
"""What the webhook of a kind fills in: where below `spec`, and the field there.

JobSet `pkg/webhooks/jobset_webhook.go`; Volcano `pkg/webhooks/admission/jobs/mutate`.
"""


@gitops(
    "unwritten-default",
    *_FILLED,
    reason="The webhook fills it in when the object is created. An apply that sends the lists without it changes what "
    "must not change, and is refused.",
    remedy="Write the defaults out.",
    severity=Severity.WARNING,
)
def unwritten_default(view: ObjectView) -> Faults:
    """What a webhook would fill in inside a JobSet or a Volcano job is written out."""
    missing: list[Route] = []
    for place, field in _FILLED[view.group, view.kind]:
        for route, holder in find(view.spec, ("spec",), place):
            if at(holder, *field) is None:
                missing.append((*route, *field))
    if missing:
        names = dict.fromkeys(f"`{route[-1]}`" for route in missing)
        yield Fault(missing[0], f"the operator fills in {', '.join(names)}")


@gitops(
    "canonical-amounts",
    reason="A custom resource keeps the text, while the operator writes amounts in their shortest form to the pods and "
    "some to the object: an engine then sees a difference for ever (argo-cd docs/faq.md).",
    remedy="Write it as the server would.",
    severity=Severity.WARNING,
)
def canonical_amounts(view: ObjectView) -> Faults:
    """In custom resources amounts have the form that the server would write."""
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
    reason="The server writes these. In Git they are a difference for ever, or a text of the past.",
    remedy="Remove it.",
    severity=Severity.WARNING,
)
def server_fields(view: ObjectView) -> Faults:
    """Nothing is written that only a server writes, and no field is null."""
    if "status" in view.written:
        yield Fault(("status",), "`status` is the operator's")
    metadata = view.written.get("metadata") or {}
    for field in ("creationTimestamp", "managedFields", "resourceVersion", "uid"):
        if field in metadata:
            yield Fault(("metadata", field), f"`{field}` is the server's")
    if view.body is not view.written:
        yield from (Fault(route, "this is null") for route in _nulls(view.written, ()))


def _nulls(value: Any, route: Route) -> Iterator[Route]:
    if value is None:
        yield route
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield from _nulls(inner, (*route, key))
