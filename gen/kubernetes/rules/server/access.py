"""Roles and role bindings.

From `ValidatePolicyRule`, `ValidateRoleBinding` and `ValidateRoleBindingSubject` of
`pkg/apis/rbac/validation/validation.go`.
"""

from __future__ import annotations

from gen.base import Route
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Fault, Faults, ObjectView, not_one_of, placed, server_rule
from gen.kubernetes.rules.field_checks import selector
from gen.kubernetes.rules.value_checks import dns_name, one_of, path_segment

_GROUP = "rbac.authorization.k8s.io"
_SUBJECTS = {"ServiceAccount": "", "User": _GROUP, "Group": _GROUP}
_NEEDED = {
    "apiGroups": 'add the API group of the resources, such as `apps`, or `""` for the core group',
    "resources": "add the resources that the verbs apply to, such as `pods`",
}
"""Required fields of a rule about resources, each with a hint."""


@server_rule(
    "access",
    "rbac.authorization.k8s.io/Role",
    "rbac.authorization.k8s.io/ClusterRole",
    "rbac.authorization.k8s.io/RoleBinding",
    "rbac.authorization.k8s.io/ClusterRoleBinding",
    remedy="Add the missing verbs, groups or resources, or correct the kind.",
)
def access(view: ObjectView) -> Faults:
    """A role has rules without verbs, groups or resources, or a binding has an invalid role reference or subject."""
    body = view.body
    if view.kind in {"Role", "ClusterRole"}:
        for index, rule in enumerate(body.get("rules") or ()):
            yield from _rule(rule, ("rules", index), namespaced=view.kind == "Role")
        for index, found in enumerate((body.get("aggregationRule") or {}).get("clusterRoleSelectors") or ()):
            yield from selector(found, ("aggregationRule", "clusterRoleSelectors", index))
    else:
        yield from _reference(body["roleRef"], ("roleRef",), namespaced=view.kind == "RoleBinding")
        for index, subject in enumerate(body.get("subjects") or ()):
            yield from _subject(subject, ("subjects", index), namespaced=view.kind == "RoleBinding")


def _rule(rule: Body, route: Route, *, namespaced: bool) -> Faults:
    if not rule.get("verbs"):
        yield Fault((*route, "verbs"), "at least one verb is required", "add verbs, such as `get`, `list` and `watch`")
    if rule.get("nonResourceURLs"):
        if namespaced:
            hint = "remove the rule, or move it to a `ClusterRole`"
            yield Fault((*route, "nonResourceURLs"), "only cluster roles may have `nonResourceURLs`", hint)
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            yield Fault(
                (*route, "nonResourceURLs"),
                "`nonResourceURLs` and resources are mutually exclusive",
                "move it to a separate rule",
            )
        return
    for field, hint in _NEEDED.items():
        if not rule.get(field):
            yield Fault((*route, field), f"at least one of `{field}` is required", hint)


def _reference(reference: Body, route: Route, *, namespaced: bool) -> Faults:
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    checks = {"apiGroup": one_of(_GROUP), "kind": one_of(*kinds), "name": path_segment}
    for field, check in checks.items():
        fault = check(reference.get(field, ""))
        if fault is not None and not (field == "apiGroup" and not reference.get(field)):
            yield fault.at((*route, field))


def _subject(subject: Body, route: Route, *, namespaced: bool) -> Faults:
    """A service account of a RoleBinding without a namespace is one of the namespace of the binding."""
    kind = subject["kind"]
    if kind not in _SUBJECTS:
        yield not_one_of(kind, _SUBJECTS).at((*route, "kind"))
    if not subject["name"]:
        yield Fault((*route, "name"), "the subject has no name", f"set the name of the `{kind}`")
    elif kind == "ServiceAccount":
        yield from placed(dns_name(subject["name"]), (*route, "name"))
        if not subject.get("namespace") and not namespaced:
            hint = "add the `namespace` of the service account"
            yield Fault((*route, "namespace"), "a service account requires a namespace", hint)
    if kind in _SUBJECTS and subject.get("apiGroup", "") not in {"", _SUBJECTS[kind]}:
        message = f"`{subject['apiGroup']}` is not the API group of a `{kind}`"
        yield Fault((*route, "apiGroup"), message, "remove `apiGroup`")
