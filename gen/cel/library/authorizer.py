"""The authorizer of policies: only a cluster knows what a user may do.

From `apiserver/pkg/cel/library/authz.go`.
"""

from __future__ import annotations

from typing import Any

from gen.cel.errors import NotEvaluatedError
from gen.cel.functions import since

_AUTHORIZER = "kubernetes.authorization.Authorizer"
_PATH = "kubernetes.authorization.PathCheck"
_GROUP = "kubernetes.authorization.GroupCheck"
_RESOURCE = "kubernetes.authorization.ResourceCheck"
_DECISION = "kubernetes.authorization.Decision"


@since(27)(
    f"{_AUTHORIZER}::path(string) {_PATH}",
    f"{_PATH}::check(string) {_DECISION}",
    f"{_AUTHORIZER}::group(string) {_GROUP}",
    f"{_AUTHORIZER}::serviceAccount(string, string) {_AUTHORIZER}",
    f"{_GROUP}::resource(string) {_RESOURCE}",
    *(f"{_RESOURCE}::{name}(string) {_RESOURCE}" for name in ("subresource", "namespace", "name")),
    *(f"{_RESOURCE}::{name}(string) {_RESOURCE}" for name in ("fieldSelector", "labelSelector")),
    f"{_RESOURCE}::check(string) {_DECISION}",
    f"{_DECISION}::errored() bool",
    f"{_DECISION}::error() string",
    f"{_DECISION}::allowed() bool",
    f"{_DECISION}::reason() string",
)
def _authorization(*_: Any) -> Any:
    raise NotEvaluatedError("the permissions of the user are only known in a cluster")
