"""Objects in the input of an import, their placeholders, and the pod templates of a run, each with its role."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import Final

from msgspec import Struct

from gen.base import (
    Findings,
    Location,
    Route,
    as_list,
    as_mapping,
    as_mappings,
    at,
    entries,
    follow,
    regex,
)
from gen.base.codes.imports import INVALID_MANIFEST
from gen.importers import ImportInput
from gen.kubernetes.facts.base import ANY_ITEM, ANY_KEY, Nodes, Pattern, PodSet, Resource, Wildcard
from gen.kubernetes.facts.pods import matches
from gen.kubernetes.manifests.read import OF_HELM, Manifests, read_manifests
from gen.kubernetes.objects import Body

MAX_DEPTH: Final = 8
"""Lists in lists, which no cluster returns."""


class Item(Struct, frozen=True, kw_only=True):
    """One object, with the places of its values."""

    body: Body
    manifests: Manifests
    document: int
    at: Route
    """Route in the document, which may be a list of objects."""

    def place(self, *route: str | int) -> Location:
        return self.manifests.place(self.document, (*self.at, *route))

    def find(self, route: Route, value: object) -> Location:
        """The place of a value at a route, which can end with `-` for an item of a list; else of the object."""
        if route[-1:] == ("-",) and value in (holder := as_list(follow(self.body, route[:-1]))):
            route = (*route[:-1], holder.index(value))
        if follow(self.body, route) != value:
            return self.place()
        is_large = isinstance(value, dict | list) and isinstance(route[-1], str)
        return self.manifests.place(self.document, (*self.at, *route), key=is_large)

    @property
    def name(self) -> str:
        """The name. Objects with a generated name have only its start."""
        metadata = self.body["metadata"]
        name = metadata.get("name") or str(metadata.get("generateName") or "").rstrip("-.")
        return name if isinstance(name, str) else ""

    @property
    def namespace(self) -> str:
        return namespace if isinstance(namespace := self.body["metadata"].get("namespace"), str) else ""


def items(given: ImportInput, found: Findings) -> list[Item]:
    """All objects of all files. Other documents are ignored. Places are those of the file, without `--define`."""
    read = [(raw, _read(_with_values(raw, given.define), file, found)) for file, raw in given.files]
    return [
        Item(body=body, manifests=placed, document=number, at=route)
        for raw, one in read
        if one is not None
        for placed in [_placed(one, raw) if given.define else one]
        for number, document in enumerate(one.documents)
        for route, body in _objects(document, (), MAX_DEPTH)
    ]


def _placed(read: Manifests, raw: bytes) -> Manifests:
    """The documents of a file without `--define`, for their places, unless they are others."""
    known = read_manifests(raw, read.file, Findings())
    return known if known is not None and len(known.documents) == len(read.documents) else read


_OF_HELM: Final = regex(
    r"(?m)^[^#\n]*(\{\{-?\s*(?:(?:if|range|with|else|end|define|template|include|toYaml)\b|\$)|\{\{[^\n}]*\|\s*n?indent)"
)
_BARE: Final = regex(r"(?m)^([ \t]*(?:- +)*(?:[\w./-]+: +|(?<=- )))(\{\{[^\n{}]*\}\}[^\n\"'#]*?)[ \t]*$")
"""A template as a value without quotes, which YAML reads as a mapping."""


FORMS: Final = (
    r"\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)|<([A-Za-z][\w .:/-]*)>|\{\{-?\s*(\.?[A-Za-z_][\w.-]*)\s*-?\}\}|"
    r"\b((?:CHANGE|REPLACE)[ _-]?ME|TODO)\b"
)
"""Placeholders of any value."""

OF_IMAGE: Final = regex(rf"{FORMS}|\b((?i:your)[-_][\w-]+|[A-Z][A-Z0-9_-]{{2,}}(?=[/:.]|$))")


def _with_values(raw: bytes, values: Mapping[str, str]) -> bytes:
    """A file with the values of `--define` in place of their variables, also in commands. An image of several
    placeholders is a single one, unless all have values.
    """
    if "image" in values:
        raw = _IMAGE.sub(lambda found: found[1] + _image(found[2], values), raw)
    return _with_variables(raw, values)


_IMAGE: Final = regex(
    rb"(?m)(^[^#\n]*?\bimage[\"']?: *[\"']?)"
    rb"((?:<[^<>\n]*>|\$\{[^{}\n]*\}|\{\{[^{}\n]*\}\}|(?:CHANGE|REPLACE) ME\b|[^\s\"'#,{}\[\]])+)"
)


def _image(text: bytes, values: Mapping[str, str]) -> bytes:
    known = _with_variables(text, values)
    return values["image"].encode() if OF_IMAGE.search(known.decode("utf-8", "replace")) else known


def _with_variables(raw: bytes, values: Mapping[str, str]) -> bytes:
    for name, value in values.items():
        form = rf"\$(?:\{{{(name := re.escape(name))}\}}|{name}\b)|<{name}>|\{{\{{-? *\.?(?:[\w-]+\.)*{name} *-?\}}\}}"
        raw = re.sub(form.encode(), lambda _, value=value: value.encode(), raw)  # type: ignore[misc]
    return raw


def _read(raw: bytes, file: str, found: Findings) -> Manifests | None:
    """The documents of a file, which may be a template with values that YAML cannot read."""
    own = Findings()
    read = read_manifests(raw, file, own)
    text = raw.decode("utf-8", "replace")
    if own.failed() and (control := _OF_HELM.search(text)):
        place = Location(file, text.count("\n", 0, control.start(1)) + 1)
        is_helm = OF_HELM.search(text) is not None
        how = "for example with `helm template`" if is_helm else "with the program that it belongs to"
        what = "a template of Helm" if is_helm else "a Go template"
        found.error(INVALID_MANIFEST, place, f"the file is {what}", f"render it first, {how}, and import the result")
        return None
    if own.failed() and _BARE.search(text):
        own = Findings()
        read = read_manifests(_BARE.sub(_quoted, text).encode(), file, own)
    found.extend(own.items)
    return read


def _quoted(found: re.Match[str]) -> str:
    inner = found[2].replace('"', "'")
    return f'{found[1]}"{inner}"'


def inside(value: object, *names: str) -> Iterator[object]:
    """The values with these names, at any depth."""
    for key, inner in entries(value):
        yield from [inner] if key in names else inside(inner, *names)


def _objects(value: object, route: Route, depth: int) -> Iterator[tuple[Route, Body]]:
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str):
        return
    inner = value.get("items")
    if isinstance(inner, list) and value["kind"].endswith("List") and "spec" not in value:
        for number, one in enumerate(inner if depth else ()):
            yield from _objects(one, (*route, "items", number), depth - 1)
    elif isinstance(value.get("metadata"), dict) and isinstance(value.get("apiVersion"), str):
        yield route, value


class Template(Struct, frozen=True, kw_only=True):
    """The pods of one role."""

    role: str
    route: Route
    """Route of the template."""
    pods: PodSet | None
    metadata: Body
    spec: Body
    """Empty if it is not a mapping."""
    container: Body
    """The training container."""
    replicas: int
    restart: str | None
    hosts: int | None = None
    """Pods of each replica, if the operator numbers them."""

    @property
    def steps(self) -> tuple[str | int, ...]:
        """Values of the wildcards of its route."""
        pattern = self.pods.template if self.pods is not None else ()
        return tuple(step for step, part in zip(self.route, pattern, strict=False) if isinstance(part, Wildcard))


def templates(facts: Resource, body: Body) -> list[Template]:
    """All pods of an object. If those of the kind are in the cluster, one with the fields of the object."""
    if facts.nodes is not None:
        return [_of_nodes(facts, body)]
    return [
        _template(facts, body, pods, route)
        for pods in facts.pods
        for route, template in matches(body, pods.template)
        if isinstance(template, dict)
    ]


def _of_nodes(facts: Resource, body: Body) -> Template:
    nodes = facts.nodes
    assert nodes is not None  # the caller has tested it
    container = dict(as_mapping(follow(body, nodes.count[:-1])))
    container["resources"] = as_mapping(follow(body, nodes.resources))
    changes = (one for route, one in matches(body, nodes.changes) if _is_named(body, route, nodes))
    template = next(changes, None)
    pods = as_mappings(at(template, "spec", "containers"))
    mounts = next((at(one, "volumeMounts") for one in pods if one.get("name") == facts.container), None)
    container |= {"volumeMounts": mounts} if mounts is not None else {}
    return Template(
        role=nodes.name,
        route=nodes.count[:-1],
        pods=None,
        metadata=as_mapping(at(template, "metadata")),
        spec=as_mapping(at(template, "spec")),
        container=container,
        replicas=_number(follow(body, nodes.count), 1),
        restart=None,
    )


def _is_named(body: Body, route: Route, nodes: Nodes) -> bool:
    """Whether a template with changes is that of the nodes."""
    last = len(nodes.changes) - nodes.changes[::-1].index(ANY_ITEM)
    return bool(at(follow(body, route[:last]), "name") == nodes.name)


def _template(facts: Resource, body: Body, pods: PodSet, route: Route) -> Template:
    template = follow(body, route)
    spec = as_mapping(at(template, "spec"))
    numbers = {one: _number(follow(body, beside(one.route, pods, route)), one.default) for one in pods.counts}
    holder = follow(body, route[:-1])
    restart = at(holder, "restartPolicy") if facts.restarts_by_role else spec.get("restartPolicy")
    return Template(
        role=_role(body, pods, route),
        route=route,
        pods=pods,
        metadata=as_mapping(at(template, "metadata")),
        spec=spec,
        container=as_mapping(follow(spec, ("containers", main_index(spec, facts.container)))),
        replicas=prod(numbers.values()),
        restart=restart if isinstance(restart, str) else None,
        hosts=next((number for one, number in numbers.items() if one.hosts), None),
    )


def beside(pattern: Pattern, pods: PodSet, route: Route) -> Route:
    """A route with the same wildcards as a template; they are replaced by the steps of the template's route."""
    steps = iter([step for step, part in zip(route, pods.template, strict=False) if isinstance(part, Wildcard)])
    return tuple(next(steps, "") if isinstance(part, Wildcard) else part for part in pattern)


