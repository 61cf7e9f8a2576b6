"""The syntax tree of an expression, and the macros that become loops or tests in it while the expression is parsed.

Macros are from `parser/macro.go`, `ext/bindings.go`, `ext/comprehensions.go`, `ext/lists.go` and `cel/library.go` of
cel-go. Names of fields that are not identifiers are escaped as in rules of definitions
(`apiserver/pkg/cel/escaping.go`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from gen.base import regex
from gen.kubernetes.cel.values import MacroError


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
    """Called function; empty for a loop inside of another macro."""


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


RESULT: Final = "@result"
"""The name of the result of a loop, which no expression can write."""
_UNUSED: Final = "#unused"
_KEYS: Final = "@keys"


def expand(call: Call) -> Node:
    """The tree of a macro; any other call as it is."""
    if call.target is None:
        return _has(call) if call.function == "has" and len(call.arguments) == 1 else call
    macro = _MACROS.get((call.function, len(call.arguments)))
    return macro(call, call.target) if macro is not None else call


def _has(call: Call) -> Node:
    field = call.arguments[0]
    if isinstance(field, Select) and not field.test:
        return Select(call.at, field.operand, field.field, test=True)
    raise MacroError("invalid argument to has() macro", call.at)


def _name(node: Node) -> str:
    if isinstance(node, Ident) and not node.name.startswith("."):
        return node.name
    raise MacroError("argument must be a simple name", node.at)


class _Loop:
    """A loop over the target of a macro with one or two variables."""

    def __init__(self, call: Call, target: Node, variables: int) -> None:
        self.at, self.over, self.macro = call.at, target, call.function
        names = [_name(argument) for argument in call.arguments[:variables]]
        if len(set(names)) < len(names):
            raise MacroError(f"duplicate variable name: {names[0]}", call.at)
        self.names = names[0], names[1] if len(names) > 1 else ""
        self.rest = call.arguments[variables:]

    @property
    def result(self) -> Node:
        return Ident(self.at, RESULT)

    def call(self, function: str, *arguments: Node) -> Node:
        return Call(self.at, function, list(arguments))

    def fold(self, start: Node, step: Node, *, condition: Node | None = None, result: Node | None = None) -> Node:
        always = Literal(self.at, value=True)
        return Fold(
            self.at,
            self.over,
            self.names[0],
            self.names[1],
            RESULT,
            start,
            condition if condition is not None else always,
            step,
            result if result is not None else self.result,
            self.macro,
        )

    def kept_if(self, condition: Node | None, step: Node) -> Node:
        return step if condition is None else self.call("_?_:_", condition, step, self.result)


def _quantified(variables: int, *, all_items: bool) -> Callable[[Call, Node], Node]:
    """`all`, or `exists`: whether the condition is true for all items, or for one."""

    def macro(call: Call, target: Node) -> Node:
        loop = _Loop(call, target, variables)
        goes_on = loop.result if all_items else loop.call("!_", loop.result)
        step = loop.call("_&&_" if all_items else "_||_", loop.result, loop.rest[0])
        return loop.fold(Literal(call.at, value=all_items), step, condition=loop.call("@not_strictly_false", goes_on))

    return macro


def _exists_one(variables: int) -> Callable[[Call, Node], Node]:
    def macro(call: Call, target: Node) -> Node:
        loop = _Loop(call, target, variables)
        one = Literal(call.at, 1)
        step = loop.kept_if(loop.rest[0], loop.call("_+_", loop.result, one))
        return loop.fold(Literal(call.at, 0), step, result=loop.call("_==_", loop.result, one))

    return macro


def _list(variables: int, *, filtered: bool) -> Callable[[Call, Node], Node]:
    def macro(call: Call, target: Node) -> Node:
        loop = _Loop(call, target, variables)
        step = loop.call("@append", loop.result, loop.rest[-1])
        return loop.fold(ListOf(call.at, []), loop.kept_if(loop.rest[0] if filtered else None, step))

    return macro


def _filter(call: Call, target: Node) -> Node:
    loop = _Loop(call, target, 1)
    step = loop.call("@append", loop.result, Ident(call.at, loop.names[0]))
    return loop.fold(ListOf(call.at, []), loop.kept_if(loop.rest[0], step))


def _map(*, filtered: bool, entries: bool) -> Callable[[Call, Node], Node]:
    def macro(call: Call, target: Node) -> Node:
        loop = _Loop(call, target, 2)
        if entries:
            step = loop.call("@insert", loop.result, loop.rest[-1])
        else:
            step = loop.call("@insert", loop.result, Ident(call.at, loop.names[0]), loop.rest[-1])
        return loop.fold(MapOf(call.at, []), loop.kept_if(loop.rest[0] if filtered else None, step))

    return macro


def _bound(at: int, name: str, value: Node, body: Node, macro: str = "") -> Node:
    """A value with a name: a loop without iterations."""
    never = Literal(at, value=False)
    return Fold(at, ListOf(at, []), _UNUSED, "", name, value, never, Ident(at, name), body, macro)


def _bind(call: Call, target: Node) -> Node:
    if not (isinstance(target, Ident) and target.name == "cel"):
        return call
    return _bound(call.at, _name(call.arguments[0]), call.arguments[1], call.arguments[2], "cel.bind")


def _of_optional(*, flat: bool) -> Callable[[Call, Node], Node]:
    def macro(call: Call, target: Node) -> Node:
        at = call.at
        name = _name(call.arguments[0])
        value = Call(at, "value", [], target)
        body = _bound(at, name, value, call.arguments[1])
        mapped = body if flat else Call(at, "optional.of", [body])
        return Call(at, "_?_:_", [Call(at, "hasValue", [], target), mapped, Call(at, "optional.none", [])])

    return macro


def _sort_by(call: Call, target: Node) -> Node:
    at = call.at
    _name(call.arguments[0])
    keys = _list(1, filtered=False)(Call(at, "map", call.arguments, Ident(at, _KEYS)), Ident(at, _KEYS))
    return _bound(at, _KEYS, target, Call(at, "@sortByAssociatedKeys", [keys], Ident(at, _KEYS)))


_MACROS: Final[dict[tuple[str, int], Callable[[Call, Node], Node]]] = {
    ("all", 2): _quantified(1, all_items=True),
    ("all", 3): _quantified(2, all_items=True),
    ("exists", 2): _quantified(1, all_items=False),
    ("exists", 3): _quantified(2, all_items=False),
    ("exists_one", 2): _exists_one(1),
    ("existsOne", 2): _exists_one(1),
    ("exists_one", 3): _exists_one(2),
    ("existsOne", 3): _exists_one(2),
    ("map", 2): _list(1, filtered=False),
    ("map", 3): _list(1, filtered=True),
    ("filter", 2): _filter,
    ("transformList", 3): _list(2, filtered=False),
    ("transformList", 4): _list(2, filtered=True),
    ("transformMap", 3): _map(filtered=False, entries=False),
    ("transformMap", 4): _map(filtered=True, entries=False),
    ("transformMapEntry", 3): _map(filtered=False, entries=True),
    ("transformMapEntry", 4): _map(filtered=True, entries=True),
    ("bind", 3): _bind,
    ("optMap", 2): _of_optional(flat=False),
    ("optFlatMap", 2): _of_optional(flat=True),
    ("sortBy", 2): _sort_by,
}
