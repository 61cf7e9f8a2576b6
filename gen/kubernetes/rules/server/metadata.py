"""Metadata of objects and of pod templates.

From `apimachinery/pkg/api/validation/objectmeta.go` and `ValidatePodSpecificAnnotations` of
`pkg/apis/core/validation/validation.go`.
"""

from __future__ import annotations

from functools import cache

from gen.base import Route, names, regex
from gen.kubernetes.objects import Body
from gen.kubernetes.rules import Check, Fault, Faults, ObjectView, containers, server_rule, unknown_name
from gen.kubernetes.rules import value_checks as checks
from gen.kubernetes.rules.field_checks import FieldChecks, labels

_ANNOTATIONS_LIMIT = 256 << 10
"""Bytes of all keys and values together."""

_ANY_NAMES = names(
    "Role ClusterRole RoleBinding ClusterRoleBinding PodDisruptionBudget CertificateSigningRequest Event IPAddress"
)
"""Kinds with names that only need to be valid in a request path."""

_COUNTED_ANEW = {
    *("Pod", "PodTemplate", "ReplicationController", "Job", "CronJob", "Deployment", "ReplicaSet", "StatefulSet"),
    *("DaemonSet", "Ingress", "IngressClass", "NetworkPolicy", "EndpointSlice", "PodDisruptionBudget", "PriorityClass"),
    *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "CustomResourceDefinition"),
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"),
    *("FlowSchema", "PriorityLevelConfiguration", "DeviceClass", "ResourceSlice"),
}
"""Kinds for which the API server always sets `generation` (`PrepareForCreate` of `pkg/registry/*/*/strategy.go`)."""

_FINALIZERS = {"kubernetes", "orphan", "foregroundDeletion"}
"""Finalizers without a domain."""

_ANY_FINALIZERS = {
    *("PodDisruptionBudget", "CustomResourceDefinition", "RuntimeClass", "Event", "Lease", "APIService"),
    *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"),
}
"""Kinds of Kubernetes for which the server does not require a domain: those validated by apimachinery alone."""

_NAMED_BY_CONTENT = {"APIService", "CustomResourceDefinition", "IPAddress"}
"""Kinds with a determined name, so that the server cannot generate one."""

_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_INT32 = regex(r"0|-?[0-9]{1,10}")
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP = ("seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/")


def _of_owner(field: str) -> Check:
    hint = f"set the `{field}` of the owner, or remove the reference"
    return lambda value: None if value else Fault((), "must not be empty", hint)


_owner_version = _of_owner("apiVersion")


_METADATA: dict[str, Check] = {
    "finalizers.*": checks.qualified_name,
    "ownerReferences.*.apiVersion": lambda value: _owner_version(value.rpartition("/")[2]),
    **{f"ownerReferences.*.{field}": _of_owner(field) for field in ("kind", "name", "uid")},
}


@server_rule(
    "metadata",
    remedy="Use lower-case letters, digits and `-` in names. A label value has at most 63 letters, digits, "
    "`-`, `_` and `.`.",
)
def metadata(view: ObjectView) -> Faults:
    """An object or a pod template has an invalid name, label, annotation, finalizer or owner."""
    route: Route = ("metadata",)
    own = view.metadata
    name = _name(view)
    if not own.get("name") and not own.get("generateName") and view.kind != "LimitRange":  # the server generates a name
        at = (*route, "name") if "name" in own else route
        yield Fault(at, "`name` is missing", "set `metadata.name`")
    if view.kind in _NAMED_BY_CONTENT and (own.get("generateName") or own.get("name")) != own.get("name"):
        message = f"not allowed: the name of this {view.kind} is fixed"
        yield Fault((*route, "generateName"), message, "remove `generateName`")
    counted = not view.is_custom and view.kind not in _COUNTED_ANEW
    yield from _table(name, counted).faults(own, route)
    if view.namespaced and own.get("namespace") and (fault := checks.dns_label(own["namespace"])) is not None:
        yield fault.at((*route, "namespace"))
    yield from _labels_and_annotations(own, route)
    if "finalizers" in own:
        any_word = view.is_custom or view.kind in _ANY_FINALIZERS
        yield from finalizers(own["finalizers"], (*route, "finalizers"), any_word=any_word)
    if view.kind == "Namespace" and not view.is_custom:
        yield from FieldChecks({"finalizers.*": checks.qualified_name}).faults(view.spec, ("spec",))
        yield from finalizers(view.spec.get("finalizers") or [], ("spec", "finalizers"), any_word=False)
    if "ownerReferences" in own:
        yield from _owners(own["ownerReferences"], (*route, "ownerReferences"))
    for at, template in view.templates:
        here = (*at, "metadata")
        of_pods = template.get("metadata") or {}
        yield from _labels_and_annotations(of_pods, here)
        if of_pods.get("annotations"):
            yield from _of_pods(of_pods["annotations"], template["spec"], (*here, "annotations"))