def _role(body: Body, pods: PodSet, route: Route) -> str:
    for index in reversed(range(len(pods.template))):
        if pods.template[index] is ANY_KEY:
            return str(route[index]).lower()
        if pods.template[index] is ANY_ITEM:
            name = follow(body, (*route[: index + 1], pods.item_name))
            return name if isinstance(name, str) else pods.role
    return pods.role


def main_index(spec: Body, wanted: str | None) -> int:
    """Index of the training container: the one that the operator looks for, or the first."""
    names = [at(one, "name") for one in as_list(spec.get("containers"))]
    return names.index(wanted) if wanted in names else 0


def container_route(one: Template, container: str | None) -> tuple[str | int, ...]:
    """Route of the training container."""
    if one.pods is None:
        return one.route
    return (*one.route, "spec", "containers", main_index(one.spec, container))


def _number(value: object, default: int) -> int:
    return int(value) if isinstance(value, int | str) and str(value).isdecimal() and len(str(value)) < 10 else default  # noqa: PLR2004 - not a number of pods


RUN_TEMPLATE: Final = "workflowTemplateRef"


def reference_of(document: object) -> tuple[str, Route] | None:
    """The name of the WorkflowTemplate that a workflow runs, with its route."""
    for route in (("spec", "workflowSpec", RUN_TEMPLATE), ("spec", RUN_TEMPLATE)):
        if (name := at(document, *route, "name")) is not None:
            return str(name), route
    return None
