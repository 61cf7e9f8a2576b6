"""Explanations for `gen explain` and editors: findings by rule or code, and fields of jobs and overlays from their JSON
Schemas.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Code, quoted, regex
from gen.base.codes.commands import SILENCEABLE
from gen.kubernetes.facts.pods import CreatedPod
from gen.kubernetes.rules import RENAMED, SILENCE, Rule, RuleSource
from gen.kubernetes.rules.catalogue import CATALOGUE, RULES, SECTIONS
from gen.report.escaping import sanitize
from gen.report.formats import Documentation

Schema = Mapping[str, Any]


def type_name(schema: Schema, named: Callable[[str], str]) -> str:
    """The type of a value. `named` returns the text for the name of a definition."""
    if "$ref" in schema:
        return named(str(schema["$ref"]).rsplit("/", 1)[-1])
    if options := schema.get("oneOf") or (schema.get("anyOf") if "title" not in schema else None):
        return " or ".join(dict.fromkeys(type_name(option, named) for option in options))
    if "items" in schema:
        return f"list of {_plural(type_name(schema['items'], named))}"
    if (entry := entries(schema)) is not None:
        return f"map of {_plural(type_name(entry, named))}"
    return _scalar(schema)


def entries(schema: Schema) -> Schema | None:
    """The schema of the values of a mapping with any keys; None for another type."""
    inner = [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
    return inner[0] if isinstance(inner[0], dict) else None


def default_text(field: Schema) -> str:
    """The default of a field as YAML; empty if it has none."""
    value = field.get("default", "")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plural(name: str) -> str:
    if " or " in name or not name[-1].isalpha():
        return name
    head, of, entry = name.partition(" of ")
    if of:  # `lists of strings`
        return f"{head}s of {entry}"
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith("x") else f"{name}s"


def _scalar(schema: Schema) -> str:
    words = [schema["const"]] if "const" in schema else schema.get("enum", ())
    if words:
        return quoted(word for word in words if isinstance(word, str))
    return str(schema.get("title") or ("string" if "string" in schema.get("type", ()) else "any value"))


DEFAULT_WIDTH: Final = 100
_INDENT: Final = "    "
_MAX_OTHERS: Final = 20
"""Fields of the same name that are listed."""
_DEFAULTS: Final = "defaults"
_OF_DEFAULTS: Final = regex(r"^(?:overlay\.)?defaults\.(?:kinds\.[^.]+\.)?")
_KEY: Final = "<name>"
"""Placeholder for any key of a mapping."""


class Field(Struct, frozen=True):
    """A field of a document, by its path such as `("overlay", "volumes", "<name>", "size")`."""

    path: tuple[str, ...]
    schema: Schema
    required: bool
    kinds: tuple[str, ...]
    """Kinds of jobs that have it; empty for all."""

    @property
    def name(self) -> str:
        return ".".join(self.path)


def document_fields(document: str, schema: Schema) -> list[Field]:
    """All fields of a document at any depth, in the order of its schema. Equal fields of several kinds count once."""
    definitions = schema["definitions"]
    schema = _without_fields_of_defaults(schema)
    by_kind = _models(schema)
    if not by_kind:
        return list(_below(schema, (document,), definitions))
    found: dict[tuple[tuple[str, ...], str], Field] = {}
    kinds: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for kind, model in by_kind.items():
        for field in _below(model, (document,), definitions):
            key = field.path, str(field.schema.get("description"))
            found.setdefault(key, field)
            kinds.setdefault(key, []).append(kind)
    every = len(by_kind)
    whole: dict[tuple[str, ...], Schema] = {(document, name): one for name, one in schema["properties"].items()}
    return [
        Field(
            field.path,
            whole.get(field.path, field.schema),
            field.required,
            () if len(kinds[key]) == every else tuple(kinds[key]),
        )
        for key, field in found.items()
    ]


def _models(schema: Schema) -> dict[str, Schema]:
    """The schema of each kind of job; empty for a document without kinds."""
    definitions = schema["definitions"]
    return {
        branch["if"]["properties"]["kind"]["const"]: definitions[branch["then"]["$ref"].rsplit("/", 1)[-1]]
        for branch in schema.get("allOf", ())
    }


def _without_fields_of_defaults(schema: Schema) -> Schema:
    """`defaults` of overlays have the fields of jobs, which are explained there."""
    properties = schema.get("properties", {})
    if _DEFAULTS not in properties:
        return schema
    defaults = {"type": "object", "description": properties[_DEFAULTS]["description"]}
    return {**schema, "properties": {**properties, _DEFAULTS: defaults}}


def _below(
    schema: Schema, path: tuple[str, ...], definitions: Mapping[str, Schema], seen: tuple[str, ...] = ()
) -> Iterator[Field]:
    for option, inside in _options(schema, definitions, seen):
        for name, field in option.get("properties", {}).items():
            yield Field((*path, name), field, name in option.get("required", ()), ())
            yield from _below(field, (*path, name), definitions, inside)
        if "items" in option:
            yield from _below(option["items"], path, definitions, inside)
        elif (entry := entries(option)) is not None:
            yield from _below(entry, (*path, _KEY), definitions, inside)


def _options(
    schema: Schema, definitions: Mapping[str, Schema], seen: tuple[str, ...]
) -> Iterator[tuple[Schema, tuple[str, ...]]]:
    """The forms that a value can have, with the definitions that they are inside of."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        if name not in seen:
            yield from _options(definitions[name], definitions, (*seen, name))
        return
    yield schema, seen
    for option in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from _options(option, definitions, seen)


