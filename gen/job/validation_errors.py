"""Turn pydantic's validation errors into findings with a place, a remedy, and a fix if only one correction exists."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gen.base import Code, Findings, Fix, Move, Put, Rename, Route, did_you_mean, dotted, only_near, regex
from gen.base.codes.files import TOO_MANY
from gen.base.codes.jobs import INVALID_VALUE, MISSING_FIELD, NO_VALUE, UNKNOWN_FIELD
from gen.base.yaml.yaml_errors import slip_in
from gen.job.model import LONG, SHORT, Form, Model, accepts, form_at, models_at
from gen.job.scalars import clipped, empty, intended_boolean, null, shown
from gen.job.suggest import suggest
from gen.job.synonyms import VALUES, normal

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

    from gen.base.yaml.layers import Layers


def certain_fixes(detail: ErrorDetails, route: Route, model: type[BaseModel], layers: Layers) -> tuple[Fix, ...]:
    """The edit in the file of the error; nothing if another correction is possible."""
    if detail["type"] == "extra_forbidden":
        return _of_field(detail["input"], route, model, layers)
    value = detail["input"]
    new = _value(detail)
    written = layers.written(route) if new and isinstance(value, str) else None
    return (Put(written, str(value), new),) if written is not None else ()


def _of_field(value: object, route: Route, model: type[BaseModel], layers: Layers) -> tuple[Fix, ...]:
    """Another name of an unknown field, or another place of it."""
    if not route or route == ("namespace",):  # which the folder sets
        return ()
    to = suggest(model, route, value).certain
    if to is None or not accepts(model, to, value) or layers.written(to) is not None:
        return ()
    written = layers.written(route)
    if written is None:
        return ()
    prefix = written[: len(written) - len(route)]
    if to[:-1] == route[:-1]:
        return (Rename(written, str(to[-1])),)
    return (Move(written, (*prefix, *to)),) if isinstance(value, str) else ()


def _value(detail: ErrorDetails) -> str:
    """The intended value; empty if it is not certain."""
    context = detail.get("ctx", {})
    if detail["type"] == "gen":
        return str(context.get("certain", ""))
    if detail["type"] != "literal_error":
        return ""
    allowed = re.findall(r"'([^']*)'", str(context["expected"]))
    value = str(detail["input"])
    same = [one for one in allowed if normal(one) == normal(value)]
    return same[0] if len(same) == 1 else only_near(value, allowed)


_PAIR = regex(r"(?P<key>[A-Za-z0-9][\w.-]*)[:=](?P<value>\S+)")
"""`volume:/path`, as for Arena, or `NAME=value`, as for Docker."""
_SERVER = regex(r"(?P<server>[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>/\S*)")
_NAME = regex(r"[a-z0-9][a-z0-9-]*")
_MODES = {"ro": {"readOnly": "true"}, "rw": {}}
"""Modes of Docker and Compose, and the fields of a mount for them."""
_ENTRIES_SHOWN = 3
_FORMS: tuple[tuple[object, str], ...] = (
    ("", '`""` for an empty string'),
    ({}, "`{}` for an empty mapping"),
    ([], "`[]` for an empty list"),
)


def no_value(model: type[BaseModel], route: Route) -> str:
    """Remedy for a field without a value."""
    empty = next((words for value, words in _FORMS if accepts(model, route, value)), "")
    return f"set a value, write {empty}, or delete the line" if empty else "set a value, or delete the line"


def instead_of_mapping(model: type[BaseModel], route: Route, value: object) -> str:
    """Remedy for a value that should be a mapping; empty if it is not obvious."""
    name = str(route[-1]) if route and isinstance(route[-1], str) else ""
    if form_at(model, route) is Form.KEYS:
        pairs = list(_pairs(value if isinstance(value, list) else [value])) or list(_names(model, route, value))
        return f"write `{name}: {{{_joined(pairs)}}}`" if pairs and name else ""
    form = next((found for one in models_at(model, route) if (found := _in_model(one, value))), "")
    return f"write `{name}: {form}`" if form and name else f"write `{form}`" if form else ""


def instead_of_list(model: type[BaseModel], route: Route, value: object) -> str:
    """Remedy for a value that should be a list; empty if it is not obvious."""
    if isinstance(value, str) and re.fullmatch(r"-\S+( [^\s,{}\[\]#'\"\\]+)*", value):
        return f"write `[{clipped(value.replace(' ', ', '))}]`"
    if isinstance(value, str) and re.fullmatch(r"[^\s,{}\[\]:#'\"]+(?:, ?[^\s,{}\[\]:#'\"]+)+", value):
        return f"write `[{clipped(', '.join(re.split(', ?', value)))}]`"
    is_truth = isinstance(value, str) and bool(intended_boolean(value)) and not value.isdecimal()
    if isinstance(value, str) and re.fullmatch(r"[^\s,{}\[\]:#]+", value) and not is_truth:
        return f"write `[{clipped(value)}]`"
    for entry in models_at(model, (*route, 0)):
        required = [field.alias or name for name, field in entry.model_fields.items() if field.is_required()]
        if isinstance(value, dict) and required:
            return f"write `- {{{_joined((name, '…') for name in required)}}}` for each entry"
    return ""


def instead_of_scalar(value: object) -> str:
    """Remedy for a mapping or list that should be a scalar; empty if it is not obvious."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return f"write `{clipped(value[0])}`, not a list"
    if isinstance(value, dict) and list(value) == ["name"] and isinstance(value["name"], str):
        return f"write `{clipped(value['name'])}`, without `name`"
    return ""


