"""Remedies for values of the wrong type: the same value in the form that the field expects, where that is obvious."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gen.load.slips import slip_in
from gen.model.annotations import Form, accepts, form_at, models_at
from gen.model.base import Model
from gen.model.meant import truth_meant
from gen.model.scalars import clipped
from gen.model.synonyms import VALUES, normal
from gen.regex import regex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pydantic import BaseModel

    from gen.diagnostics import Route

_PAIR = regex(r"(?P<key>[A-Za-z0-9][\w.-]*)[:=](?P<value>\S+)")
"""`volume:/path`, as for Arena, or `NAME=value`, as for Docker."""
_SERVER = regex(r"(?P<server>[A-Za-z0-9][A-Za-z0-9.-]*):(?P<path>/\S*)")
_NAME = regex(r"[a-z0-9][a-z0-9-]*")
_MODES = {"ro": {"readOnly": "true"}, "rw": {}}
"""Modes of Docker and Compose, and the fields of a mount for them."""
_ENTRIES_SHOWN = 3
_FORMS: tuple[tuple[Any, str], ...] = (
    ("", '`""` for an empty string'),
    ({}, "`{}` for an empty mapping"),
    ([], "`[]` for an empty list"),
)


def no_value(model: type[BaseModel], route: Route) -> str:
    """Remedy for a field without a value."""
    empty = next((words for value, words in _FORMS if accepts(model, route, value)), "")
    return f"set a value, write {empty}, or delete the line" if empty else "set a value, or delete the line"


def instead_of_mapping(model: type[BaseModel], route: Route, value: Any) -> str:
    """Remedy for a value that should be a mapping; empty if it is not obvious."""
    name = str(route[-1]) if route and isinstance(route[-1], str) else ""
    if form_at(model, route) is Form.KEYS:
        pairs = list(_pairs(value if isinstance(value, list) else [value])) or list(_names(model, route, value))
        return f"write `{name}: {{{_joined(pairs)}}}`" if pairs and name else ""
    form = next((found for one in models_at(model, route) if (found := _in_model(one, value))), "")
    return f"write `{name}: {form}`" if form and name else f"write `{form}`" if form else ""


def instead_of_list(model: type[BaseModel], route: Route, value: Any) -> str:
    """Remedy for a value that should be a list; empty if it is not obvious."""
    if isinstance(value, str) and re.fullmatch(r"-\S+( [^\s,{}\[\]#'\"\\]+)*", value):
        return f"write `[{clipped(value.replace(' ', ', '))}]`"
    is_truth = isinstance(value, str) and bool(truth_meant(value)) and not value.isdecimal()
    if isinstance(value, str) and re.fullmatch(r"[^\s,{}\[\]:#]+", value) and not is_truth:
        return f"write `[{clipped(value)}]`"
    for entry in models_at(model, (*route, 0)):
        required = [field.alias or name for name, field in entry.model_fields.items() if field.is_required()]
        if isinstance(value, dict) and required:
            return f"write `- {{{_joined((name, '…') for name in required)}}}` for each entry"
    return ""


def instead_of_scalar(value: Any) -> str:
    """Remedy for a mapping or list that should be a scalar; empty if it is not obvious."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return f"write `{clipped(value[0])}`, not a list"
    if isinstance(value, dict) and list(value) == ["name"] and isinstance(value["name"], str):
        return f"write `{clipped(value['name'])}`, without `name`"
    return ""


def instead_of_path(model: type[BaseModel], route: Route, value: Any) -> str:
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


def meant_value(value: str, allowed: Collection[str]) -> str:
    """The allowed value with the meaning of another word, or with these initials; empty if there is none."""
    word = VALUES.get(normal(value), "")
    if word in allowed:
        return word
    initials = {"".join(letter for letter in one if letter.isupper()): one for one in allowed}
    return initials.get(value.replace("X", "M"), "") if value.isupper() else ""


def typed_wrong(value: Any) -> tuple[str, str] | None:
    """The problem and remedy of a slip that made a string of a mapping or list."""
    slip = slip_in(value) if isinstance(value, str) else None
    return (slip.message, slip.hint) if slip is not None else None


def _pairs(entries: list[Any]) -> Iterator[tuple[str, str]]:
    """Key and value of each entry: `key:value`, `key=value`, or a mapping with `name`. Nothing if one is different."""
    pairs = [_pair(entry) for entry in entries]
    if all(pairs):
        yield from (pair for pair in pairs if pair is not None)


def _pair(entry: Any) -> tuple[str, str] | None:
    if isinstance(entry, str):
        match = _PAIR.fullmatch(entry)
        return (match["key"], match["value"]) if match is not None else None
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        return None
    others = {key: value for key, value in entry.items() if key != "name"}
    if len(others) == 1 and next(iter(others)) in ("value", "path", "mountPath"):
        return entry["name"], _flow(next(iter(others.values())))
    return entry["name"], _flow(others)


def _names(model: type[BaseModel], route: Route, value: Any) -> Iterator[tuple[str, str]]:
    """Names of a list as keys with nothing below them. Nothing if one needs a value."""
    names = value if isinstance(value, list) else []
    if all(isinstance(name, str) and _NAME.fullmatch(name) and accepts(model, (*route, name), {}) for name in names):
        yield from ((name, "{}") for name in names)


def _in_model(model: type[BaseModel], value: Any) -> str:
    """The value as a mapping with the main field of a model."""
    fields = {field.alias or name for name, field in model.model_fields.items()}
    match = _SERVER.fullmatch(value) if isinstance(value, str) else None
    if match is not None and {"server", "path"} <= fields:
        return f"{{server: {match['server']}, path: {match['path']}}}"
    if isinstance(value, str) and value in fields:
        return f"{{{value}: …}}"
    main = model.main if issubclass(model, Model) else ""
    main = main or _only_required(model)
    if not main or not isinstance(value, (str, list)) or not value:
        return ""
    if isinstance(value, str) and value.startswith("."):
        return f"{{{main}: …}}"  # a path of the author's machine, which no pod has
    if form_at(model, (main,)) is Form.LIST and isinstance(value, str):
        return f"{{{main}: [{_flow(value)}]}}"
    return f"{{{main}: {_flow(value)}}}" if accepts(model, (main,), value) else ""


def _only_required(model: type[BaseModel]) -> str:
    """The field of a model that must be set, if there is one; empty otherwise."""
    required = [field.alias or name for name, field in model.model_fields.items() if field.is_required()]
    return required[0] if len(required) == 1 else ""


def _joined(pairs: Any) -> str:
    shown = [f"{key}: {value}" for key, value in pairs]
    return ", ".join(shown[:_ENTRIES_SHOWN] + (["…"] if len(shown) > _ENTRIES_SHOWN else []))


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{_joined((key, _flow(inner)) for key, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(_flow(inner) for inner in value[:_ENTRIES_SHOWN])}]"
    text = clipped(str(value))
    return text if re.fullmatch(r"[A-Za-z0-9/_.][^,\[\]{}#\s]*", text) else f'"{text}"' if '"' not in text else "…"