def matching(fields: Iterable[Field], wanted: str) -> list[Field]:
    """Fields that a path names, the shortest first. The document, and keys of mappings, can be left out."""
    steps = _OF_DEFAULTS.sub("job.", wanted).split(".")
    found = [field for field in fields if _ends_with(field.path, steps)]
    return sorted(found, key=lambda field: len(field.path))


def _ends_with(path: Sequence[str], steps: Sequence[str]) -> bool:
    at = len(path)
    for step in reversed(steps):
        at -= 1
        while at >= 0 and path[at] == _KEY and step != _KEY and at and path[at - 1] == step:
            at -= 1  # the key was left out
        if at < 0 or path[at] not in {step, _KEY}:
            return False
    return True


def explain_fields(found: Sequence[Field], fields: Sequence[Field], width: int = DEFAULT_WIDTH) -> str:
    """The first of these fields with the fields below it, and the names of the others."""
    first = found[0]
    same = [field for field in found if field.path == first.path]
    parts = [_explained(field, fields, width) for field in same]
    return "\n".join(parts) + _others([field for field in found if field.path != first.path])


def explain_document(document: str, fields: Sequence[Field], width: int = DEFAULT_WIDTH) -> str:
    """The fields at the top of a document."""
    return _list([field for field in fields if field.path[:-1] == (document,)], width)


def explain_kind(kind: str, document: str, schema: Schema, width: int = DEFAULT_WIDTH) -> str:
    """A kind of jobs with the fields that not every kind has; empty if there is none of this name."""
    model = _models(schema).get(kind)
    if model is None:
        return ""
    text = " ".join(str(model.get("description", "")).split())
    lines = [f"kind: {kind}", *textwrap.wrap(text, width, initial_indent=_INDENT, subsequent_indent=_INDENT)]
    names = {one.path[1] for one in document_fields(document, schema) if kind in one.kinds}
    given = {name: one for name, one in model["properties"].items() if name in names}
    own = [Field((document, name), one, name in model.get("required", ()), ()) for name, one in given.items()]
    others = f"`gen explain {document}` lists the fields of all kinds.\n"
    return "".join(f"{line}\n" for line in lines) + f"\n{_list(own, width)}{others}"


def _explained(field: Field, fields: Sequence[Field], width: int) -> str:
    lines = [f"{field.name} <{_type(field)}>"]
    lines += textwrap.wrap(_description(field), width, initial_indent=_INDENT, subsequent_indent=_INDENT)
    facts = ["Required."] if field.required else []
    facts += [f"Default: {default}"] if (default := default_text(field.schema)) else []
    facts += [f"Only for kind {', '.join(field.kinds)}."] if field.kinds else []
    lines += [_INDENT + fact for fact in facts]
    direct = [
        replace(one, kinds=()) if field.kinds and set(field.kinds) <= set(one.kinds) else one
        for one in fields
        if _is_directly_below(one, field)
    ]
    return "".join(f"{line}\n" for line in lines) + (f"\n{_list(direct, width)}" if direct else "")


def _is_directly_below(one: Field, field: Field) -> bool:
    depth = len(field.path)
    if one.path[:depth] != field.path or len([step for step in one.path[depth:] if step != _KEY]) != 1:
        return False
    return not one.kinds or not field.kinds or bool(set(one.kinds) & set(field.kinds))


def _others(others: Sequence[Field]) -> str:
    if not others:
        return ""
    names = list(dict.fromkeys(field.name for field in others))
    shown = [f"{_INDENT}{name}\n" for name in names[:_MAX_OTHERS]]
    more = [f"{_INDENT}and {len(names) - _MAX_OTHERS} more\n"] if len(names) > _MAX_OTHERS else []
    return "\nOther fields of this name:\n" + "".join([*shown, *more])


