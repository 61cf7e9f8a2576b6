"""Modules of gen and their syntax trees."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from tests.support import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@cache
def modules() -> Mapping[str, Path]:
    found = {}
    for path in sorted((PROJECT / "gen").rglob("*.py")):
        parts = path.relative_to(PROJECT).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text("utf-8"))


@cache
def walk(root: ast.AST) -> tuple[ast.AST, ...]:
    """All nodes of a tree, which many tests look at. It takes as long to walk as to parse."""
    return tuple(ast.walk(root))


def strings(module: str) -> Iterator[str]:
    """String literals and docstrings."""
    for node in walk(tree(module)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
