"""JSON Schemas of jobs and overlays for editors, in draft-07, which YAML language servers read.

Each kind of job has an `if`/`then` instead of a branch of `oneOf`, so that an editor reports the wrong field and not
that the file matches none of the kinds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson
from pydantic.json_schema import models_json_schema

from gen.base import regex
from gen.job.fields import NOT_DEFAULTS, JobFields
from gen.job.kinds import ALL_KINDS
from gen.job.kinds.pipeline import STEPS_HAVE, Order
from gen.job.model import field_docs, reachable, renamed_fields
from gen.job.profile import Profile
from gen.overlay.fields import overlay_fields
from gen.overlay.grant import permissions

if TYPE_CHECKING:
    from pydantic import BaseModel

Schema = dict[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"
_TEMPLATE = "#/definitions/{model}"
_STEP = "Step"
_NUMBER = regex(r"[0-9]+(\.[0-9]+)?")


def job_schema() -> Schema:
    """The schema of a job file."""
    definitions = _definitions(ALL_KINDS.values())
    branches = [
        {
            "if": {"properties": {"kind": {"const": name}}, "required": ["kind"]},
            "then": {"$ref": _TEMPLATE.format(model=model.__name__)},
        }
        for name, model in ALL_KINDS.items()
    ]
    for model in (model for model in ALL_KINDS.values() if model.own_fields):
        definitions[model.__name__]["properties"]["steps"]["additionalProperties"] = {
            "$ref": _TEMPLATE.format(model=_STEP)
        }
        definitions[_STEP] = _step(definitions)
    kind = {"description": "Kind of job.", "enum": list(ALL_KINDS)}
    return {
        "$schema": DRAFT,
        "title": "gen job",
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": kind},
        "allOf": branches,
        "definitions": definitions,
    }


def _step(definitions: Schema) -> Schema:
    """A step of a pipeline: the fields of its kind, without those of pipelines, and its order."""
    order = _definitions([Order])[Order.__name__]["properties"]
    kinds = {name: model for name, model in ALL_KINDS.items() if not model.own_fields}
    extra = {field for model in ALL_KINDS.values() for field in model.own_fields} - STEPS_HAVE
    branches: list[Schema] = []
    for name, model in kinds.items():
        known = [field for field in definitions[model.__name__]["properties"] if field not in extra]
        own: Schema = {
            field: {"$ref": f"{_TEMPLATE.format(model=model.__name__)}/properties/{field}"} for field in known
        }
        then = {"properties": own | {field: {} for field in order}, "additionalProperties": False}
        branches.append({"if": {"properties": {"kind": {"const": name}}, "required": ["kind"]}, "then": then})
    kind = {"description": "Kind of the step.", "enum": list(kinds)}
    about = "Step of a pipeline: the fields of a job of its kind, and when it starts."
    fields = {"kind": kind, **order}
    return {"type": "object", "description": about, "required": ["kind"], "properties": fields, "allOf": branches}


def overlay_schema() -> Schema:
    """The schema of `overlay.yaml`, with the fields of jobs under `defaults`."""
    model = overlay_fields()
    definitions = _definitions([model, JobFields, *ALL_KINDS.values()])
    overlay = definitions.pop(model.__name__)
    defaults = _as_defaults(definitions.pop(JobFields.__name__))
    kinds = {name: _as_defaults(definitions.pop(model.__name__)) for name, model in ALL_KINDS.items()}
    description = "Default fields for jobs of one kind."
    defaults["properties"]["kinds"] = {
        "type": "object",
        "description": description,
        "additionalProperties": False,
        "properties": kinds,
    }
    overlay["properties"]["defaults"] |= defaults
    return {"$schema": DRAFT, "title": "gen overlay", **overlay, "definitions": _used(definitions, overlay)}


SCHEMAS = {"job": job_schema, "overlay": overlay_schema}


def schema_text(name: str) -> str:
    return json.dumps(SCHEMAS[name](), indent=2, ensure_ascii=False) + "\n"


def _as_defaults(model: Schema) -> Schema:
    properties = {name: field for name, field in model["properties"].items() if name not in NOT_DEFAULTS}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _used(definitions: Schema, *holders: Schema) -> Schema:
    """The definitions that the holders refer to, and those that these refer to."""
    used: Schema = {}
    todo = list(holders)
    while todo:
        text = json.dumps(todo.pop())
        new = [name for name in definitions if name not in used and f'"{_TEMPLATE.format(model=name)}"' in text]
        used |= {name: definitions[name] for name in new}
        todo += [definitions[name] for name in new]
    return dict(sorted(used.items()))


def _definitions(models: Iterable[type[BaseModel]]) -> Schema:
    """Definitions of models and of all that they refer to, which the caller may change."""
    definitions: Schema = orjson.loads(_definitions_text(tuple(models), tuple(permissions())))
    return definitions


@lru_cache(maxsize=4)
def _definitions_text(models: tuple[type[BaseModel], ...], _permissions: tuple[str, ...]) -> bytes:
    """The definitions as JSON. Making them takes as long as rendering hundreds of jobs.

    The definition of a grant lists all permissions, and plugins add some.
    """
    for model in models:
        model.model_rebuild()
    _, document = models_json_schema([(model, "validation") for model in models], ref_template=_TEMPLATE)
    by_name = {model.__name__: model for model in reachable(models)}
    definitions = document["$defs"]
    for name, definition in definitions.items():
        _describe(definition, by_name[name])
    plain = {name: _short(_plain(definition), by_name[name]) for name, definition in sorted(definitions.items())}
    return orjson.dumps(plain)


def _describe(definition: Schema, model: type[BaseModel]) -> None:
    docs = field_docs(model)
    for name, field in model.model_fields.items():
        if (prop := definition["properties"].get(field.alias or name)) is not None and name in docs:
            prop["description"] = docs[name]
    for old, new in renamed_fields(model).items():
        about = f"Named `{new.name}` since {new.since}."
        more = {"deprecated": True, "deprecationMessage": about, "description": about}
        definition["properties"][old] = definition["properties"][new.name] | more


def _short(definition: Schema, model: type[BaseModel]) -> Schema:
    """A profile can be written as a scalar, which sets one of its fields."""
    if not issubclass(model, Profile) or not model.short:
        return definition
    scalar = {key: value for key, value in definition["properties"][model.short].items() if key != "description"}
    return {"anyOf": [scalar, definition]}


def _plain(value: object) -> Any:
    """Without additions of pydantic: titles from names, `null` (fields do not accept it), and empty defaults."""
    if isinstance(value, list):
        return [_plain(item) for item in value if item != {"type": "null"}]
    if not isinstance(value, dict):
        return value
    plain = {key: _plain(item) for key, item in value.items() if not _is_noise(key, item)}
    if isinstance(plain.get("enum"), list) and plain.get("type") == "string":
        plain = _with_numbers(plain)
    options = plain.get("anyOf")
    if isinstance(options, list) and len(options) == 1:
        del plain["anyOf"]
        plain = {**options[0], **plain}
    return plain


def _is_noise(key: str, value: object) -> bool:
    if key == "title":
        return isinstance(value, str) and value[:1].isupper()
    return key == "discriminator" or (
        key == "default" and (value is None or value == "" or isinstance(value, (list, dict)))
    )


def _with_numbers(schema: Schema) -> Schema:
    """Words that look like numbers may be unquoted; editors read them as numbers."""
    numbers = [float(word) if "." in word else int(word) for word in schema["enum"] if _NUMBER.fullmatch(word)]
    if not numbers:
        return schema
    return {**schema, "type": ["string", "number"], "enum": [*schema["enum"], *numbers]}
