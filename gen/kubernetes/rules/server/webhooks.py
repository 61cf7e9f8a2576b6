"""Webhooks: admission, and API services that other servers provide.

From `pkg/apis/admissionregistration/validation/validation.go`, `apiserver/pkg/util/webhook/validation.go`, and
`ValidateAPIService` of `kube-aggregator/pkg/apis/apiregistration/validation/validation.go`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Set as AbstractSet
from typing import Any, Final
from urllib.parse import urlsplit

from gen.base import Route
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, placed, server_rule
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.cel_syntax import syntax_fault
from gen.kubernetes.rules.field_checks import FieldChecks, filled, selector, unique


def client(config: Body, route: Route) -> Faults:
    """Faults of the `clientConfig` of a webhook."""
    if ("url" in config) == ("service" in config):
        yield Fault(route, "exactly one of `url` and `service` is required", "keep one of the two")
    yield from filled(config.get("service"), (*route, "service"), "name", "namespace")
    yield from _CLIENT.faults(config, route)


def _url(value: str) -> Fault | None:
    try:
        parts = urlsplit(value)
        fits = parts.scheme == "https" and bool(parts.netloc) and not (parts.username or parts.query or parts.fragment)
    except ValueError:
        fits = False
    hint = "use `https://`, a host and a path, without user, query and fragment"
    return None if fits else Fault((), f"`{value[:60]}` is not a valid URL of a webhook", hint)


def _path(value: str) -> Fault | None:
    steps = value.removeprefix("/").removesuffix("/").split("/") if value != "/" else []
    if value.startswith("/") and all(step and checks.dns_name(step) is None for step in steps):
        return None
    hint = "use `/` and lower-case letters, digits, `-` and `.` between single `/`"
    return Fault((), f"`{value}` is not a valid path of a webhook", hint)


def _base64(value: str) -> Fault | None:
    try:
        base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return Fault((), "not valid base64", "encode the PEM certificates with `base64`")
    return None


_CLIENT: Final = FieldChecks(
    {
        "url": _url,
        "service.port": checks.port,
        "service.path": checks.if_set(_path),
        "caBundle": checks.if_set(_base64),
    }
)
ALL = "*"
_RULE: Final = FieldChecks(
    {
        "operations.*": checks.one_of(ALL, "CREATE", "UPDATE", "DELETE", "CONNECT"),
        "apiVersions.*": checks.not_empty,
        "resourceNames.*": checks.if_set(checks.path_segment),
        "scope": checks.one_of(ALL, "Cluster", "Namespaced"),
    }
)
_EXAMPLES: Final = {
    "operations": "`CREATE`",
    "apiGroups": '`apps`, or `""` for the core group',
    "apiVersions": "`v1`",
    "resources": "`pods`",
}
_MAX_CONDITIONS = 64
REQUEST_NAMES: Final = frozenset({"object", "oldObject", "request", "authorizer"})
"""Variables of conditions."""


def selectors(holder: Body, route: Route) -> Faults:
    for field in ("namespaceSelector", "objectSelector"):
        yield from selector(holder.get(field), (*route, field))


def request_rules(rules: list[Body], route: Route) -> Faults:
    """Faults of the rules that select requests."""
    for index, rule in enumerate(rules):
        at = (*route, index)
        yield from _lists(rule, at)
        yield from _RULE.faults(rule, at)
        yield from _resources(rule.get("resources") or [], (*at, "resources"))
        yield from _twice(rule.get("resourceNames") or [], (*at, "resourceNames"))


def _lists(rule: Body, at: Route) -> Faults:
    for field, example in _EXAMPLES.items():
        values = rule.get(field) or []
        if not values:
            yield Fault((*at, field), f"at least one of `{field}` is required", f"add one, such as {example}")
        if ALL in values and len(values) > 1 and field != "resources":
            yield Fault((*at, field), "`*` already includes all others", "keep only `*`, or remove it")


def _twice(values: list[str], route: Route) -> Faults:
    for number, value in enumerate(values):
        if value in values[:number]:
            yield Fault((*route, number), f"duplicate entry `{value}`", "remove one of the two")


def _resources(found: list[str], route: Route) -> Faults:
    pairs = [name.partition("/")[::2] for name in found]
    for number, (name, (resource, sub)) in enumerate(zip(found, pairs, strict=True)):
        others = [pair for other, pair in zip(found, pairs, strict=True) if other != name]
        covers = (
            (name == "*/*" and len(found) > 1)
            or (resource == ALL and sub and any(other[1] == sub for other in others))
            or (sub == ALL and any(other[0] == resource and other[1] for other in others))
            or (name == ALL and any(not other[1] for other in others))
        )
        if not name:
            yield Fault((*route, number), "must not be empty", "write a resource, such as `pods`")
        elif covers:
            hint = "remove the entries that it includes"
            yield Fault((*route, number), f"`{name}` already includes other entries", hint)


def conditions(found: list[Body], route: Route, names: AbstractSet[str], minor: int) -> Faults:
    """Faults of match conditions. Their expressions may use some names."""
    if len(found) > _MAX_CONDITIONS:
        message = f"more than {_MAX_CONDITIONS} conditions"
        yield Fault(route, message, f"remove {len(found) - _MAX_CONDITIONS} of them, or join expressions with `&&`")
    for index, condition in enumerate(found):
        yield from placed(checks.qualified_name(condition.get("name", "")), (*route, index, "name"))
        if condition.get("name") in [other.get("name") for other in found[:index]]:
            yield Fault((*route, index, "name"), f"duplicate condition `{condition.get('name')}`", "rename one")
        fault = syntax_fault(condition.get("expression", ""), names, minor=minor)
        yield from placed(fault, (*route, index, "expression"))


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
    return next((fault for version in value if (fault := checks.dns_1035_label(version)) is not None), None)


_HOOK = FieldChecks(
    {
        "name": checks.both(checks.dns_name, _three_parts),
        "sideEffects": checks.one_of("None", "NoneOnDryRun"),
        "timeoutSeconds": checks.between(1, 30),
        "failurePolicy": checks.one_of("Ignore", "Fail"),
        "matchPolicy": checks.one_of("Exact", "Equivalent"),
        "reinvocationPolicy": checks.one_of("Never", "IfNeeded"),
        "admissionReviewVersions": _reviews,
    }
)


@server_rule(
    "webhooks",
    "admissionregistration.k8s.io/MutatingWebhookConfiguration",
    "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
    remedy="Name webhooks `<name>.<domain>`, and set their client, requests and side effects.",
)
def webhooks(view: ObjectView) -> Faults:
    """A webhook has an invalid name, client, rule, condition or policy."""
    found = view.body.get("webhooks") or []
    yield from unique(found, ("webhooks",), "name", "webhook")
    for index, hook in enumerate(found):
        route = ("webhooks", index)
        yield from _HOOK.faults(hook, route)
        yield from client(hook.get("clientConfig") or {}, (*route, "clientConfig"))
        yield from request_rules(hook.get("rules") or [], (*route, "rules"))
        yield from selectors(hook, route)
        yield from conditions(hook.get("matchConditions") or [], (*route, "matchConditions"), REQUEST_NAMES, view.minor)


_SERVICE = FieldChecks(
    {
        "spec.group": checks.if_set(checks.dns_name),
        "spec.version": checks.dns_1035_label,
        "spec.groupPriorityMinimum": checks.between(1, 20000),
        "spec.versionPriority": checks.between(1, 1000),
        "spec.service.port": checks.port,
        "spec.caBundle": checks.if_set(_base64),
    }
)


@server_rule(
    "api-services",
    "apiregistration.k8s.io/APIService",
    remedy="Name it `<version>.<group>`, with priorities above 0 and a service.",
)
def api_services(view: ObjectView) -> Faults:
    """An API service is not named after its version and group, or has invalid priorities or an invalid service."""
    if "spec" not in view.body:
        return
    spec, at = view.spec, ("spec",)
    yield from _SERVICE.faults(view.body, ())
    expected = f"{spec.get('version', '')}.{spec.get('group', '')}"
    if not spec.get("version"):
        yield Fault((*at, "version"), "`version` is missing or empty", "add `version`, such as `v1`")
    elif view.metadata.get("name") != expected:
        message = f"the name is not its version and group, `{expected}`"
        yield Fault(("metadata", "name"), message, f"rename it to `{expected}`")
    if not spec.get("group") and spec.get("version") != "v1":
        yield Fault((*at, "group"), "`group` is missing or empty", "add `group`, such as `metrics.k8s.io`")
    yield from _service(spec)


def _service(spec: Body) -> Faults:
    at, service = ("spec",), spec.get("service")
    if service is None:
        for field in ("caBundle", "insecureSkipTLSVerify"):
            if spec.get(field):
                yield Fault((*at, field), "only allowed with `service`", f"add `service`, or remove `{field}`")
        return
    yield from filled(service, (*at, "service"), "namespace", "name")
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        hint = "remove `insecureSkipTLSVerify`"
        yield Fault((*at, "insecureSkipTLSVerify"), "not allowed with `caBundle`", hint)
