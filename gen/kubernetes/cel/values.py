"""Types, values and errors of CEL.

Values are those of JSON as they are in Python, and types of their own for what JSON does not have. A list is a
`list`, a mapping a `dict`, an integer an `int`; `True` is never equal to `1`. Types have the notation of signatures:
`list(A)`, `map(string, dyn)`, `kubernetes.Quantity`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from gen.base import regex


class CelError(Exception):
    """The evaluation of an expression failed. The text is that of an API server."""

    cost: float = 0
    """That of the evaluation up to the failure."""


class CompileError(Exception):
    """An expression that an API server refuses: wrong syntax, an unknown name or a wrong type."""

    def __init__(self, message: str, at: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class CelSyntaxError(CompileError):
    """An expression that is not CEL."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(f"Syntax error: {reason}", at)
        self.reason = reason


class MacroError(CompileError):
    """A macro with other arguments than it takes."""


class InvalidLiteralError(CompileError):
    """A number that its type does not have."""

    def __init__(self, kind: str, at: int) -> None:
        super().__init__(f"invalid {kind} literal", at)


class InvalidConstantError(CompileError):
    """A text that is no regular expression, duration or timestamp, as `function` needs it."""

    def __init__(self, function: str, at: int) -> None:
        super().__init__(f"invalid {function} argument", at)


class UndeclaredError(CompileError):
    """The name of a variable, function or message that is not declared."""

    def __init__(self, name: str, at: int) -> None:
        super().__init__(f"undeclared reference to '{name}' (in container '')", at)
        self.name = name


class UndefinedFieldError(CompileError):
    """A field that the type of its object does not have."""

    def __init__(self, field: str, at: int) -> None:
        super().__init__(f"undefined field '{field}'", at)
        self.field = field


class UnavailableError(UndeclaredError):
    """An expression with a function or a macro that API servers do not have, or not yet.

    `since` is the first minor version of Kubernetes with it; None if there is none.
    """

    def __init__(self, name: str, since: int | None, at: int) -> None:
        super().__init__(name, at)
        self.since = since


class NotEvaluatedError(BaseException):
    """The expression needs more work than its limit, or something that is only known in a cluster.

    Not an Exception, so that no operator of CEL absorbs it.
    """


class CostError(CelError):
    """The expression costs more than an API server allows."""


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


_NOT_NULL: Final = frozenset(SIMPLE) - {"dyn", "null", "timestamp", "duration"} | {"list", "map", "type"}
"""Types that never are null."""
_MAX_STEPS: Final = 1_000_000
"""Types that are compared for one expression; mappings of mappings double them each time."""
_SHOWN: Final = {
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "optional": "optional_type",
}
"""Names in messages."""


def shown(one: Type) -> str:
    """A type as in messages of an API server."""
    if one.is_parameter:
        return "dyn"
    if one.of:
        return str(Type(one.name, tuple(Type(shown(inner)) for inner in one.of)))
    return _SHOWN.get(one.name, one.name)


class Substitution:
    """The types of the parameters that are known so far."""

    def __init__(self, known: dict[str, Type] | None = None, count: int = 0, steps: list[int] | None = None) -> None:
        self._known = known if known is not None else {}
        self.bound = self._known if known is None else {}
        self.count = count
        self._steps = steps if steps is not None else [_MAX_STEPS]

    def _step(self) -> None:
        self._steps[0] -= 1
        if self._steps[0] < 0:
            raise NotEvaluatedError("the types of the expression are too large")

    def trial(self) -> Substitution:
        """The same types, to try a signature."""
        return Substitution(self._known, self.count, self._steps)

    def accept(self, trial: Substitution) -> None:
        """Keep the result of a trial."""
        self._known.update(trial.bound)
        self.count = trial.count

    def fresh(self) -> Type:
        """A parameter that nothing is known of."""
        self.count += 1
        return Type(f"_{self.count}")

    def instance(self, types: tuple[Type, ...]) -> tuple[Type, ...]:
        """Types of a signature, with parameters of their own."""
        names: dict[str, Type] = {}

        def renamed(one: Type) -> Type:
            if one.is_parameter:
                if one.name not in names:
                    names[one.name] = self.fresh()
                return names[one.name]
            return Type(one.name, tuple(map(renamed, one.of))) if one.of else one

        return tuple(map(renamed, types))

    def of(self, one: Type) -> Type:
        """A type without its outermost parameter, as far as it is known."""
        while one.is_parameter:
            found = self.bound.get(one.name) or self._known.get(one.name)
            if found is None:
                break
            one = found
        return one

    def final(self, one: Type) -> Type:
        """A type without parameters; those that nothing is known of are `dyn`."""
        self._step()
        one = self.of(one)
        if one.is_parameter:
            return DYN
        return Type(one.name, tuple(map(self.final, one.of))) if one.of else one

    def general(self, one: Type, other: Type) -> Type:
        """The more general of two types that fit."""
        one, other = self.of(one), self.of(other)
        return other if other.name == "dyn" or one == NULL else one

    def accepts(self, expected: Type, found: Type) -> bool:
        """Whether a value of a type can be given; binds the parameters of both."""
        self._step()
        expected, found = self.of(expected), self.of(found)
        if expected == found:
            return True
        if expected.is_parameter or found.is_parameter:
            return self._bind(expected, found) if expected.is_parameter else self._bind(found, expected)
        if "dyn" in {expected.name, found.name}:
            return True
        if NULL in (expected, found):
            return (found if expected == NULL else expected).name not in _NOT_NULL
        alike = expected.name == found.name
        return alike and (not (expected.of and found.of) or all(map(self.accepts, expected.of, found.of)))

    def _bind(self, parameter: Type, found: Type) -> bool:
        if self._occurs(parameter, found):
            return False
        self.bound[parameter.name] = found
        return True

    def _occurs(self, parameter: Type, one: Type) -> bool:
        self._step()
        one = self.of(one)
        return one == parameter or any(self._occurs(parameter, inner) for inner in one.of)


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


def contains(items: list[object], value: Any) -> bool:
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
    if "double" in {first, second}:  # like Go, which loses the last digits of large integers
        one, other = float(one), float(other)
        if math.isnan(one) or math.isnan(other):
            raise CelError("NaN values cannot be ordered")
    return int(bool(one > other)) - int(bool(one < other))  # of strings by bytes in Go, in the order of code points


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
