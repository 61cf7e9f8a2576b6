"""The request that an API server would get for an object."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NoReturn

from msgspec import Struct

from gen.kubernetes.cel.values import NotEvaluatedError
from gen.kubernetes.facts.api_versions import is_cluster_scoped
from gen.kubernetes.facts.server_defaults import as_stored
from gen.kubernetes.objects import Body

GENERATED = "xxxxx"
"""Stands for the five random characters of a generated name, which a server appends before it asks policies
(`apiserver/pkg/storage/names/generate.go`).
"""
_LONGEST_BASE = 58
_ES = ("s", "x", "z", "ch", "sh")


class Request(Struct, frozen=True, kw_only=True, dict=True):
    """The creation of an object, or its update if it has an old object."""

    group: str
    version: str
    kind: str
    resource: str
    namespace: str
    """Empty for objects that are in none."""
    name: str
    written: Body
    written_old: Body | None = None

    @cached_property
    def body(self) -> Body:
        """As policies see it: with the defaults of the server."""
        return _seen(self.written, self.namespace)

    @cached_property
    def old(self) -> Body | None:
        return _seen(self.written_old, self.namespace) if self.written_old is not None else None

    @property
    def operation(self) -> str:
        return "CREATE" if self.written_old is None else "UPDATE"


def request_for(body: Body, old: Body | None = None, *, namespaced: bool | None = None) -> Request:
    """The request that creates an object, or replaces an old one."""
    group, _, version = str(body["apiVersion"]).rpartition("/")
    metadata = body.get("metadata") or {}
    inside = not is_cluster_scoped(body["apiVersion"], body["kind"]) if namespaced is None else namespaced
    namespace = str(metadata.get("namespace") or "default") if inside else ""
    return Request(
        group=group,
        version=version,
        kind=str(body["kind"]),
        resource=plural(str(body["kind"])),
        namespace=namespace,
        name=str(metadata.get("name") or ""),
        written=body,
        written_old=old,
    )


def plural(kind: str) -> str:
    """The resource of a kind (`UnsafeGuessKindToResource` of `apimachinery/pkg/api/meta/restmapper.go`)."""
    name = kind.lower()
    if name == "endpoints":
        return name
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(_ES) else f"{name}s"


def unknown(what: str) -> Callable[[], NoReturn]:
    """A value that is only known in a cluster."""

    def read() -> NoReturn:
        raise NotEvaluatedError(what)

    return read


def _seen(body: Body, namespace: str) -> Body:
    """An object with the fields that the server adds to it before it asks policies."""
    stored = as_stored(body)
    metadata = dict(stored.get("metadata") or {})
    if namespace:
        metadata["namespace"] = namespace
    if metadata.get("generateName") and not metadata.get("name"):
        metadata["name"] = f"{metadata['generateName'][:_LONGEST_BASE]}{GENERATED}"
    for field in ("uid", "creationTimestamp", "managedFields"):
        metadata.setdefault(field, unknown(f"`metadata.{field}` is set by the server"))
    return {**stored, "metadata": metadata}


def variables_of(request: Request) -> dict[str, Any]:
    """The value of `request` in expressions."""
    kind = {"group": request.group, "version": request.version, "kind": request.kind}
    resource = {"group": request.group, "version": request.version, "resource": request.resource}
    return {
        "kind": kind,
        "resource": resource,
        "requestKind": kind,
        "requestResource": resource,
        "subResource": "",
        "requestSubResource": "",
        "name": request.name,
        "namespace": request.namespace,
        "operation": request.operation,
        "userInfo": unknown("the user of a request is only known in a cluster"),
        "dryRun": False,
        "options": unknown("the options of a request are only known in a cluster"),
    }