def instead_of_path(model: type[BaseModel], route: Route, value: object) -> str:
    """Remedy for a mount with its parts exchanged, as `/data: volume`, or with the mode of Docker, as `/data:ro`."""
    key = str(route[-1]) if route else ""
    if not isinstance(value, str) or form_at(model, route[:-1]) is not Form.KEYS:
        return ""
    if key.startswith("/") and accepts(model, route, key) and _NAME.fullmatch(value):
        return f"write `{clipped(value)}: {clipped(key)}`"
    path, colon, mode = value.rpartition(":")
    if colon and mode in _MODES and accepts(model, route, path):
        form = {"path": path, **_MODES[mode]}
        return f"write `{clipped(path)}`" if len(form) == 1 else f"write `{{{_joined(form.items())}}}`"
    return ""


def intended_value(value: str, allowed: Collection[str]) -> str:
    """The allowed value with the meaning of another word, or with these initials; empty if there is none."""
    word = VALUES.get(normal(value), "")
    if word in allowed:
        return word
    initials = {"".join(letter for letter in one if letter.isupper()): one for one in allowed}
    return initials.get(value.replace("X", "M"), "") if value.isupper() else ""


def yaml_slip(value: object) -> tuple[str, str] | None:
    """The problem and remedy of a slip that made a string of a mapping or list."""
    slip = slip_in(value) if isinstance(value, str) else None
    return (slip.message, slip.hint) if slip is not None else None


def _pairs(entries: list[object]) -> Iterator[tuple[str, str]]:
    """Key and value of each entry: `key:value`, `key=value`, or a mapping with `name`. Nothing if one is different."""
    pairs = [_pair(entry) for entry in entries]
    if all(pairs):
        yield from (pair for pair in pairs if pair is not None)


def _pair(entry: object) -> tuple[str, str] | None:
    if isinstance(entry, str):
        match = _PAIR.fullmatch(entry)
        return (match["key"], match["value"]) if match is not None else None
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return None
    others = {key: value for key, value in entry.items() if key != "name"}
    if len(others) == 1 and next(iter(others)) in ("value", "path", "mountPath"):
        return entry["name"], _flow(next(iter(others.values())))
    return entry["name"], _flow(others)


def _names(model: type[BaseModel], route: Route, value: object) -> Iterator[tuple[str, str]]:
    """Names of a list as keys with nothing below them. Nothing if one needs a value."""
    names = value if isinstance(value, list) else []
    if all(isinstance(name, str) and _NAME.fullmatch(name) and accepts(model, (*route, name), {}) for name in names):
        yield from ((name, "{}") for name in names)


