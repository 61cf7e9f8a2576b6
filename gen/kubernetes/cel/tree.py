"""The syntax tree of an expression after its macros were expanded, and names of fields that are not identifiers.

Names are escaped as in rules of definitions (`apiserver/pkg/cel/escaping.go`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from gen.base import regex


class Node(Struct):
    """A part of an expression."""

    at: int
    """Its offset in the text."""


class Literal(Node):
    """A constant."""

    value: Any


class Ident(Node):
    """A variable."""

    name: str


class Select(Node):
    """A field of a value, or whether it has one."""

    operand: Node
    field: str
    test: bool = False


class Call(Node):
    """A function or an operator with its arguments; with a target, a method."""

    function: str
    arguments: list[Node]
    target: Node | None = None


class ListOf(Node):
    """A list; the values at the optional indices are omitted if they are absent."""

    items: list[Node]
    optional: frozenset[int] = frozenset()


class MapOf(Node):
    """A mapping; the optional entries are omitted if they are absent."""

    entries: list[tuple[Node, Node, bool]]


class Message(Node):
    """A message of a named type."""

    name: str
    fields: list[tuple[str, Node, bool]]


class Fold(Node):
    """A loop over a list or a mapping: what all macros with a variable become."""

    over: Node
    variable: str
    second: str
    """The second variable; empty if there is only one."""
    result_name: str
    start: Node
    condition: Node
    step: Node
    result: Node
    macro: str = ""
    """What the expression calls; empty for a loop inside of another macro."""


def dotted_name(node: Node) -> str | None:
    """The dotted name that a node is; None if it is anything else."""
    if isinstance(node, Ident):
        return node.name
    if isinstance(node, Select) and not node.test and (name := dotted_name(node.operand)) is not None:
        return f"{name}.{node.field}"
    return None


def children(node: Node) -> list[Node]:
    """The direct parts of a node."""
    parts = _PARTS.get(type(node))
    return parts(node) if parts is not None else []


_PARTS: Final[dict[type, Callable[[Any], list[Node]]]] = {
    Select: lambda node: [node.operand],
    Call: lambda node: [*([node.target] if node.target is not None else []), *node.arguments],
    ListOf: lambda node: node.items,
    MapOf: lambda node: [part for key, value, _ in node.entries for part in (key, value)],
    Message: lambda node: [value for _, value, _ in node.fields],
    Fold: lambda node: [node.over, node.start, node.condition, node.step, node.result],
}

_SIGNS: Final = {"__underscores__": "__", "__dot__": ".", "__dash__": "-", "__slash__": "/"}
RESERVED: Final = (
    *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package"),
    *("namespace", "return", "var", "void", "while"),
)
"""Names that no variable can have."""
_KEYWORDS: Final = ("true", "false", "null", "in", *RESERVED)
_ESCAPED = regex(f"__(?:(?P<sign>underscores|dot|dash|slash)|(?P<word>{'|'.join(_KEYWORDS)}))__")


def unescaped(name: str) -> str:
    """The name of a field as it is in objects."""
    if name.startswith("__") and name.endswith("__") and name[2:-2] in _KEYWORDS:
        return name[2:-2]
    return _ESCAPED.sub(lambda match: _SIGNS.get(match[0], match[0]), name)


def escaped(name: str) -> str:
    """The name of a field as it is in expressions."""
    if name in _KEYWORDS:
        return f"__{name}__"
    for sign, value in _SIGNS.items():
        name = name.replace(value, sign)
    return name
