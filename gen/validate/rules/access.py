"""Roles and who has them.

From `ValidatePolicyRule`, `ValidateRoleBinding` and `ValidateRoleBindingSubject` of
`pkg/apis/rbac/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.validate.forms import dns_name, not_empty, one_of
from gen.validate.rule import server
from gen.validate.rules.autoscaling import path_segment
from gen.validate.selectors import selector

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.validate.tables import Faults
    from gen.validate.view import View

_GROUP = "rbac.authorization.k8s.io"
_SUBJECTS = {"ServiceAccount": "", "User": _GROUP, "Group": _GROUP}


@server(
    "access",
    "rbac.authorization.k8s.io/Role",
    "rbac.authorization.k8s.io/ClusterRole",
    "rbac.authorization.k8s.io/RoleBinding",
    "rbac.authorization.k8s.io/ClusterRoleBinding",
    remedy="Add the missing verbs, groups or resources, or correct the kind.",
)
def access(view: View) -> Faults:
    """Roles grant verbs on resources, and bindings name a role and subjects of known kinds."""
    if view.group != _GROUP:
        return
    body = view.body
    if view.kind in {"Role", "ClusterRole"}:
        for index, rule in enumerate(body.get("rules") or ()):
            yield from _rule(rule, ("rules", index), namespaced=view.kind == "Role")
        for index, found in enumerate((body.get("aggregationRule") or {}).get("clusterRoleSelectors") or ()):
            yield from selector(found, ("aggregationRule", "clusterRoleSelectors", index))
    elif view.kind in {"RoleBinding", "ClusterRoleBinding"}:
        yield from _reference(body["roleRef"], ("roleRef",), namespaced=view.kind == "RoleBinding")
        for index, subject in enumerate(body.get("subjects") or ()):
            yield from _subject(subject, ("subjects", index))


def _rule(rule: Body, route: Route, *, namespaced: bool) -> Faults:
    if not rule.get("verbs"):
        yield (*route, "verbs"), "needs at least one verb"
    if rule.get("nonResourceURLs"):
        if namespaced:
            yield (*route, "nonResourceURLs"), "is for cluster roles"
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            yield (*route, "nonResourceURLs"), "excludes resources"
        return
    for field in ("apiGroups", "resources"):
        if not rule.get(field):
            yield (*route, field), f"needs at least one of the `{field}`"


def _reference(reference: Body, route: Route, *, namespaced: bool) -> Faults:
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    checks = {"apiGroup": one_of(_GROUP), "kind": one_of(*kinds), "name": path_segment}
    for field, check in checks.items():
        fault = check(reference.get(field, ""))
        if fault is not None and not (field == "apiGroup" and not reference.get(field)):
            yield (*route, field), fault


def _subject(subject: Body, route: Route) -> Faults:
    kind = subject["kind"]
    if kind not in _SUBJECTS:
        yield (*route, "kind"), one_of(*_SUBJECTS)(kind) or ""
    if not_empty(subject["name"]):
        yield (*route, "name"), "has no name"
    elif kind == "ServiceAccount":
        fault = dns_name(subject["name"])
        if fault is not None:
            yield (*route, "name"), fault
        if "namespace" not in subject:
            yield (*route, "namespace"), "a service account has a namespace"
    if kind in _SUBJECTS and subject.get("apiGroup", "") not in {"", _SUBJECTS[kind]}:
        yield (*route, "apiGroup"), f"of a `{kind}` it is `{_SUBJECTS[kind]}`"
