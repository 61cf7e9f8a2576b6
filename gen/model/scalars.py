"""Scalar types of user input, with their error messages.

The reader returns scalars as text (see `gen.load.strict`), and each type here parses that text. `Text` accepts any
scalar and keeps it as written. The JSON Schema forms are for editors, which see typed YAML.
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
"""Characters of a value in a message, so that it fits into a line of a terminal."""
_MEBIBYTE = 1 << 20
_MOST_CPUS = 10_000
"""More than any node has: `cpu: 64Gi` is meant as memory."""
_MILLI = quantity.amount("1m")
INT32 = 2**31 - 1
"""Most integers in Kubernetes APIs have 32 bits."""
_EXPRESSION = {"type": "string", "pattern": r"\{\{"}


def refuse(expected: str, value: object, remedy: str = "") -> PydanticCustomError:
    """Error for a value of the wrong type or form. `remedy` defaults to writing the expected value."""
    problem = f"expected {expected}, got {shown(value)}"
    return conflict(problem, remedy or f"write {expected}")


def conflict(problem: str, remedy: str) -> PydanticCustomError:
    """Error for fields that contradict each other."""
    return PydanticCustomError("gen", "{problem}", {"problem": problem, "remedy": remedy})


def shown(value: object) -> str:
    """A value as it appears in a message: short, and only the type of a mapping or list."""
    if isinstance(value, (dict, BaseModel)):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    return f"`{clipped(str(value))}`"


def clipped(text: str) -> str:
    """A text cut to the length of a line."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def empty(value: object) -> bool:
    """Whether the value is absent (`key:`), which is nearly always a mistake."""
    return isinstance(value, Plain) and value == ""


def null(value: object) -> bool:
    """Whether the value is one of YAML's spellings of null. `Text` accepts them as strings."""
    return isinstance(value, Plain) and value in ("null", "Null", "NULL", "~")


def _given(value: Any) -> Any:
    if null(value):
        raise refuse("a value", value, "set a value, or delete the line; quote it to get a string")
    return value


def _text(value: Any) -> Any:
    if empty(value):
        raise refuse("a string", value, 'set a value, or write `""` for an empty string')
    if isinstance(value, (dict, list)):
        raise refuse("a string", value, "write a single string, number or boolean")
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    raise refuse("an integer", value, "write digits, such as `8`")


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
        raise refuse("a quantity", value, "use a form like `8`, `500m`, `16Gi` or `1Ti`") from None
    if quantity.amount(text) % _MILLI:
        raise refuse("a multiple of `1m`", value, "round it; the API server rounds smaller fractions up")
    return text


def _cpus(value: Any) -> Any:
    text = _quantity(value)
    if quantity.amount(text) > _MOST_CPUS:
        raise refuse("a number of CPUs", value, "use a form like `8` or `500m`; set memory in `memory`")
    return text


def _bytes(value: Any) -> Any:
    try:
        text = _quantity(value)
    except PydanticCustomError:
        raise refuse("an amount of memory", value, "use a form like `64Gi` or `512Mi`") from None
    amount = quantity.amount(text)
    if 0 < amount < _MEBIBYTE:
        raise refuse("at least `1Mi` of memory", value, _with_unit(value))
    if amount % 1:
        raise refuse("a whole number of bytes", value, "use a form like `64Gi`")
    return text


def _size(value: Any) -> Any:
    if quantity.amount(_quantity(value)) < _MEBIBYTE:
        raise refuse("a size of at least `1Mi`", value, _with_unit(value))
    return _bytes(value)


def _with_unit(value: object) -> str:
    """Remedy for a missing unit; a bare number is nearly always meant in GiB."""
    return f"did you mean `{value}Gi`?" if str(value).isdecimal() and value != "0" else "use a form like `64Gi`"


def _duration(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    try:
        return quantity.seconds(str(_text(value)))
    except ValueError:
        raise refuse("a duration", value, "use a form like `12h`, `1d12h`, `90m` or `30s`") from None


def schema(title: str, *types: str, **more: Any) -> WithJsonSchema:
    """JSON Schema for editors. The lower-case title is the name of the type in the reference."""
    return WithJsonSchema({"title": title, "type": types[0] if len(types) == 1 else list(types), **more})


def _number(title: str, minimum: int) -> WithJsonSchema:
    return WithJsonSchema({"title": title, "anyOf": [{"type": "integer", "minimum": minimum}, _EXPRESSION]})


Text = Annotated[
    # `~` and `null` are strings here
    str, BeforeValidator(_text), schema("string", "string", "number", "boolean", "null")
]
Given = Annotated[Text, BeforeValidator(_given), schema("string", "string", "number", "boolean")]
"""A string that cannot be null: `~` and `null` count as a missing value."""
Count = Annotated[int, BeforeValidator(_whole), _number("integer", 0), Field(ge=0, le=INT32)]
Positive = Annotated[int, BeforeValidator(_whole), _number("positive integer", 1), Field(ge=1, le=INT32)]
Port = Annotated[int, BeforeValidator(_whole), _number("port", 1), Field(ge=1, le=65535)]
Truth = Annotated[
    bool,
    BeforeValidator(_truth),
    WithJsonSchema({"title": "boolean", "anyOf": [{"type": "boolean"}, _EXPRESSION]}),
]
Quantity = Annotated[str, BeforeValidator(_quantity), schema("quantity", "string", "number")]
Cpus = Annotated[str, BeforeValidator(_cpus), schema("quantity", "string", "number")]
Bytes = Annotated[str, BeforeValidator(_bytes), schema("memory", "string", "number")]
Size = Annotated[str, BeforeValidator(_size), schema("size", "string", "number")]
Duration = Annotated[int, BeforeValidator(_duration), schema("duration", "string", "integer")]
