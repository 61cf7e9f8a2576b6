"""Objects in the input of an import, their placeholders, and the pod templates of a run, each with its role."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from functools import partial
from itertools import chain, count
from math import prod
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import (
    Findings,
    Location,
    Route,
    as_list,
    as_mapping,
    as_mappings,
    as_texts,
    at,
    entries,
    follow,
    names,
    regex,
    with_texts,
)
from gen.base.codes.imports import INVALID_MANIFEST, NOT_CARRIED
from gen.importers import Fields, ImportInput
from gen.importers.draft import JobDraft, is_secret, label, texts_in
from gen.kubernetes.facts.base import ANY_ITEM, ANY_KEY, Nodes, Pattern, PodSet, Resource, Wildcard
from gen.kubernetes.facts.pods import matches
from gen.kubernetes.manifests.read import Manifests, read_manifests
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
    return values["image"].encode() if _OF_IMAGE.search(known.decode("utf-8", "replace")) else known


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
        hint = "render it first, for example with `helm template`, and import the result"
        found.error(INVALID_MANIFEST, place, "the file is a template of Helm", hint)
        return None
    if own.failed() and _BARE.search(text):
        own = Findings()
        read = read_manifests(_BARE.sub(_quoted, text).encode(), file, own)
    found.extend(own.items)
    return read


def _quoted(found: re.Match[str]) -> str:
    inner = found[2].replace('"', "'")
    return f'{found[1]}"{inner}"'


_FORMS: Final = (
    r"\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)|<([A-Za-z][\w .:/-]*)>|\{\{-?\s*(\.?[A-Za-z_][\w.-]*)\s*-?\}\}|"
    r"\b((?:CHANGE|REPLACE)[ _-]?ME|TODO)\b"
)
_PLACEHOLDER: Final = regex(_FORMS)
_OF_IMAGE: Final = regex(rf"{_FORMS}|\b((?i:your)[-_][\w-]+|[A-Z][A-Z0-9_-]{{2,}}(?=[/:.]|$))")
_IN_SHELL: Final = regex(r"()()<([A-Za-z][\w .:/-]*)>()")
"""In a script, where `$NAME` is of the shell or of the pod."""
_IN_PROGRAM: Final = regex(r"\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)|<([A-Za-z][\w .:/-]*)>()")
"""In an argument of a program, which gets `$NAME` as it is."""
_SHELL: Final = frozenset({"command", "args", "entrypoint", "runtimeEnvYAML", "postStart", "preStop"})
_NUMBER_PARENTS: Final = frozenset({"limits", "requests", "resourcesPerNode"})
_NUMBERS: Final = regex(
    r"(?i:.*(?:replicas|seconds|limit|port|count)|parallelism|completions|nprocPerNode|numNodes|numProcPerNode)"
    r"|slotsPerWorker|maxRestarts|minAvailable"
)
_PATHS: Final = frozenset({"mountPath", "workingDir"})
_COUNTS: Final = regex(r"(?i:.*replicas)|parallelism|completions|numNodes|minAvailable")
_SIZES: Final = frozenset({"memory", "ephemeral-storage", "sizeLimit", "storage"})
_WITH_PARAMS: Final = frozenset({"image", "command", "args", "env", "workingDir", "nodeSelector"})
START: Final = "change-me"
"""Start of a value in place of one that the user has to give."""
_UNNAMED: Final = frozenset({"", "change me", "changeme", "replace me", "todo"})


class Placeholder(Struct, frozen=True, kw_only=True):
    """A text that people replace before they apply a manifest."""

    text: str
    name: str
    """Name of its parameter."""
    value: str
    """The text in its place."""
    route: Route

    @property
    def is_number(self) -> bool:
        return not self.value.startswith(START)


def filled(item: Item) -> tuple[Item, list[Placeholder]]:
    """An object with valid values in place of its placeholders. Its name loses them."""
    made: dict[str, Placeholder] = {}
    own = {str(at(entry, "name")) for every in inside(item.body.get("spec"), "env") for entry in as_list(every)}
    spec = _filled(item.body.get("spec"), ("spec",), made, own=own)
    field = "name" if "name" in item.body["metadata"] else "generateName"
    whole = item.body["metadata"].get(field)
    numbers = [found for one in made.values() if one.is_number and (found := _VARIABLE.fullmatch(one.text))]
    for variable in (*numbers, *(_VARIABLE.finditer(whole) if isinstance(whole, str) else ())):
        _add_param(spec, variable, made, own)
    variables = ((_VARIABLE.fullmatch(text), one.value) for text, one in made.items())
    values = {name: value for found, value in variables if found and (name := found[1] or found[2]) not in own}
    # as `envsubst` writes it; containers can have own variables
    of_fields = partial(_VARIABLE.sub, lambda found: values.get(found[1] or found[2], found[0]))
    body = {**item.body, "spec": with_texts(spec, of_fields, _SHELL) if values else spec}
    metadata: Body = _filled(item.body["metadata"], ("metadata",), {})
    if isinstance(whole, str) and _PLACEHOLDER.search(whole):
        known = re.sub(r"-{2,}", "-", _PLACEHOLDER.sub("", whole)).strip("-.")
        metadata["name"] = known or metadata[field]
        made[f"name {whole}"] = Placeholder(text=whole, name="name", value=START, route=("metadata", field))
    if _PLACEHOLDER.search(item.namespace):
        del metadata["namespace"]
    return replace(item, body={**body, "metadata": metadata}), list(made.values())


_NONE: Final = regex(r"(?!)")
_OPTIONS: Final = regex(r"-[^;&|<>`()]*|[^\s;&|<>`()]*")
"""A value of options or one word, in which no program expands a variable: it would get `$NAME` as it is."""
USUAL: Final = names("PATH HOME USER PWD HOSTNAME LD_LIBRARY_PATH PYTHONPATH SHELL TMPDIR")
_VARIABLE: Final = regex(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


def _add_param(spec: object, known: re.Match[str], made: dict[str, Placeholder], own: Container[str]) -> None:
    """Give a placeholder of a number or of the name a parameter for commands, which may need another value."""
    name = known[1] or known[2]
    if name in own or any(name in found.groups() for found in map(_VARIABLE.fullmatch, made) if found):
        return
    for route, text in texts_in(spec, ("spec",)):
        if not _SHELL.isdisjoint(route) and any(name in found.groups() for found in _VARIABLE.finditer(text)):
            _param(known[0], known, route, made)
            return


def _filled(
    value: Any, route: Route, made: dict[str, Placeholder], *, shell: bool = True, own: Container[str] = ()
) -> Any:
    if isinstance(value, dict):
        command = as_texts(value.get("command"))
        shell = not command or command[0].endswith("sh")
        return {key: _filled(inner, (*route, key), made, shell=shell, own=own) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, (*route, index), made, shell=shell, own=own) for index, inner in enumerate(value)]
    return _filled_text(value, route, made, shell=shell, own=own) if isinstance(value, str) else value


def _filled_text(
    text: str, route: Route, made: dict[str, Placeholder], *, shell: bool, own: Container[str]
) -> str | int:
    key = _key(route)
    program = not _SHELL.isdisjoint(route)
    form = (_IN_SHELL if shell else _IN_PROGRAM) if program else _OF_IMAGE if key == "image" else _PLACEHOLDER
    whole = form.fullmatch(text)
    several = program and re.search(r"\s|<<", re.sub("<[^<>]*>", "", text)) is not None
    if key == "value" and whole is None and _OPTIONS.fullmatch(text):
        found = [one[1] or one[2] for one in _VARIABLE.finditer(text)]
        form = _VARIABLE if found and not any(name in own or name in USUAL for name in found) else _NONE
    elif key == "value" and whole is None:
        return text
    if several or not form.search(text):
        return text
    if _NUMBERS.fullmatch(key) or key in _SIZES or not _NUMBER_PARENTS.isdisjoint(route):
        given = "1Gi" if key in _SIZES else "1"
        made.setdefault(f"number {text}", Placeholder(text=text, name=key, value=given, route=route))
        return given if key in _SIZES else 1
    is_one = whole is not None or key == "image"
    value = _param(text, whole, route, made) if is_one else form.sub(lambda one: _param(one[0], one, route, made), text)
    of_root = (key in _PATHS or route[-2:] == ("hostPath", "path")) and not value.startswith("/")
    return f"/{value}" if of_root else value


def _key(route: Route) -> str:
    return next(str(step) for step in reversed(route) if isinstance(step, str))


def _param(text: str, found: re.Match[str] | None, route: Route, made: dict[str, Placeholder]) -> str:
    """The value of a placeholder; each has a parameter of its own."""
    if text not in made:
        inner = next(filter(None, found.groups()), "") if found is not None else ""
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", inner.removeprefix(".Values")).lower()
        slug = label(words if words.replace("-", " ") not in _UNNAMED else _key(route).lower(), "value")[:40].strip("-")
        names = chain([slug], (f"{slug}-{number}" for number in count(2)))
        slug = next(one for one in names if f"{START}-{one}" not in {known.value for known in made.values()})
        name = re.sub("-(.)", lambda one: one[1].upper(), slug)
        made[text] = Placeholder(text=text, name=name, value=f"{START}-{slug}", route=route)
    return made[text].value


def report_placeholders(
    draft: JobDraft, item: Item, placeholders: list[Placeholder], values: Mapping[str, object]
) -> None:
    """A finding for each placeholder, since its job cannot run, unless its values are not carried."""
    lost = {one.place for one in draft.found if one.code == NOT_CARRIED.name}
    texts = [*texts_in(item.body["spec"], ("spec",))]
    for one in placeholders:
        if one.route[-1] == "value" and is_secret(str(follow(item.body, (*one.route[:-1], "name"))), one.value):
            continue  # the job reads it from a Secret
        place, field, named = item.place(*one.route), _key(one.route), _PLACEHOLDER.fullmatch(one.text)
        variable = next(filter(None, named.groups()[:4]), "").rpartition(".")[2] if named is not None else ""
        variable = variable if re.fullmatch(r"[\w-]+", variable) else "image" if field == "image" else ""
        again = f", or import it again with `--define {variable}=VALUE`" if variable else ""
        message = f"`{field}` has the placeholder `{one.text}`"
        parts = {"job": {**draft.fields, "params": {}}, "overlay": [draft.overlay, draft.grants]}
        left = [part for part, value in parts.items() if any(one.value in text for _, text in texts_in(value))]
        if one.name in values:
            more = f", and replace `{one.value}` in the {' and the '.join(left)}" if left else ""
            draft.cannot_run(place, message, f"set `params.{one.name}` of the job{more}{again}")
        elif one.route[0] == "metadata":
            what = f"the placeholder in the name `{one.text}`"
            draft.drop(place, what, f"the job is `{draft.name}`", "rename the file of the job, if you like")
        elif (
            one.is_number or left or any(one.value in text and item.place(*route) not in lost for route, text in texts)
        ):
            where = "job" if one.is_number else next(iter(left), "patch")
            is_count = one.is_number and _COUNTS.fullmatch(field)
            remedy = (
                "set the number of pods, such as `workers`, in the job" if is_count else f"replace it in the {where}"
            )
            draft.cannot_run(place, f"{message}; `{one.value}` stands in its place", f"{remedy}{again}")


def with_params(fields: Fields, placeholders: list[Placeholder]) -> Fields:
    """Fields of a job with a parameter for each placeholder, where people write parameters."""
    known = {one.value: one.name for one in placeholders if not one.is_number}
    if not known:
        return fields
    form = re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True))))
    used: dict[str, str] = {}

    def expression(found: re.Match[str]) -> str:
        used[known[found[0]]] = found[0]
        return f"{{{{ params.{known[found[0]]} }}}}"

    changed: Fields = with_texts(fields, lambda text: form.sub(expression, text), _WITH_PARAMS)
    return {**changed, "params": used} if used else fields


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


def _number(value: object, default: int) -> int:
    return int(value) if isinstance(value, int | str) and str(value).isdecimal() and len(str(value)) < 10 else default  # noqa: PLR2004 - not a number of pods
