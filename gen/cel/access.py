"""Fields, entries and items of values. From `interpreter/attributes.go` of cel-go, with its messages."""

from __future__ import annotations

from typing import Any

from gen.cel.errors import CelError
from gen.cel.values import NONE, Optional, lookup, tag, type_name


def field_of(holder: Any, field: Any) -> Any:
    """A field, an entry or an item of a value. CelError if there is none."""
    if isinstance(holder, dict):
        if type(field) is str and field in holder:
            value = holder[field]
            return value() if callable(value) else value
        found = lookup(holder, field)
        if found is not None:
            return found.value
        raise CelError(f"no such key: {shown_key(field)}")
    if isinstance(holder, list):
        number = _index(field)
        if 0 <= number < len(holder):
            return holder[number]
        raise CelError(f"index out of bounds: {number}")
    if isinstance(holder, Optional):
        return maybe_field(holder, field)
    raise CelError(f"no such key: {shown_key(field)}" if type(field) is str else "no such overload")


def _index(field: Any) -> int:
    kind = tag(field)
    if kind in {"int", "uint"} or (kind == "double" and field.is_integer()):
        return int(field)
    raise CelError(f"unsupported index type '{type_name(field)}' in list")


def shown_key(key: Any) -> str:
    """A key in messages."""
    return str(key).lower() if isinstance(key, bool) else str(key)


def maybe_field(holder: Any, field: Any) -> Optional:
    """A field of a value, absent if the value is absent or has none."""
    if isinstance(holder, Optional):
        return maybe_field(holder.value, field) if holder.present else NONE
    if isinstance(holder, list) and tag(field) not in {"int", "uint", "double"}:
        _index(field)
    if not isinstance(holder, dict | list):
        raise CelError(f"no such key: {shown_key(field)}")
    try:
        return Optional(field_of(holder, field))
    except CelError:
        return NONE
