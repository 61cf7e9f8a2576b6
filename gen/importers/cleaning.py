"""Imported objects without values that do not count: those that a cluster adds, empty ones, and unknown fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gen.base import Route, entries, follow, replaced
from gen.base.codes.imports import NOT_CARRIED
from gen.importers.draft import JobDraft
from gen.importers.manifests.objects import Item
from gen.kubernetes.objects import Body
from gen.kubernetes.schemas.kubernetes import POD_TEMPLATE, reference
from gen.kubernetes.schemas.registry import Schema, Schemas, has_schema, schemas, versions

_METADATA: Final = frozenset(
    {"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers", "generateName", "generation"}
    | {"managedFields", "ownerReferences", "resourceVersion", "selfLink", "uid"}
)
_ADDED_KEYS: Final = frozenset({"controller-uid", "job-name", "batch.kubernetes.io/job-name"})
_ADDED_PREFIXES: Final = (
    *("kubectl.kubernetes.io/", "deployment.kubernetes.io/", "batch.kubernetes.io/", "pv.kubernetes.io/"),
    *("training.kubeflow.org/", "volume.kubernetes.io/", "volume.beta.kubernetes.io/", "field.cattle.io/"),
)
"""Starts of labels and annotations that controllers and `kubectl` set."""


def cleaned(body: Body) -> Body:
    """An object without its status and without metadata of the cluster, also in its pod templates."""
    kept = {key: _cleaned(value, key) for key, value in body.items() if key != "status" and value is not None}
    kept["metadata"] = {key: value for key, value in kept["metadata"].items() if key not in _METADATA}
    return kept


_SWITCHES: Final = frozenset({"plugins"})
"""Fields with entries that switch something on, also with an empty list."""
_WITHOUT_MEANING: Final = frozenset(
    {"metadata", "labels", "annotations", "spec", "template", "resources", "limits", "requests", "securityContext"}
    | {"capabilities", "nodeSelector", "affinity", "nodeAffinity", "podAffinity", "podAntiAffinity", "lifecycle"}
    | {"dnsConfig", "emptyDir", "strategy", "runPolicy", "schedulingPolicy", "rayStartParams", "scaleStrategy"}
    | {"arguments", "inputs", "outputs", "matchLabels", "data", "selector", "plugins"}
)
"""Fields that mean the same as `{}` and as missing ones. Others choose something with it, such as all namespaces."""


def _cleaned(value: Any, field: str = "") -> Any:
    """Without nulls, empty values that mean the same as missing ones, and `/` behind paths of mounts."""
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    if not isinstance(value, dict):
        return value.rstrip("/") or value if field == "mountPath" and isinstance(value, str) else value
    inner = {str(key): _cleaned(one, str(key)) for key, one in value.items()}
    for metadata in ("labels", "annotations"):
        if isinstance(inner.get(metadata), dict):
            inner[metadata] = {key: text for key, text in inner[metadata].items() if not _is_added(key)}
    means = {str(key) for key, one in value.items() if _has_meaning(one, str(key), field)}
    return {key: one for key, one in inner.items() if one is not None and (one not in ({}, []) or key in means)}


def _has_meaning(value: object, key: str, field: str) -> bool:
    """Whether an empty value at a key of a field means something."""
    return (value == {} and key not in _WITHOUT_MEANING) or (value == [] and field in _SWITCHES)


def _is_added(key: str) -> bool:
    return key in _ADDED_KEYS or key.startswith(_ADDED_PREFIXES)


def without_unknown(draft: JobDraft, item: Item, body: Body, templates: Sequence[Route]) -> Body:
    """The object without fields that its kind does not have; if gen has no schema of that, without those of pods."""
    known, version = schemas(versions()[-1]), body["apiVersion"]
    routes: dict[Route, Schema] = dict.fromkeys(templates, reference(POD_TEMPLATE))
    if version == item.body["apiVersion"] and has_schema(version, body["kind"]):
        routes = {(): known.schema(version, body["kind"])}
    gone: list[Route] = []
    for route, schema in routes.items():
        body = replaced(body, route, _pruned(follow(body, route), schema, known, gone, route))
    for route in gone:
        hint = "remove it, or write it where Kubernetes has it"
        draft.drop(item.place(*route), f"the unknown field `{route[-1]}`", "an API server drops it", hint)
    for route, value in [*_other_texts(body)]:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        message = f"`{route[-1]}: {text}` is not a text, and an API server refuses it"
        draft.found.warning(NOT_CARRIED, item.place(*route), message, f"write `'{text}'`, as the job has it")
        body = replaced(body, route, text)
    return body


def _other_texts(value: object, route: Route = ()) -> Iterator[tuple[Route, object]]:
    """Labels and annotations that are numbers or truth values."""
    for key, inner in entries(value):
        if isinstance(inner, bool | int | float) and route[-2:-1] == ("metadata",) and route[-1] in _TEXTS:
            yield (*route, key), inner
        else:
            yield from _other_texts(inner, (*route, key))


_TEXTS: Final = ("labels", "annotations")


def _pruned(value: Any, schema: Schema, known: Schemas, gone: list[Route], route: Route = ()) -> Any:
    """A value without the fields that its schema does not have; their routes are added to `gone`."""
    schema = known.resolve(schema)
    if isinstance(value, list):
        each = schema.get("items", {})
        return [_pruned(one, each, known, gone, (*route, index)) for index, one in enumerate(value)]
    if not isinstance(value, dict):
        return value
    fields, others = schema.get("properties", {}), schema.get("additionalProperties")
    if fields and others is False:
        gone += [(*route, name) for name in value if name not in fields]
        value = {name: inner for name, inner in value.items() if name in fields}
    inner_of = others if isinstance(others, dict) else {}
    return {
        name: _pruned(inner, fields.get(name, inner_of), known, gone, (*route, name)) for name, inner in value.items()
    }
