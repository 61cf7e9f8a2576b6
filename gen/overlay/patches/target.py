"""Objects that a patch targets."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from gen.kubernetes import COMPONENT, at
from gen.regex import regex
from gen.resources import resource_of_object
from gen.resources.apps import DEPLOYMENT
from gen.resources.core import CONFIG_MAP, DATA, INGRESS, RESOURCE_QUOTA, SERVICE
from gen.resources.pods import pod_sets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gen.diagnostics import Route
    from gen.kubernetes import Body
    from gen.model.patches import Target

_BETWEEN = regex(r",(?![^()]*\))")
_SET = regex(r"\s*(?P<key>[^\s=!,()]+)\s+(?P<op>in|notin)\s+\((?P<values>[^()]*)\)\s*")
_EQUALITY = regex(r"\s*(?P<key>[^\s=!,()]+)\s*(?P<op>==?|!=)\s*(?P<value>[^\s=!,()]*)\s*")
_EXISTENCE = regex(r"\s*(?P<not>!?)\s*(?P<key>[^\s=!,()]+)\s*")


def fits(target: Target, body: Body, name: str) -> bool:
    """Whether the object matches every field of the target. `name` is its name without the run's hash."""
    group, _, version = body["apiVersion"].rpartition("/")
    metadata = body["metadata"]
    labels, annotations = metadata.get("labels"), metadata.get("annotations")
    return (
        _like(target.kind, body["kind"])
        and _like(target.pods.kind if target.pods is not None else None, body["kind"])
        and _like(target.name, name)
        and _like(target.group, group)
        and _like(target.version, version)
        and _like(target.namespace, metadata.get("namespace", ""))
        and selected(target.label_selector, labels if isinstance(labels, dict) else {})
        and selected(target.annotation_selector, annotations if isinstance(annotations, dict) else {})
    )


_STORAGE = frozenset(resource.kind for resource in (*DATA, RESOURCE_QUOTA))
BESIDE = _STORAGE | {resource.kind for resource in (CONFIG_MAP, DEPLOYMENT, INGRESS, SERVICE)}
"""Kinds of rendered objects that are not runs."""


def may_fit(target: Target, kind: str | None, namespace: str, job: str) -> bool:
    """Whether an object of a job that could not be built might match; `kind` is the kind of its run, if known."""
    if target.pods is not None:
        of_kind = kind is None or (_like(target.kind, kind) and _like(target.pods.kind, kind))
        return of_kind and _like(target.namespace, namespace) and _like(target.name, job)
    kinds = BESIDE | ({kind} if kind else set())
    if not any(_like(target.kind, candidate) for candidate in kinds) or not _like(target.namespace, namespace):
        return kind is None
    return target.kind is None or target.kind in BESIDE or _like(target.name, job)


def may_fit_storage(target: Target) -> bool:
    """Whether an object of a volume that could not be built might match."""
    return target.pods is None and any(_like(target.kind, kind) for kind in _STORAGE)


def pod_routes(target: Target, body: Body) -> list[Route]:
    """Routes to the pod templates of a run that match the target."""
    resource = resource_of_object(body["apiVersion"], body["kind"])
    role = target.pods.role if target.pods is not None else None
    found = pod_sets(resource, body) if resource is not None else ()
    return [pods.route for pods in found if _like(role, str(at(pods.template, "metadata", "labels", COMPONENT)))]


def _like(pattern: str | None, text: str) -> bool:
    return pattern is None or pattern == text or fnmatchcase(text, pattern)


def selected(selector: str | None, labels: Mapping[str, str]) -> bool:
    """A selector as in `kubectl -l`: `a=b,c!=d,e in (f,g),h,!i`."""
    return selector is None or all(_requirement(part, labels) for part in _BETWEEN.split(selector))


def no_selector(selector: str) -> str | None:
    """The first part of a selector that is not a valid condition; None if all are valid."""
    forms = (_SET, _EQUALITY, _EXISTENCE)
    return next((part for part in _BETWEEN.split(selector) if not any(form.fullmatch(part) for form in forms)), None)


def _requirement(text: str, labels: Mapping[str, str]) -> bool:
    if match := _SET.fullmatch(text):
        values = {value.strip() for value in match["values"].split(",")}
        within = labels.get(match["key"]) in values
        return within if match["op"] == "in" else not within
    if match := _EQUALITY.fullmatch(text):
        equal = labels.get(match["key"]) == match["value"]
        return equal if match["op"] != "!=" else not equal
    if match := _EXISTENCE.fullmatch(text):
        return (match["key"] in labels) != bool(match["not"])
    return False
