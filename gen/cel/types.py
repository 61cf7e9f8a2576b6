"""Types of CEL expressions, and their notation in signatures: `list(A)`, `map(string, dyn)`, `kubernetes.Quantity`."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from msgspec import Struct

from gen.regex import regex


class Type(Struct, frozen=True):
    """A type with its parameters. A name of one capital letter is a parameter of a signature."""

    name: str
    of: tuple[Type, ...] = ()

    def __str__(self) -> str:
        if self.name == "type" and not self.of:
            return "type"
        name = {"optional": "optional_type"}.get(self.name, self.name)
        return f"{name}({', '.join(map(str, self.of))})" if self.of else name

    @property
    def is_parameter(self) -> bool:
        return len(self.name) == 1 or self.name.startswith("_")


DYN: Final = Type("dyn")
NULL: Final = Type("null")
BOOL: Final = Type("bool")
INT: Final = Type("int")
UINT: Final = Type("uint")
DOUBLE: Final = Type("double")
STRING: Final = Type("string")
BYTES: Final = Type("bytes")
TIMESTAMP: Final = Type("timestamp")
DURATION: Final = Type("duration")
SIMPLE: Final = {one.name: one for one in (DYN, NULL, BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION)}

_TOKEN = regex(r"[\w.]+|[(),]")


def list_of(item: Type) -> Type:
    """The type of a list."""
    return Type("list", (item,))


def map_of(key: Type, value: Type) -> Type:
    """The type of a mapping."""
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    """The type of a value that may be absent."""
    return Type("optional", (value,))


@lru_cache(maxsize=512)
def parse_types(text: str) -> tuple[Type, ...]:
    """The types of a comma-separated list."""
    tokens = _TOKEN.findall(text)
    found: list[Type] = []
    position = 0

    def one() -> Type:
        nonlocal position
        name = tokens[position]
        position += 1
        inner: list[Type] = []
        if position < len(tokens) and tokens[position] == "(":
            while tokens[position] != ")":
                position += 1
                inner.append(one())
            position += 1
        return Type(name, tuple(inner)) if inner else SIMPLE.get(name, Type(name))

    while position < len(tokens):
        found.append(one())
        position += 1  # the comma
    return tuple(found)