def _in_model(model: type[BaseModel], value: object) -> str:
    """The value as a mapping with the main field of a model."""
    fields = {field.alias or name for name, field in model.model_fields.items()}
    match = _SERVER.fullmatch(value) if isinstance(value, str) else None
    if match is not None and {"server", "path"} <= fields:
        return f"{{server: {match['server']}, path: {match['path']}}}"
    if isinstance(value, str) and value in fields:
        return f"{{{value}: …}}"
    main = model.main if issubclass(model, Model) else ""
    required = [field.alias or name for name, field in model.model_fields.items() if field.is_required()]
    main = main or (required[0] if len(required) == 1 else "")
    if not main or not isinstance(value, (str, list)) or not value:
        return ""
    if isinstance(value, str) and value.startswith("."):
        return f"{{{main}: …}}"  # a path of the author's machine, which no pod has
    if form_at(model, (main,)) is Form.LIST and isinstance(value, str):
        return f"{{{main}: [{_flow(value)}]}}"
    return f"{{{main}: {_flow(value)}}}" if accepts(model, (main,), value) else ""


def _joined(pairs: Iterable[tuple[str, object]]) -> str:
    shown = [f"{key}: {value}" for key, value in pairs]
    return ", ".join(shown[:_ENTRIES_SHOWN] + (["…"] if len(shown) > _ENTRIES_SHOWN else []))


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{_joined((key, _flow(inner)) for key, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(_flow(inner) for inner in value[:_ENTRIES_SHOWN])}]"
    text = clipped(str(value))
    return text if re.fullmatch(r"[A-Za-z0-9/_.][^,\[\]{}#\s]*", text) else f'"{text}"' if '"' not in text else "…"


class _Explanation(Struct, frozen=True, kw_only=True):
    message: str
    hint: str
    code: Code = INVALID_VALUE


def explain(
    error: ValidationError,
    model: type[BaseModel],
    layers: Layers,
    found: Findings,
    hidden: Collection[Route] = (),
    elsewhere: Callable[[str], str] = lambda _: "",
) -> list[Route]:
    """Report each error, and return the routes of the invalid values.

    Errors at a `hidden` route are not reported, because the message would show the value. `elsewhere` is a hint about
    a field that the model does not have, if it means something in others.
    """
    details = [
        detail
        for detail in error.errors(include_url=False)
        if not any(_route(detail)[: len(place)] == place for place in hidden)
    ]
    misnamed = {(*route[:-1], suggest(model, route).meant) for route in _unknown(details)}
    details = [detail for detail in details if detail["type"] != "missing" or _route(detail) not in misnamed]
    routes = [_route(detail) for detail in details]
    empties = [
        route
        for detail, route in zip(details[:_MAX_REPORTED], routes, strict=False)
        if route and empty(detail["input"]) and form_at(model, route) is Form.KEYS
    ]
    for detail, route in zip(details[:_MAX_REPORTED], routes, strict=False):
        explanation = _explanation(detail, route, model, elsewhere)
        on_key = detail["type"] in ("extra_forbidden", "missing") or _about_key(detail)
        if (above := _not_indented(detail, route, empties)) is not None and "did you mean" not in explanation.hint:
            explanation = replace(explanation, hint=f"indent it, so that it is an entry of `{above}`")
        fixes = certain_fixes(detail, route, model, layers)
        place = layers.place(route, key=on_key)
        found.error(explanation.code, place, explanation.message, explanation.hint, fixes=fixes)
    if len(details) > _MAX_REPORTED:
        more = f"{len(details) - _MAX_REPORTED} more errors in this file"
        found.error(TOO_MANY, layers.place(()), more, "fix the reported errors first; the next run shows the rest")
    return routes


def _not_indented(detail: ErrorDetails, route: Route, empties: Sequence[Route]) -> str | None:
    """The only mapping without entries beside an unknown field, which may be one of them."""
    beside = [one for one in empties if one[:-1] == route[:-1]] if detail["type"] == "extra_forbidden" else []
    return dotted(beside[0], clipped) if len(beside) == 1 else None


def _unknown(details: list[ErrorDetails]) -> list[Route]:
    routes = (_route(detail) for detail in details[:_MAX_REPORTED] if detail["type"] == "extra_forbidden")
    return [route for route in routes if route]


