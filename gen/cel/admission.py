"""Variables of admission policies and of match conditions, with their types.

From `BuildRequestType` and `BuildNamespaceType` of `apiserver/pkg/admission/plugin/cel/compile.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gen.cel.environment import Environment
from gen.cel.types import BOOL, DYN, INT, STRING, TIMESTAMP, Type, list_of, map_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

_STRINGS: Final = list_of(STRING)
_REQUEST: Final = Type("kubernetes.AdmissionRequest")
_NAMESPACE: Final = Type("kubernetes.Namespace")
_KIND: Final = Type("kubernetes.GroupVersionKind")
_RESOURCE: Final = Type("kubernetes.GroupVersionResource")
VARIABLES: Final = "kubernetes.variables"
MESSAGES: Final[Mapping[str, Mapping[str, Type]]] = {
    _KIND.name: {"group": STRING, "version": STRING, "kind": STRING},
    _RESOURCE.name: {"group": STRING, "version": STRING, "resource": STRING},
    "kubernetes.UserInfo": {
        "username": STRING,
        "uid": STRING,
        "groups": _STRINGS,
        "extra": map_of(STRING, _STRINGS),
    },
    _REQUEST.name: {
        **dict.fromkeys(("kind", "requestKind"), _KIND),
        **dict.fromkeys(("resource", "requestResource"), _RESOURCE),
        **dict.fromkeys(("subResource", "requestSubResource", "name", "namespace", "operation"), STRING),
        "userInfo": Type("kubernetes.UserInfo"),
        "dryRun": BOOL,
        "options": DYN,
    },
    _NAMESPACE.name: {
        "metadata": Type("kubernetes.NamespaceMetadata"),
        "spec": Type("kubernetes.NamespaceSpec"),
        "status": Type("kubernetes.NamespaceStatus"),
    },
    "kubernetes.NamespaceSpec": {"finalizers": _STRINGS},
    "kubernetes.NamespaceStatus": {"conditions": list_of(Type("kubernetes.NamespaceCondition")), "phase": STRING},
    "kubernetes.NamespaceCondition": {
        **dict.fromkeys(("status", "type", "message", "reason"), STRING),
        "lastTransitionTime": TIMESTAMP,
    },
    "kubernetes.NamespaceMetadata": {
        **dict.fromkeys(("name", "generateName", "namespace", "UID", "resourceVersion"), STRING),
        **dict.fromkeys(("labels", "annotations"), map_of(STRING, STRING)),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), TIMESTAMP),
        **dict.fromkeys(("deletionGracePeriodSeconds", "generation"), INT),
        "finalizers": _STRINGS,
    },
}
_ROOTS: Final = {
    "object": DYN,
    "oldObject": DYN,
    "params": DYN,
    "request": _REQUEST,
    "namespaceObject": _NAMESPACE,
    "authorizer": Type("kubernetes.authorization.Authorizer"),
    "authorizer.requestResource": Type("kubernetes.authorization.ResourceCheck"),
    "variables": Type(VARIABLES),
}


def admission_environment(
    names: AbstractSet[str], variables: Mapping[str, Type] | None = None, minor: int = 0
) -> Environment:
    """The environment with some of the variables; any other name is `dyn`. `variables` are those of a policy."""
    known = names | ({"authorizer.requestResource"} if "authorizer" in names else set())
    roots = {name: _ROOTS.get(name, DYN) for name in known}
    return Environment(roots, {**MESSAGES, VARIABLES: variables or {}}, minor=minor)
