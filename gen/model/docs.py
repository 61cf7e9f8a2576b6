"""Docstrings of model fields: their descriptions in schemas, scaffolds and docs.

Parsed from the source on demand, each module once; pydantic's own option would parse every class at each start.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel


@cache
def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Description by Python field name, for the fields of a model and its base classes."""
    docs: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        if not cls.__module__.startswith("pydantic.") and "__annotations__" in vars(cls):
            docs |= _own(cls)
    for name, field in model.model_fields.items():
        if field.description:
            docs[name] = " ".join(field.description.split())
    return docs


def _own(cls: type) -> dict[str, str]:
    body = _classes(cls.__module__).get(cls.__qualname__)  # none for a class that `create_model` made
    statements = body.body if body is not None else []
    return {
        statement.target.id: " ".join(text.value.value.split())
        for statement, text in pairwise(statements)
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """The classes in the source of a module by their qualified names; none without its source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, KeyError):
        return {}
    return dict(_named(tree, ""))


def _named(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield f"{prefix}{child.name}", child
            yield from _named(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef):
            yield from _named(child, f"{prefix}{child.name}.<locals>.")