_MAX_REPORTED = 100
"""Findings per file. A crafted file can have a hundred thousand."""


def _route(detail: ErrorDetails) -> Route:
    steps = detail["loc"][:-1] if _about_key(detail) else detail["loc"]
    return tuple(step for step in steps if step not in (SHORT, LONG))


def _about_key(detail: ErrorDetails) -> bool:
    """Whether the error is about a key of a mapping: pydantic then appends `[key]` to the location."""
    *before, last = detail["loc"] or ("",)
    return last == "[key]" and bool(before) and before[-1] == detail["input"]


def _explanation(
    detail: ErrorDetails, route: Route, model: type[BaseModel], elsewhere: Callable[[str], str]
) -> _Explanation:
    name = f"`{dotted(route, clipped)}`"
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        found = suggest(model, route, value)
        hint = (not found.meant and len(route) == 1 and elsewhere(str(route[0]))) or found.hint
        return _Explanation(code=UNKNOWN_FIELD, message=f"unknown field {name}", hint=hint)
    if kind == "missing":
        return _Explanation(code=MISSING_FIELD, message=f"{name} is missing", hint=f"add `{route[-1]}`")
    if (missing := _missing_value(name, value, route, model)) is not None:
        return missing
    return _invalid_value(kind, name, value, context, route, model)


def _missing_value(name: str, value: object, route: Route, model: type[BaseModel]) -> _Explanation | None:
    """A missing value, which hides any other error."""
    if empty(value):
        return _Explanation(code=NO_VALUE, message=f"{name} has no value", hint=no_value(model, route))
    if null(value):
        hint = "set a value, or delete the line; quote it to get a string"
        return _Explanation(code=NO_VALUE, message=f"{name} has no value; YAML reads `{value}` as null", hint=hint)
    return None


def _invalid_value(
    kind: str, name: str, value: object, context: dict[str, object], route: Route, model: type[BaseModel]
) -> _Explanation:
    if kind == "gen":
        meant = instead_of_path(model, route, value)
        is_path = isinstance(value, str) and value.startswith("/")  # as in `tensorboard: /logs`
        meant = meant or (instead_of_mapping(model, route, value) if is_path else instead_of_scalar(value))
        return _Explanation(message=f"{name}: {context['problem']}", hint=meant or str(context["remedy"]))
    if kind == "literal_error":
        allowed = re.findall(r"'([^']*)'", str(context["expected"]))
        meant = intended_value(str(value), allowed)
        hint = f"did you mean `{meant}`?" if meant else did_you_mean(str(value), allowed)
        return _Explanation(message=f"{name}: invalid value {shown(value)}", hint=hint)
    expected, hint = _EXPECTED.get(kind, ("another value", "run `gen schema` for the supported values"))
    if kind in _MAPPINGS or kind in _LISTS:
        if (slip := yaml_slip(value)) is not None:
            return _Explanation(message=f"{name}: {slip[0]}", hint=slip[1])
        instead = instead_of_mapping if kind in _MAPPINGS else instead_of_list
        hint = instead(model, route, value) or hint
    got = len(value) if kind in _LENGTHS and isinstance(value, Sized) else shown(value)
    return _Explanation(message=f"{name}: expected {expected.format(**context)}, got {got}", hint=hint)


_MAPPING = ("a mapping", "write indented `name: value` lines below it")
_LIST = ("a list", "start each entry with `- `, or write `[one, two]`")
_EXPECTED = {
    "model_type": _MAPPING,
    "model_attributes_type": _MAPPING,
    "dict_type": _MAPPING,
    "tuple_type": _LIST,
    "list_type": _LIST,
    "string_type": ("a string", "write a single string"),
    "greater_than_equal": ("at least {ge}", "increase it, or remove the line"),
    "less_than_equal": ("at most {le}", "decrease it, or remove the line"),
    "too_long": ("at most {max_length} entries", "remove some entries"),
    "too_short": ("at least {min_length} entry", "add an entry, or remove the line"),
}
"""Expected value and remedy by pydantic's type of error."""
_MAPPINGS = ("model_type", "model_attributes_type", "dict_type")
_LISTS = ("tuple_type", "list_type")
_LENGTHS = ("too_long", "too_short")
