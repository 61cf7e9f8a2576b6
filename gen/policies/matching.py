"""Which requests a policy or a binding matches.

From `apiserver/pkg/admission/plugin/policy/matching/matching.go` and `predicates/` of its webhooks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gen.cel.errors import NotEvaluatedError
from gen.resources.selectors import keys_of, selects

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gen.kubernetes import Body
    from gen.policies.request import Request

NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The label that every namespace has."""
_OWN_GROUP: Final = "admissionregistration.k8s.io"
_EXEMPT: Final = frozenset(
    f"{kind}{what}" for kind in ("Validating", "Mutating") for what in ("AdmissionPolicy", "AdmissionPolicyBinding")
)


def is_exempt(request: Request) -> bool:
    """Whether no policy applies: they do not apply to policies."""
    return request.group == _OWN_GROUP and request.kind in _EXEMPT


def matches(matched: Body | None, request: Request, namespaces: Mapping[str, Body]) -> bool:
    """Whether constraints match a request. NotEvaluatedError if only a cluster knows."""
    if not matched:
        return True
    object_selector = matched.get("objectSelector")
    if object_selector and not any(selects(object_selector, _labels(body)) for body in _bodies(request)):
        return False
    exact = matched.get("matchPolicy") == "Exact"
    if _any_rule(matched.get("excludeResourceRules") or (), request, exact=exact):
        return False
    rules = matched.get("resourceRules") or ()
    if rules and not _any_rule(rules, request, exact=exact):
        return False
    return _selects_namespace(matched.get("namespaceSelector"), request, namespaces)


def _bodies(request: Request) -> Iterable[Body]:
    return [body for body in (request.body, request.old) if body is not None]


def _labels(body: Body) -> Mapping[str, Any]:
    return (body.get("metadata") or {}).get("labels") or {}


def _selects_namespace(selector: Body | None, request: Request, namespaces: Mapping[str, Body]) -> bool:
    if not selector:
        return True
    if request.kind == "Namespace" and not request.group:
        return selects(selector, {**_labels(request.body), NAME_LABEL: request.name})
    if not request.namespace:
        return True
    known = namespaces.get(request.namespace)
    if known is None and keys_of(selector) - {NAME_LABEL}:
        raise NotEvaluatedError(f"the labels of namespace `{request.namespace}` are only known in a cluster")
    return selects(selector, {**_labels(known or {}), NAME_LABEL: request.namespace})


def _any_rule(rules: Iterable[Body], request: Request, *, exact: bool) -> bool:
    rules = tuple(rules)
    if any(_rule(rule, request, versions=True) for rule in rules):
        return True
    if not exact and any(_rule(rule, request, versions=False) for rule in rules):
        what = f"the rule is for another version than `{request.version}`, to which only a server converts objects"
        raise NotEvaluatedError(what)
    return False


def _rule(rule: Body, request: Request, *, versions: bool) -> bool:
    scope = rule.get("scope") or "*"
    cluster = not request.namespace or request.kind == "Namespace"
    names = rule.get("resourceNames") or ()
    return (
        _has(rule.get("operations"), request.operation)
        and _has(rule.get("apiGroups"), request.group)
        and (not versions or _has(rule.get("apiVersions"), request.version))
        and any(_resource(one, request.resource) for one in rule.get("resources") or ())
        and (scope == "*" or (scope == "Cluster") is cluster)
        and (not names or request.name in names)
    )


def _has(values: Iterable[str] | None, value: str) -> bool:
    found = tuple(values or ())
    return "*" in found or value in found


def _resource(pattern: str, resource: str) -> bool:
    name, _, sub = pattern.partition("/")
    return name in {"*", resource} and sub in {"", "*"}