def _list(fields: Sequence[Field], width: int) -> str:
    lines = []
    for field in fields:
        only = f" (kind {', '.join(field.kinds)})" if field.kinds else ""
        lines.append(f"{field.path[-1]} <{_type(field)}>{' required' if field.required else ''}{only}")
        first = _description(field).split(". ")[0].rstrip(".")
        lines += textwrap.wrap(first, width, initial_indent=_INDENT, subsequent_indent=_INDENT)
    return "".join(f"{line}\n" for line in lines)


def _type(field: Field) -> str:
    return type_name(field.schema, str)


def _description(field: Field) -> str:
    return " ".join(str(field.schema.get("description", "")).split())


MANIFESTS: Final = "Manifests"
"""Title of the list of rules."""


def finding_names() -> frozenset[str]:
    """Codes of findings, with former ones."""
    return frozenset((*CATALOGUE, *RENAMED))


def explain(name: str, documentation: Documentation | None = None, width: int = DEFAULT_WIDTH) -> str:
    """The meaning of a finding, its reason and its remedy, with its page. KeyError for an unknown name."""
    site = documentation or Documentation()
    code = CATALOGUE[name if name in CATALOGUE else RENAMED[name]]
    paragraphs = [*(_rule_paragraphs(code) if isinstance(code, Rule) else _code_paragraphs(code))]
    if name in RENAMED:
        paragraphs.append(f"The rule about manifests that had this name is `{RENAMED[name]}`")
    return _filled(paragraphs, width) + _page(site.finding(code.name))


def _page(url: str) -> str:
    return f"Documentation: {url}\n" if url else ""


def _filled(paragraphs: Iterable[str], width: int) -> str:
    return "".join(textwrap.fill(" ".join(text.split()), width) + "\n" for text in paragraphs if text)


def _rule_paragraphs(rule: Rule) -> Iterator[str]:
    source = rule.source.value if rule.source is RuleSource.GEN else f"the {rule.source.value}"
    yield f"{rule.name}: {rule.severity.value} in manifests, enforced by {source}"
    if rule.kinds is not None:
        yield "Kinds: " + ", ".join(sorted(f"{kind} ({group})" for group, kind in rule.kinds))
    yield rule.summary
    yield f"Why: {rule.reason}"
    yield f"Remedy: {rule.remedy}"
    annotation = f'`{SILENCE}{rule.name}: "<reason>"`'
    yield f"To silence it for one object, annotate the object with {annotation}; for a job, in a patch of the overlay"


def _code_paragraphs(code: Code) -> Iterator[str]:
    section = next(title for title, codes in SECTIONS.items() if code in codes)
    yield f"{code.name}: {section}"
    yield code.summary
    yield f"Why: {code.reason}"
    yield f"Remedy: {code.remedy}"
    if code.name in SILENCEABLE:
        yield f'To silence its warnings for a job, write `annotations: {{{SILENCE}{code.name}: "<reason>"}}` in it'


def list_findings() -> str:
    """Every rule with its severity and summary, and every code with its summary."""
    width = max(map(len, CATALOGUE))
    lines = [f"{MANIFESTS}\n"]
    lines += [
        f"{rule.name:<{width}}  {rule.severity.value:<7}  {_first_sentence(rule.summary)}\n" for rule in RULES.values()
    ]
    for title, codes in SECTIONS.items():
        lines.append(f"\n{title}\n")
        lines += [f"{code.name:<{width}}  {_first_sentence(code.summary)}\n" for code in codes]
    return "".join(lines)


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).split(". ")[0].rstrip(".")


def explain_pods(path: str, pods: Iterable[CreatedPod]) -> str:
    """The pods of an object, with the images, variables and resources of their containers."""
    lines = [path]
    for pod in pods:
        asked = ", ".join(f"{name}: {amount}" for name, amount in sorted(pod.resources.items()))
        lines.append(f"  {pod.name}  {asked}")
        containers = [(one, " (init)") for one in pod.init_containers] + [(one, "") for one in pod.containers]
        for container, marked in containers:
            names = " ".join(str(one.get("name")) for one in container.get("env") or ())
            image = container.get("image") or "the image of the runtime"
            lines.append(f"    {container.get('name')}{marked}: {image}")
            lines += [f"      {names}"] if names else []
    return "".join(f"{sanitize(line).rstrip()}\n" for line in lines)
