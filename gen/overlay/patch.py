"""Patches of an overlay: their fields, their targets, and the directives of strategic merge.

`gen.overlay.patch_files` reads them and `gen.render.patch.apply` applies them.
"""

# no postponed annotations here: pydantic would compile each annotation again for every subclass
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Final

from msgspec import Struct

from gen.base import Findings, Location, Route, at, did_you_mean, regex
from gen.base.codes.overlays import INVALID_PATCH
from gen.base.yaml.layers import Layer
from gen.job.model import Model
from gen.job.scalars import Text
from gen.job.synonyms import TARGET
from gen.kubernetes.facts import resource_of_object
from gen.kubernetes.facts.builtin import CONFIG_MAP, DATA, DEPLOYMENT, INGRESS, RESOURCE_QUOTA, SERVICE
from gen.kubernetes.facts.pods import pod_sets
from gen.kubernetes.objects import COMPONENT, Body


class Operation(Struct, frozen=True, kw_only=True):
    """One step of a JSON 6902 patch."""

    op: str
    path: tuple[str, ...]
    origin: tuple[str, ...] | None = None
    """`from`, of move and copy."""
    value: Any = None


class Patch(Struct, frozen=True, kw_only=True):
    """What to change, and how: strategic merge or JSON 6902."""

    target: "Target"
    merge: Body | None = None
    operations: tuple[Operation, ...] = ()
    layer: Layer
    """Place of the patch itself."""
    place: Location
    """The entry in the overlay."""


class PodTarget(Model):
    """Selects the pod templates to patch, of the runs that the other fields of the target select."""

    main: ClassVar[str] = "role"

    kind: Text | None = None
    """Kind of the run, such as `PyTorchJob`."""
    role: Text | None = None
    """Role of the pods, such as `worker`. Runs without the role are left as they are."""


class Target(Model):
    """Selects the objects to patch. All given fields must match; strings are patterns with `*`."""

    synonyms: ClassVar[Mapping[str, str]] = TARGET
    main: ClassVar[str] = "kind"

    group: Text | None = None
    """API group; empty for the core group."""
    version: Text | None = None
    """API version."""
    kind: Text | None = None
    """Kind of the object."""
    name: Text | None = None
    """Name of the object. For objects of a run, without the hash."""
    namespace: Text | None = None
    """Namespace."""
    label_selector: Text | None = None
    """Label selector, as in `kubectl -l`."""
    annotation_selector: Text | None = None
    """Annotation selector, in the same form."""
    pods: PodTarget | None = None
    """Pod templates in runs of every kind. The patch is then one of a pod template; the container `$training` is the
    training container of any name. A TrainJob has no pod templates."""


class PatchFields(Model):
    """Patch of rendered objects: a strategic merge (mapping) or a JSON 6902 patch (list of operations)."""

    target: Target | None = None
    """Objects to patch. A strategic merge may use its own `kind` and `metadata.name` instead."""
    patch: Any = None
    """The patch itself."""
    path: Text | None = None
    """File that contains the patch, in the folder of the overlay."""


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


def invalid_condition(selector: str) -> str | None:
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


PATCH = "$patch"
_WORDS = ("delete", "merge", "replace")
_NOT_OBEYED: Final = {
    "$retainKeys": "add `$patch: replace` to the mapping, and list all of its fields",
    "$setElementOrder": "entries of a patch come first; use `$patch: replace` in the list for another order",
    "$deleteFromPrimitiveList": "use a JSON 6902 patch with `op: remove`",
}
"""Directives that `kubectl apply` works out for itself, which Kustomize takes for fields."""


def check_directives(patch: object, layer: Layer, found: Findings) -> bool:
    """Report directives that cannot be obeyed, and nulls where no field is; whether there are none."""
    before = len(found.items)
    for route, message, hint in _faults(patch, ()):
        found.error(INVALID_PATCH, layer.find(route).value, message, hint)
    return len(found.items) == before


def directive(item: object) -> str | None:
    """The value of `$patch` in a mapping."""
    return item.get(PATCH) if isinstance(item, dict) else None


def _faults(value: object, at: Route) -> Iterator[tuple[Route, str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key.startswith("$"):
                yield from _directive(key, inner, at)
            else:
                yield from _faults(inner, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            here = (*at, index)
            if item is None:
                yield here, "null entry in a list", 'remove the entry, or write `""` for an empty string'
            elif directive(item) == "replace" and len(item) > 1:
                hint = "write `- $patch: replace` as a separate entry, followed by the new entries"
                yield here, "`$patch: replace` replaces the whole list", hint
            else:
                yield from _faults(item, here)


def _directive(key: str, word: object, at: Route) -> Iterator[tuple[Route, str, str]]:
    here = (*at, key)
    name = key.partition("/")[0]
    if name in _NOT_OBEYED:
        yield here, f"unsupported directive `{name}`", _NOT_OBEYED[name]
    elif key != PATCH:
        yield here, f"unknown directive `{key}`", f"did you mean `{PATCH}`?"
    elif word not in _WORDS:
        yield here, f"invalid `$patch` directive `{word}`", did_you_mean(str(word), _WORDS)
    elif not at and word == "delete":
        yield here, "a patch cannot remove an object", "remove the field of the job or overlay that creates the object"
    elif not at and word == "replace":
        yield here, "a patch cannot replace an object as a whole", "add `$patch: replace` to the part to replace"
