"""Syntax, names and obvious types of CEL expressions in policies, webhooks and definitions.

gen only knows the type of a result that the expression itself shows, such as that of `1`, `a + "b"` or `!a`.

An expression with a construct that the parser lacks (optional values) is not checked.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from gen.rules.cel_types import type_of
from gen.rules.fault import Fault, unknown_name

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from lark import Tree

_OPTIONAL = re.compile(r"\?\.|\.\?|\[\s*\?|[{,]\s*\?")
_MACROS = {
    "all",
    "exists",
    "exists_one",
    "existsOne",
    "map",
    "filter",
    "transformList",
    "transformMap",
    "sortBy",
    "bind",
}
_TYPES = {"int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type", "dyn"}
_LIBRARIES = {
    "cel",
    "optional",
    "math",
    "strings",
    "lists",
    "sets",
    "ip",
    "cidr",
    "format",
    "quantity",
    "semver",
    "url",
}
"""First parts of names of functions of API servers."""
_MAX_LENGTH = 4096
"""Characters; the parser takes seconds for longer expressions."""


SIGNS = {"__dash__": "-", "__dot__": ".", "__slash__": "/", "__underscores__": "__"}
KEYWORDS = (
    *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"),
    *("namespace", "null", "package", "return", "true", "var", "void", "while"),
)


def unescaped(name: str) -> str:
    """The name of a field as it is in objects."""
    if name.startswith("__") and name[2:-2] in KEYWORDS:
        return name[2:-2]
    for escaped, sign in SIGNS.items():
        name = name.replace(escaped, sign)
    return name


BOOLEAN: Final = frozenset({"bool"})


def syntax_fault(expression: str, names: AbstractSet[str], types: AbstractSet[str] | None = BOOLEAN) -> Fault | None:
    """The fault of an expression over some names that must have one of some types; None for any type."""
    if not expression.strip():
        return Fault((), "the expression is empty", "write a CEL expression")
    if _OPTIONAL.search(expression) or len(expression) > _MAX_LENGTH:
        return None
    tree = _parsed(expression)
    if tree is None:
        return Fault((), "not a valid CEL expression", "correct its syntax: brackets, quotes and operators")
    for name in sorted(_free(tree) - names - _TYPES - _LIBRARIES):
        return unknown_name(f"unknown name `{name}` in the expression", name, names, "use one of the variables")
    if types is not None and (found := type_of(tree)) and found not in types:
        expected = " or ".join(sorted(types))
        hint = f"write an expression of the type {expected}, such as a comparison" if "bool" in types else "use a text"
        return Fault((), f"the type of the expression is {found}; expected {expected}", hint)
    return None


@lru_cache(maxsize=1024)
def _parsed(expression: str) -> Tree[Any] | None:
    from celpy import Environment  # noqa: PLC0415 - slow to import, and few objects have expressions
    from celpy.celparser import CELParseError  # noqa: PLC0415 - as above
    from lark.exceptions import LarkError  # noqa: PLC0415 - as above

    try:
        tree: Tree[Any] = Environment().compile(expression)
    except (CELParseError, LarkError):
        return None
    except RecursionError:
        raise ValueError("expression is nested too deeply") from None
    return tree


def _free(tree: Tree[Any]) -> set[str]:
    """Names that the expression reads and does not bind in a macro."""
    free: set[str] = set()
    bound: set[str] = set()
    for node in tree.iter_subtrees():
        if node.data in {"ident", "ident_arg"} and node.children:
            name = str(node.children[0])
            if node.data == "ident":
                free.add(name)
        elif node.data == "member_dot_arg" and str(node.children[1]) in _MACROS:
            bound |= _arguments(node)
    return free - bound


def _arguments(call: Tree[Any]) -> set[str]:
    """Arguments of a macro that are only a name: the variables that it binds."""
    arguments = call.children[2].children if len(call.children) > 2 else ()  # noqa: PLR2004 - after object and name
    names = set()
    for argument in arguments:
        leaf = argument
        while hasattr(leaf, "children") and len(leaf.children) == 1 and leaf.data != "ident":
            leaf = leaf.children[0]
        if getattr(leaf, "data", "") == "ident":
            names.add(str(leaf.children[0]))
    return names
