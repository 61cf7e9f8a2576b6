"""The syntax tree of an expression, after the macros were expanded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable


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
