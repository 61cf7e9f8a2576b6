"""The type of the result of a CEL expression, as far as its syntax shows it.

From the standard definitions of the CEL specification, `doc/langdef.md`. Types of fields, variables and most functions
are unknown: an API server knows them from its schemas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_LITERALS: Final = {
    "INT_LIT": "int",
    "UINT_LIT": "uint",
    "FLOAT_LIT": "double",
    "STRING_LIT": "string",
    "MLSTRING_LIT": "string",
    "BYTES_LIT": "bytes",
    "BOOL_LIT": "bool",
    "NULL_LIT": "null_type",
}
_COLLECTIONS: Final = {"list_lit": "list", "map_lit": "map"}
_FUNCTIONS: Final = {"size": "int", "int": "int", "uint": "uint", "double": "double", "string": "string", "has": "bool"}
_METHODS: Final = {
    **dict.fromkeys(("all", "exists", "exists_one", "startsWith", "endsWith", "contains", "matches"), "bool"),
    **dict.fromkeys(("map", "filter"), "list"),
    "size": "int",
}


def type_of(node: Any) -> str:
    """The type of the value of a parsed expression; empty if the syntax does not show it."""
    while not _is_leaf(node) and len(node.children) == 1 and node.data not in _COLLECTIONS:
        node = node.children[0]
    if _is_leaf(node):
        return _LITERALS.get(node.type, "")
    kind = str(node.data)
    return _OF_NODES[kind](node.children) if kind in _OF_NODES else _COLLECTIONS.get(kind, "")


def _is_leaf(node: Any) -> bool:
    return not hasattr(node, "children")


def _of_unary(children: list[Any]) -> str:
    return "bool" if str(getattr(children[0], "data", "")) == "unary_not" else type_of(children[1])


def _of_operation(children: list[Any]) -> str:
    """Both operands of `+`, `-`, `*`, `/` and `%` have the type of the result, other than those of times."""
    left = children[0].children[0] if not _is_leaf(children[0]) and children[0].children else children[0]
    found = {type_of(left), type_of(children[1])} - {""}
    return found.pop() if len(found) == 1 else ""


def _of_choice(children: list[Any]) -> str:
    one, other = type_of(children[1]), type_of(children[2])
    return one if one == other else ""


_OF_NODES: Final[dict[str, Callable[[list[Any]], str]]] = {
    **dict.fromkeys(("relation", "conditionaland", "conditionalor"), lambda _: "bool"),
    **dict.fromkeys(("addition", "multiplication"), _of_operation),
    "unary": _of_unary,
    "expr": _of_choice,
    "ident_arg": lambda children: _FUNCTIONS.get(str(children[0]), ""),
    "member_dot_arg": lambda children: _METHODS.get(str(children[1]), ""),
}
