"""Roles and who has them.

From `ValidatePolicyRule`, `ValidateRoleBinding` and `ValidateRoleBindingSubject` of
`pkg/apis/rbac/validation/validation.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gen.rules.fault import Fault, not_one_of
from gen.rules.rule import server
from gen.rules.selectors import selector
from gen.rules.server.autoscaling import path_segment
from gen.rules.value_checks import dns_name, one_of

if TYPE_CHECKING:
    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.rules.fault import Faults
    from gen.rules.object_view import ObjectView

_GROUP = "rbac.authorization.k8s.io"
_SUBJECTS = {"ServiceAccount": "", "User": _GROUP, "Group": _GROUP}
_NEEDED = {
    "apiGroups": 'add the group of the resources, such as `apps`, or `""` for that of pods',
    "resources": "add what the verbs are for, such as `pods`",
}
"""Fields of a rule about resources, each with what to do when it is empty."""


@server(
    "access",
    "rbac.authorization.k8s.io/Role",
    "rbac.authorization.k8s.io/ClusterRole",
    "rbac.authorization.k8s.io/RoleBinding",
    "rbac.authorization.k8s.io/ClusterRoleBinding",
    remedy="Add the missing verbs, groups or resources, or correct the kind.",
)
def access(view: ObjectView) -> Faults:
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
        yield Fault((*route, "verbs"), "needs at least one verb", "add verbs, such as `get`, `list` and `watch`")
    if rule.get("nonResourceURLs"):
        if namespaced:
            hint = "remove the rule, or move it to a `ClusterRole`"
            yield Fault((*route, "nonResourceURLs"), "is for cluster roles", hint)
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            yield Fault((*route, "nonResourceURLs"), "excludes resources", "move it to a rule of its own")
        return
    for field, hint in _NEEDED.items():
        if not rule.get(field):
            yield Fault((*route, field), f"needs at least one of the `{field}`", hint)


def _reference(reference: Body, route: Route, *, namespaced: bool) -> Faults:
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    checks = {"apiGroup": one_of(_GROUP), "kind": one_of(*kinds), "name": path_segment}
    for field, check in checks.items():
        fault = check(reference.get(field, ""))
        if fault is not None and not (field == "apiGroup" and not reference.get(field)):
            yield fault.at((*route, field))


def _subject(subject: Body, route: Route) -> Faults:
    kind = subject["kind"]
    if kind not in _SUBJECTS:
        yield not_one_of(kind, _SUBJECTS).at((*route, "kind"))
    if not subject["name"]:
        yield Fault((*route, "name"), "has no name", f"write the name of the `{kind}`")
    elif kind == "ServiceAccount":
        fault = dns_name(subject["name"])
        if fault is not None:
            yield fault.at((*route, "name"))
        if "namespace" not in subject:
            hint = "add the `namespace` of the service account"
            yield Fault((*route, "namespace"), "a service account has a namespace", hint)
    if kind in _SUBJECTS and subject.get("apiGroup", "") not in {"", _SUBJECTS[kind]}:
        message = f"`{subject['apiGroup']}` is not the group of a `{kind}`"
        yield Fault((*route, "apiGroup"), message, "leave `apiGroup` out")
