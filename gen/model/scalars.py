"""The texts and numbers a user may write, each with what was expected when it is something else.

A reader hands over text only (see `gen.load.text`), so each type here says how its text is read. `Text` takes any
scalar and keeps what was written; the JSON Schema forms are for editors, which see typed YAML.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from gen import quantity
from gen.kubernetes import with_hash
from gen.load import Plain

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_SHOWN = 60
"""Characters of a value that fit into a line of a terminal beside the message."""
_MEBIBYTE = 1 << 20
_MOST_CPUS = 10_000
"""More than any node has: whoever writes `64Gi` means memory."""
_MILLI = quantity.amount("1m")
INT32 = 2**31 - 1
"""The operators and the API server keep most numbers in 32 bits."""
_EXPRESSION = {"type": "string", "pattern": r"\{\{"}


def refuse(expected: str, value: object, remedy: str = "") -> PydanticCustomError:
    """The error of every type here: `expected` completes «must be …», `remedy` says what to write."""
    context = {"expected": expected, "shown": shown(value), "remedy": remedy}
    return PydanticCustomError("gen", "must be {expected}, not {shown}", context)


def shown(value: object) -> str:
    """A value in a message: short, and by its form when it has parts."""
    if isinstance(value, (dict, BaseModel)):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    return f"`{clipped(str(value))}`"


def clipped(text: str) -> str:
    """A text that fits into a line."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def empty(value: object) -> bool:
    """True for `key:` with nothing behind it, which is nearly always a forgotten value."""
    return isinstance(value, Plain) and value == ""


def null(value: object) -> bool:
    """True for the words that YAML has for nothing; where any text will do, they are texts like others."""
    return isinstance(value, Plain) and value in ("null", "Null", "NULL", "~")


def _given(value: Any) -> Any:
    if null(value):
        raise refuse("a value", value, "write it, or delete the line; quote it if it is meant as a text")
    return value


def _text(value: Any) -> Any:
    if empty(value):
        raise refuse("some text", value, 'write the value, or "" for an empty one')
    if isinstance(value, (dict, list)):
        raise refuse("a single value", value, "write one text, number or truth value")
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    raise refuse("a whole number", value, "write it in digits, such as `8`")


def _truth(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return value == "true"
    raise refuse("`true` or `false`", value)


def matching(pattern: re.Pattern[str], limit: int, expected: str, remedy: str = "") -> BeforeValidator:
    def check(value: Any) -> Any:
        _given(value)
        if isinstance(value, str) and len(judged := with_hash(value)) <= limit and pattern.fullmatch(judged):
            return value
        raise refuse(expected, value, remedy)

    return BeforeValidator(check)


def _quantity(value: Any) -> Any:
    try:
        text = quantity.canonical(str(_text(value)))
    except ValueError:
        raise refuse("a quantity", value, "write it like `8`, `500m`, `16Gi` or `1Ti`") from None
    if quantity.amount(text) % _MILLI:
        raise refuse("a quantity in steps of `1m`", value, "the API server rounds anything finer; round it yourself")
    return text


def _cpus(value: Any) -> Any:
    text = _quantity(value)
    if quantity.amount(text) > _MOST_CPUS:
        raise refuse("a number of CPUs", value, "write it like `8` or `500m`; `memory` is another field")
    return text


def _bytes(value: Any) -> Any:
    try:
        text = _quantity(value)
    except PydanticCustomError:
        raise refuse("an amount of memory", value, "write it like `64Gi` or `512Mi`") from None
    amount = quantity.amount(text)
    if 0 < amount < _MEBIBYTE:
        raise refuse("an amount of memory of at least 1Mi", value, _with_unit(value))
    if amount % 1:
        raise refuse("a whole number of bytes", value, "write it like `64Gi`")
    return text


def _size(value: Any) -> Any:
    if quantity.amount(_quantity(value)) < _MEBIBYTE:
        raise refuse("a size of at least 1Mi", value, _with_unit(value))
    return _bytes(value)


def _with_unit(value: object) -> str:
    """A bare number is nearly always meant in GiB."""
    return f"did you mean `{value}Gi`?" if str(value).isdecimal() and value != "0" else "write it like `64Gi`"


def _duration(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    try:
        return quantity.seconds(str(_text(value)))
    except ValueError:
        raise refuse("a duration", value, "write it like `12h`, `1d12h`, `90m` or `30s`") from None


def schema(title: str, *types: str, **more: Any) -> WithJsonSchema:
    """The form for editors; a title in small letters is the word for it in the reference."""
    return WithJsonSchema({"title": title, "type": types[0] if len(types) == 1 else list(types), **more})


def _number(title: str, minimum: int) -> WithJsonSchema:
    return WithJsonSchema({"title": title, "anyOf": [{"type": "integer", "minimum": minimum}, _EXPRESSION]})


Text = Annotated[
    # `~` and `null` are texts here too
    str, BeforeValidator(_text), schema("text", "string", "number", "boolean", "null")
]
Given = Annotated[Text, BeforeValidator(_given), schema("text", "string", "number", "boolean")]
"""A text that stands for one thing, so that `null` can only mean that it was left out."""
Count = Annotated[int, BeforeValidator(_whole), _number("number", 0), Field(ge=0, le=INT32)]
Positive = Annotated[int, BeforeValidator(_whole), _number("number from 1", 1), Field(ge=1, le=INT32)]
Port = Annotated[int, BeforeValidator(_whole), _number("port", 1), Field(ge=1, le=65535)]
Truth = Annotated[
    bool,
    BeforeValidator(_truth),
    WithJsonSchema({"title": "true or false", "anyOf": [{"type": "boolean"}, _EXPRESSION]}),
]
Quantity = Annotated[str, BeforeValidator(_quantity), schema("quantity", "string", "number")]
Cpus = Annotated[str, BeforeValidator(_cpus), schema("quantity", "string", "number")]
Bytes = Annotated[str, BeforeValidator(_bytes), schema("amount of memory", "string", "number")]
Size = Annotated[str, BeforeValidator(_size), schema("size", "string", "number")]
Duration = Annotated[int, BeforeValidator(_duration), schema("duration", "string", "integer")]
