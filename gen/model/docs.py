"""Docstrings of model fields: their descriptions in schemas, scaffolds and docs.

Parsed from the source on demand; pydantic's own option would parse every class at each start.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    try:
        source = inspect.getsource(cls)
    except (OSError, TypeError):  # created by `create_model`
        return {}
    body = ast.parse(textwrap.dedent(source)).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101 - the source of a class
    return {
        statement.target.id: " ".join(text.value.value.split())
        for statement, text in zip(body.body, body.body[1:], strict=False)
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