@cache
def _table(name: Check, counted: bool) -> FieldChecks:
    names: dict[str, Check] = {
        "name": checks.if_set(name),
        "generateName": checks.if_set(lambda value: name(checks.with_suffix(value))),
    }
    return FieldChecks({**names, **_METADATA, **({"generation": checks.at_least(0)} if counted else {})})


def _name(view: ObjectView) -> Check:
    if view.kind in _ANY_NAMES and not view.is_custom:
        return checks.path_segment
    if view.kind == "Namespace":
        return checks.dns_label
    if view.kind != "Service" or view.is_custom:
        return checks.dns_name
    return checks.dns_label if view.minor >= checks.ANY_SERVICE_NAME_SINCE else checks.dns_1035_label


_annotation_key = checks.lower_case(checks.qualified_name)


def _labels_and_annotations(found: Body, route: Route) -> Faults:
    yield from labels(found.get("labels"), (*route, "labels"))
    annotations = found.get("annotations")
    if not annotations:
        return
    for key in annotations:
        fault = _annotation_key(key)
        if fault is not None:
            yield fault.at((*route, "annotations", key))
    size = sum(len(text.encode()) for pair in annotations.items() for text in pair)
    if size > _ANNOTATIONS_LIMIT:
        message = f"the annotations have {size} bytes; the limit is {_ANNOTATIONS_LIMIT}"
        hint = f"shorten them by {size - _ANNOTATIONS_LIMIT} bytes, or move long texts to a `ConfigMap`"
        yield Fault((*route, "annotations"), message, hint)


def finalizers(found: list[str], route: Route, *, any_word: bool) -> Faults:
    for index, name in enumerate(found):
        if "/" not in name and name not in _FINALIZERS and not any_word:
            hint = "prefix it with a domain, such as `example.com/name`"
            yield Fault((*route, index), f"`{name}` is not a valid finalizer", hint)
        elif {name, *found} >= {"orphan", "foregroundDeletion"} and name == "orphan":
            yield Fault(
                (*route, index), "`orphan` and `foregroundDeletion` are mutually exclusive", "keep one of the two"
            )


def _owners(found: list[Body], route: Route) -> Faults:
    controllers = [index for index, owner in enumerate(found) if owner.get("controller")]
    for index in controllers[1:]:
        yield Fault(
            (*route, index, "controller"),
            "an object can have only one controller",
            "keep `controller: true` for one owner",
        )
    for index, owner in enumerate(found):
        if (owner["apiVersion"], owner["kind"]) == ("v1", "Event"):
            yield Fault((*route, index, "kind"), "an event cannot be an owner", "remove the reference")


def _of_pods(annotations: Body, pod: Body, route: Route) -> Faults:
    names = {container["name"] for _, container in containers(pod, ())}
    for key, value in annotations.items():
        if key == _DELETION_COST and not (_INT32.fullmatch(value) and -(2**31) <= int(value) < 2**31):
            hint = "use an integer such as `-5` or `100`, without `+` or leading zeros"
            yield Fault((*route, key), f"`{value}` is not a 32-bit integer", hint)
        elif key.startswith(_APPARMOR):
            container = key.removeprefix(_APPARMOR)
            if container not in names:
                message = f"no container is named `{container}`"
                yield unknown_name(message, container, names, "remove the annotation").at((*route, key))
            if value not in {"", "runtime/default", "unconfined"} and not value.startswith("localhost/"):
                hint = "use `runtime/default`, `unconfined`, or `localhost/` and the name of a profile"
                yield Fault((*route, key), f"`{value}` is not a valid AppArmor profile", hint)
        elif key.startswith(_SECCOMP) and value not in {"runtime/default", "docker/default", "unconfined"}:
            path = value.removeprefix("localhost/")
            if path == value or path.startswith("/") or ".." in path.split("/"):
                hint = "remove the annotation, and set `seccompProfile` in the `securityContext`"
                yield Fault((*route, key), f"`{value}` is not a valid seccomp profile", hint)
