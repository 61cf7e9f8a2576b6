"""Configurations of mutating and validating webhooks.

From `validateMutatingWebhookConfiguration` and `validateWebhook` of
`pkg/apis/admissionregistration/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.rules.fault import Fault
from gen.rules.field_checks import FieldChecks, duplicates
from gen.rules.name_checks import dns_1035_label, dns_name
from gen.rules.rule import server
from gen.rules.server.admission_rules import REQUEST_NAMES, conditions, request_rules, selectors
from gen.rules.value_checks import between, both, one_of
from gen.rules.webhook_checks import client

if TYPE_CHECKING:
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_PARTS = 3
_REVIEWS: Final = ("v1", "v1beta1")


def _three_parts(value: Any) -> Fault | None:
    if value.count(".") + 1 >= _PARTS:
        return None
    hint = f"add the domain of its owner, such as `{value or 'hook'}.example.com`"
    return Fault((), f"`{value}` has fewer than three parts", hint)


def _reviews(value: Any) -> Fault | None:
    if not set(value) & set(_REVIEWS):
        return Fault((), "no version that the API server supports", "add `v1`")
    if len(set(value)) < len(value):
        return Fault((), "duplicate version", "list each version once")
    return next((fault for version in value if (fault := dns_1035_label(version)) is not None), None)


_HOOK = FieldChecks(
    {
        "name": both(dns_name, _three_parts),
        "sideEffects": one_of("None", "NoneOnDryRun"),
        "timeoutSeconds": between(1, 30),
        "failurePolicy": one_of("Ignore", "Fail"),
        "matchPolicy": one_of("Exact", "Equivalent"),
        "reinvocationPolicy": one_of("Never", "IfNeeded"),
        "admissionReviewVersions": _reviews,
    }
)


@server(
    "webhooks",
    "admissionregistration.k8s.io/MutatingWebhookConfiguration",
    "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
    remedy="Name webhooks `<name>.<domain>`, and set their client, requests and side effects.",
)
def webhooks(view: ObjectView) -> Faults:
    """A webhook has an invalid name, client, rule, condition or policy."""
    found = view.body.get("webhooks") or []
    for at, (name,) in duplicates(found, ("webhooks",), "name"):
        yield Fault((*at, "name"), f"duplicate webhook `{name}`", "rename one of the two")
    for index, hook in enumerate(found):
        route = ("webhooks", index)
        yield from _HOOK.faults(hook, route)
        yield from client(hook.get("clientConfig") or {}, (*route, "clientConfig"))
        yield from request_rules(hook.get("rules") or [], (*route, "rules"))
        yield from selectors(hook, route)
        yield from conditions(hook.get("matchConditions") or [], (*route, "matchConditions"), REQUEST_NAMES, view.minor)
