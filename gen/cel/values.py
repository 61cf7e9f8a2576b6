"""Values of CEL: those of JSON as they are in Python, and types of their own for what JSON does not have.

A list is a `list`, a mapping a `dict`, an integer an `int`; `True` is never equal to `1`.
"""

from __future__ import annotations

import math
from typing import Any, Final

from gen.cel.errors import CelError
from gen.cel.types import Type


class UInt(int):
    """An unsigned integer."""

    __slots__ = ()


class Duration(int):
    """Nanoseconds."""

    __slots__ = ()


class Timestamp(int):
    """Nanoseconds since 1970, in UTC."""

    __slots__ = ()


class Opaque:
    """A value of a library, such as a quantity, with the name of its type."""

    __slots__ = ("content", "type_name")

    def __init__(self, type_name: str, content: Any) -> None:
        self.type_name = type_name
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and (self.type_name, self.content) == (other.type_name, other.content)

    def __hash__(self) -> int:
        return hash((self.type_name, self.content))


class Optional:
    """A value that may be absent."""

    __slots__ = ("present", "value")

    def __init__(self, value: Any = None, *, present: bool = True) -> None:
        self.value = value
        self.present = present


NONE: Final = Optional(present=False)

_TAGS: Final[dict[type, str]] = {
    str: "string",
    bool: "bool",
    int: "int",
    float: "double",
    dict: "map",
    list: "list",
    type(None): "null",
    UInt: "uint",
    bytes: "bytes",
    Timestamp: "timestamp",
    Duration: "duration",
    Optional: "optional",
    Type: "type",
}
NUMBERS: Final = frozenset({"int", "uint", "double"})
_KEYS: Final = frozenset({"bool", *NUMBERS})
_BOTH: Final = (0, 1)
"""Numbers that Python takes for booleans."""
_SHOWN: Final = {
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "optional": "optional_type",
}
MIN_INT: Final = -(2**63)
MAX_INT: Final = 2**63 - 1
MAX_UINT: Final = 2**64 - 1


def tag(value: Any) -> str:
    """The name of the type of a value, as in signatures."""
    found = _TAGS.get(type(value))
    if found is not None:
        return found
    return value.type_name if isinstance(value, Opaque) else "dyn"


def type_name(value: Any) -> str:
    """The name of the type of a value, as in messages."""
    name = tag(value)
    return _SHOWN.get(name, name)


def type_of(value: Any) -> Type:
    """The value of `type(x)`."""
    return Type(type_name(value))


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal. Numbers of different types are compared by value, other types never are equal."""
    first, second = tag(one), tag(other)
    if "dyn" in {first, second}:
        one, other = (value() if callable(value) else value for value in (one, other))  # only known in a cluster
        first, second = tag(one), tag(other)
    if first in NUMBERS and second in NUMBERS:
        return bool(
            int(one) == int(other) if isinstance(one, int) and isinstance(other, int) else float(one) == float(other)
        )
    if first != second:
        return False
    if first == "list":
        return len(one) == len(other) and all(map(equal, one, other))
    if first == "map":
        return len(one) == len(other) and all(
            (found := lookup(other, key)) is not None and equal(value, found.value) for key, value in one.items()
        )
    if first == "optional":
        return one.present == other.present and (not one.present or equal(one.value, other.value))
    return bool(one == other)


def lookup(holder: dict[Any, Any], key: Any) -> Optional | None:
    """The value of a key in a mapping. Numbers of different types are the same key, `true` and 1 are not."""
    if isinstance(key, str):
        return Optional(holder[key]) if key in holder else None
    if tag(key) not in _KEYS or key not in holder:
        return None
    if key in _BOTH and isinstance(next(one for one in holder if one == key), bool) is not isinstance(key, bool):
        return None
    return Optional(holder[key])


def contains(items: list[Any], value: Any) -> bool:
    """Whether a list contains a value."""
    if isinstance(value, str):
        return any(value == item for item in items if type(item) is str)
    return any(equal(item, value) for item in items)


def compare(one: Any, other: Any) -> int:
    """-1, 0 or 1. CelError for values that have no order."""
    first, second = tag(one), tag(other)
    comparable = first == second and first in {"string", "bytes", "bool", "timestamp", "duration"}
    if not comparable and not (first in NUMBERS and second in NUMBERS):
        raise CelError("no such overload")
    if first == "string":  # by bytes, like in Go; the order of code points is the same
        return int(bool(one > other)) - int(bool(one < other))
    if "double" in {first, second}:  # like Go, which loses the last digits of large integers
        one, other = float(one), float(other)
        if math.isnan(one) or math.isnan(other):
            raise CelError("NaN values cannot be ordered")
    return int(bool(one > other)) - int(bool(one < other))


def checked_int(number: int) -> int:
    """An integer of 64 bits. CelError for any other."""
    if MIN_INT <= number <= MAX_INT:
        return number
    raise CelError("integer overflow")


def checked_uint(number: int) -> UInt:
    """An unsigned integer of 64 bits. CelError for any other."""
    if 0 <= number <= MAX_UINT:
        return UInt(number)
    raise CelError("unsigned integer overflow")
